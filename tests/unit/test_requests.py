"""Pending requests, from events in any order, on a clock of the test."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._page.frames import FrameTree
from cdpengine._page.navigation.settling import RequestsUnderWay
from cdpengine._protocol.domains.page import LifecycleEvent
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event


class Net:
    def __init__(self) -> None:
        self.time = 0.0
        self.types: dict[str, str] = {}
        self.requests = RequestsUnderWay(lambda: self.time, self.types.get)
        self.frames = FrameTree("F", cast("Session", None))
        self.frames.main.loader_id = "L1"

    def send(self, name: str, request_id: str, session: str = "S", **more: object) -> bool:
        params = {"requestId": request_id, "frameId": "F", "loaderId": "L1", **more}
        if name == "requestWillBeSent":
            params["request"] = {"url": f"https://a.example/{request_id}"}
        return self.requests.apply(Event(f"Network.{name}", session, json.dumps(params).encode()))

    def tell_target(self, name: str, **params: object) -> bool:
        return self.requests.apply(Event(f"Target.{name}", "S", json.dumps(params).encode()))

    def urls(self) -> list[str]:
        return [request.url.rpartition("/")[2] for request in self.requests.under_way(self.frames)]


def test_idle_counts_from_the_last_end() -> None:
    net = Net()
    net.time = 1
    assert net.requests.idle_for(net.frames) == 1
    net.send("requestWillBeSent", "a", type="Fetch")
    net.time = 5
    assert net.urls() == ["a"]
    assert net.requests.idle_for(net.frames) == 0
    net.send("loadingFinished", "a")
    net.time = 7
    assert net.urls() == []
    assert net.requests.idle_for(net.frames) == 2


def test_the_same_id_in_two_processes_is_two_requests() -> None:
    net = Net()
    net.send("requestWillBeSent", "a", type="Fetch")
    net.send("requestWillBeSent", "a", "S2", type="Fetch")
    net.send("loadingFailed", "a")
    assert net.urls() == ["a"]
    net.requests.forget_session("S2")
    assert net.urls() == []


def test_endless_requests_do_not_count() -> None:
    net = Net()
    for kind in ("WebSocket", "EventSource", "Media", "Ping"):
        assert not net.send("requestWillBeSent", kind, type=kind)
        assert not net.send("responseReceived", kind, type=kind)
    assert net.urls() == []


def test_an_earlier_request_is_known_from_its_response() -> None:
    net = Net()
    assert net.send("responseReceived", "old", type="Fetch")
    assert net.urls() == [""]
    net.send("loadingFinished", "old")
    assert net.urls() == []


def test_an_end_that_comes_first_is_the_end() -> None:
    net = Net()
    net.send("loadingFinished", "a")
    assert not net.send("responseReceived", "a", type="Fetch")
    assert net.urls() == []


def test_requests_go_with_their_document() -> None:
    net = Net()
    net.send("requestWillBeSent", "a", type="Fetch")
    net.frames.apply(LifecycleEvent("F", "L1", "load"), net.frames.main.session)
    assert net.urls() == ["a"]
    net.frames.main.loader_id = "L2"
    assert net.urls() == []
    net.send("requestWillBeSent", "next", type="Document", loaderId="L3")
    assert net.urls() == ["next"], "the document that is to come is waited for"
    net.send("requestWillBeSent", "lost", type="Fetch", frameId="G")
    assert net.urls() == ["next"]


def test_the_request_of_a_document_is_over_once_it_has_loaded() -> None:
    net = Net()
    net.send("requestWillBeSent", "L1", type="Document")
    net.send("responseReceived", "L2", "S2", type="Document", loaderId="L2")
    assert net.urls() == ["L1", ""]
    for loader in ("L1", "L2"):
        net.frames.apply(LifecycleEvent("F", loader, "load"), net.frames.main.session)
    assert net.urls() == [], "Chrome reports the end in another session, or not at all"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("attachedToTarget", {"sessionId": "SW", "targetInfo": {"targetId": "W"}}),
        ("targetDestroyed", {"targetId": "W"}),
    ],
)
def test_the_script_of_a_dedicated_worker_counts_until_the_worker_exists_or_ended(
    name: str, params: dict[str, object]
) -> None:
    net = Net()
    net.types["W"] = "worker"
    assert net.send("requestWillBeSent", "W", type="Script", loaderId="")
    assert not net.tell_target(name, sessionId="SO", targetId="other", targetInfo={"targetId": "other"})
    assert net.urls() == ["W"]
    net.time = 2
    assert net.tell_target(name, **params)
    assert net.urls() == []
    assert net.requests.since == 2
    assert not net.send("responseReceived", "W", type="Script"), "an end that comes first is the end"


@pytest.mark.parametrize("kind", ["shared_worker", "service_worker"])
def test_scripts_without_a_reported_end_do_not_count(kind: str) -> None:
    net = Net()
    net.types["W"] = kind
    assert not net.send("requestWillBeSent", "W", type="Script", loaderId="")
    assert net.urls() == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("srfx")), max_size=30))
def test_any_order(steps: list[tuple[str, str]]) -> None:
    net = Net()
    names = {
        "s": "requestWillBeSent",
        "r": "responseReceived",
        "f": "loadingFinished",
        "x": "loadingFailed",
    }
    for number, kind in steps:
        net.time += 1
        net.send(names[kind], number, type="Fetch")
        assert net.requests.since <= net.time
    for number in "abc":
        net.send("loadingFinished", number)
    assert net.urls() == []
