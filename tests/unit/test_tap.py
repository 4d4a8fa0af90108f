"""The tap: watchers see the traffic, and cannot break it."""

from __future__ import annotations

import logging

import pytest

from cdpengine._protocol.tap import Span, Tap, Traffic, current_span, span


def traffic(text: str) -> Traffic:
    return Traffic(time=1.0, direction="sent", connection="test", message=text)


def test_nobody_watches_at_first_and_nobody_is_left() -> None:
    tap = Tap()
    assert not tap.watchers
    with tap.watch(lambda _: None):
        assert len(tap.watchers) == 1
    assert not tap.watchers


def test_watchers_see_messages_in_order_while_they_watch() -> None:
    tap = Tap()
    outer: list[Traffic] = []
    inner: list[Traffic] = []
    with tap.watch(outer.append):
        tap.pass_on(traffic("1"))
        with tap.watch(inner.append):
            tap.pass_on(traffic("2"))
        tap.pass_on(traffic("3"))
    tap.pass_on(traffic("4"))
    assert [seen.message for seen in outer] == ["1", "2", "3"]
    assert [seen.message for seen in inner] == ["2"]


def test_a_watcher_given_twice_goes_on_after_the_inner_block() -> None:
    tap = Tap()
    seen: list[Traffic] = []
    watcher = seen.append
    with tap.watch(watcher):
        with tap.watch(watcher):
            tap.pass_on(traffic("1"))
        tap.pass_on(traffic("2"))
    assert [one.message for one in seen] == ["1", "1", "2"]


def test_a_watcher_that_raises_is_taken_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    tap = Tap()
    seen: list[Traffic] = []
    calls = 0

    def fails(_traffic: Traffic) -> None:
        nonlocal calls
        calls += 1
        raise ValueError("watcher")

    with caplog.at_level(logging.ERROR, logger="cdpengine.wire"), tap.watch(fails), tap.watch(seen.append):
        tap.pass_on(traffic("1"))
        tap.pass_on(traffic("2"))
    assert calls == 1
    assert len(seen) == 2
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_the_watcher_leaves_when_the_body_raises() -> None:
    tap = Tap()
    with pytest.raises(KeyError), tap.watch(lambda _: None):
        raise KeyError
    assert not tap.watchers


def test_two_connections_to_one_endpoint_have_two_names() -> None:
    tap = Tap()
    names = [tap.name_connection(endpoint) for endpoint in ("ws://a", "ws://b", "ws://a", "ws://a")]
    assert names == ["ws://a", "ws://b", "ws://a #2", "ws://a #3"]


class EndsSeen:
    def __init__(self, *, failing: bool = False) -> None:
        self.failing = failing
        self.ended: list[Span] = []
        self.times: list[float] = []
        self.failed: list[str] = []

    def __call__(self, traffic: Traffic) -> None: ...

    def span_ended(self, ended: Span, time: float, failed: str) -> None:
        if self.failing:
            raise ValueError("watcher")
        self.ended.append(ended)
        self.failed.append(failed)
        self.times.append(time)


async def test_the_end_of_an_action_is_told_to_those_who_saw_a_command_of_it() -> None:
    tap, idle = Tap(), Tap()
    seen, unseen = EndsSeen(), EndsSeen()
    with tap.watch(seen), tap.watch(lambda _: None), idle.watch(unseen), span("page.click e7"), span("inner"):
        cause = current_span()
        assert cause is not None
        tap.pass_on(Traffic(1.0, "sent", "test", "1", cause))
        tap.pass_on(Traffic(2.0, "sent", "test", "2", cause))
        assert seen.ended == []
    assert (seen.ended, unseen.ended) == ([cause], [])
    seen.ended.clear()
    seen.times.clear()
    with span("page.click e7"), tap.watch(seen):
        tap.pass_on(Traffic(1.0, "sent", "test", "1", current_span()))
    assert seen.ended == []  # it watched no more
    with tap.watch(seen), idle.watch(unseen):
        with pytest.raises(KeyError), span("page.click e7"):
            cause = current_span()
            tap.pass_on(Traffic(1.0, "sent", "test", "1", cause))
            raise KeyError
        with span("page.nothing sent"):
            pass
    assert [one.name for one in seen.ended] == ["page.click e7"]
    assert seen.ended == [cause]
    assert seen.ended[0].began <= seen.times[0]
    assert unseen.ended == []


async def test_a_watcher_that_raises_at_the_end_of_an_action_is_taken_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tap = Tap()
    seen = EndsSeen()
    with (
        caplog.at_level(logging.ERROR, logger="cdpengine.wire"),
        tap.watch(EndsSeen(failing=True)),
        tap.watch(seen),
    ):
        with span("page.click e7"):
            tap.pass_on(Traffic(1.0, "sent", "test", "1", current_span()))
        assert tap.watchers == (seen,)
    assert len(seen.ended) == 1
    assert [record.levelname for record in caplog.records] == ["ERROR"]


class BodyStore:
    """A watcher that keeps secrets, and fails at the one it is told to fail at."""

    def __init__(self, fails_at: str = "") -> None:
        self.secrets: list[str] = []
        self.fails_at = fails_at

    def __call__(self, _traffic: Traffic) -> None:
        pass

    def add_secret(self, text: str) -> None:
        if text == self.fails_at:
            raise ValueError("watcher")
        self.secrets.append(text)


def test_secrets_reach_those_who_watch_and_those_who_come_later() -> None:
    tap = Tap()
    early, late = BodyStore(), BodyStore()
    with tap.watch(early), tap.watch(lambda _: None):
        tap.add_secret("hunter2")
        tap.add_secret("")
        tap.add_secret("correct horse")
        with tap.watch(late):
            tap.add_secret("hunter2")
    assert early.secrets == ["hunter2", "correct horse", "hunter2"]
    assert late.secrets == ["hunter2", "correct horse", "hunter2"]
    assert tap.secrets == ("correct horse", "hunter2")


def test_a_tap_keeps_only_so_many_secrets_and_none_that_is_huge() -> None:
    tap = Tap()
    tap.add_secret("x" * 5_000)
    for number in range(300):
        tap.add_secret(f"secret {number}")
    assert tap.secrets == tuple(f"secret {number}" for number in range(44, 300))


def test_a_watcher_that_cannot_take_a_secret_is_taken_out(caplog: pytest.LogCaptureFixture) -> None:
    tap = Tap()
    tap.add_secret("hunter2")
    with caplog.at_level(logging.ERROR, logger="cdpengine.wire"), tap.watch(BodyStore(fails_at="hunter2")):
        assert not tap.watchers
    with tap.watch(BodyStore(fails_at="swordfish")):
        tap.add_secret("swordfish")
        assert not tap.watchers
    assert "swordfish" not in caplog.text
    assert "hunter2" not in caplog.text
