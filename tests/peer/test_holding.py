"""Settings for the length of a block, against a browser that answers late, never, or is gone: bounded and
always undone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine import Route
from cdpengine.testing import SILENCE, Refusal, Request
from cdpengine.testing.peer import Answer

ADD = "Page.addScriptToEvaluateOnNewDocument"
REMOVE = "Page.removeScriptToEvaluateOnNewDocument"


@pytest.fixture
async def scripted(guard: None) -> AsyncIterator[ScriptedBrowser]:
    async with ScriptedBrowser() as peer:
        peer.on(ADD, result={"identifier": "7"})
        yield peer


async def passing(route: Route) -> None:
    await route.continue_()


async def none(*_args: object) -> None:
    return None


SCOPES: dict[str, tuple[Callable[[cdpengine.Page], AbstractAsyncContextManager[Any]], str, str]] = {
    "route": (lambda page: page.route("*", passing), "Fetch.enable", "Fetch.disable"),
    "credentials": (lambda page: page.network.http_credentials("a", "b"), "Fetch.enable", "Fetch.disable"),
    "headers": (
        lambda page: page.network.extra_headers({"A": "b"}),
        "Network.setExtraHTTPHeaders",
        "Network.disable",
    ),
    "service worker": (
        lambda page: page.network.bypass_service_workers(),
        "Network.setBypassServiceWorker",
        "Network.disable",
    ),
    "conditions": (
        lambda page: page.network.offline(),
        "Network.emulateNetworkConditions",
        "Network.disable",
    ),
    "processor": (
        lambda page: page.network.throttle_cpu(2),
        "Emulation.setCPUThrottlingRate",
        "Emulation.setCPUThrottlingRate",
    ),
    "init script": (lambda page: page.scripts.add_init_script("1"), ADD, REMOVE),
    "function": (
        lambda page: page.scripts.expose("tell", none),
        "Runtime.addBinding",
        "Runtime.removeBinding",
    ),
}


@pytest.mark.parametrize("name", SCOPES)
async def test_the_end_is_bounded_when_nothing_is_answered(
    page: cdpengine.Page, scripted: ScriptedBrowser, name: str, autojump_clock: MockClock
) -> None:
    make, begins, ends = SCOPES[name]
    async with make(page):
        assert scripted.count(begins) == 1
        for method in (ends, begins, "Runtime.evaluate", "Network.setExtraHTTPHeaders"):
            scripted.on(method, SILENCE)
        before = scripted.count(ends)
        started = trio.current_time()
    assert trio.current_time() - started <= 0.6
    await quiet()
    assert scripted.count(ends) == before + 1, "the end was sent anyway"


@pytest.mark.parametrize("name", SCOPES)
async def test_a_start_without_an_answer_is_undone(
    page: cdpengine.Page, scripted: ScriptedBrowser, name: str, autojump_clock: MockClock
) -> None:
    make, begins, ends = SCOPES[name]
    hold = scripted.hold(begins, nth=scripted.count(begins) + 1)
    before = scripted.count(ends) + (begins == ends)
    with trio.move_on_after(3) as scope:
        async with make(page):
            raise AssertionError("it was not answered")
    assert scope.cancelled_caught
    hold.release({"identifier": "7"})
    await quiet()
    assert scripted.count(ends) == before + 1


@pytest.mark.parametrize("name", SCOPES)
async def test_a_refusal_is_raised_and_undone(
    page: cdpengine.Page, scripted: ScriptedBrowser, name: str
) -> None:
    make, begins, ends = SCOPES[name]
    scripted.on(begins, Refusal(-32000, "Not supported"), nth=scripted.count(begins) + 1)
    before = scripted.count(ends) + (begins == ends)
    with pytest.raises(cdpengine.errors.RemoteError, match="Not supported"):
        async with make(page):
            raise AssertionError("it was refused")
    await quiet()
    assert scripted.count(ends) - before == (0 if name == "init script" else 1)


@pytest.mark.parametrize("name", SCOPES)
async def test_the_connection_is_lost_in_the_block(
    browser: cdpengine.Browser, page: cdpengine.Page, scripted: ScriptedBrowser, name: str
) -> None:
    async with SCOPES[name][0](page):
        scripted.links[0].drop()
        with pytest.raises(cdpengine.errors.ConnectionLostError):
            await page.session.wait_for("Never.comes")
    with pytest.raises(cdpengine.errors.ConnectionLostError):
        async with SCOPES[name][0](page):
            raise AssertionError("there is no connection")


def paused(scripted: ScriptedBrowser, request_id: str, **more: object) -> None:
    request = {"url": "http://a.example/", "method": "GET", "headers": {}}
    scripted.page_event("Fetch.requestPaused", {"requestId": request_id, "request": request, **more})


def said_of(scripted: ScriptedBrowser, request_id: str) -> list[tuple[str, str]]:
    return [
        (request.method, request.params.get("errorReason", ""))
        for request in scripted.received
        if request.params.get("requestId") == request_id
    ]


async def test_each_paused_request_is_answered_once_by_any_handler(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async def handler(route: Route) -> None:
        match route.request.header("act"):
            case "cancelled answer":
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await route.continue_()
            case "hang in fetch":
                await route.fetch()
            case "raise late":
                await route.continue_()
                raise ValueError
            case "gone":
                await route.continue_()

    def ask(request_id: str, act: str) -> None:
        request = {"url": "http://a.example/", "method": "GET", "headers": {"act": act}}
        scripted.page_event("Fetch.requestPaused", {"requestId": request_id, "request": request})

    scripted.on(
        "Fetch.continueRequest",
        lambda request: (
            Refusal(-32602, "Invalid InterceptionId.") if request.params["requestId"] == "4" else None
        ),
    )
    async with page.route("*", handler, limit=5) as route:
        for number, act in enumerate(
            ("cancelled answer", "hang in fetch", "raise late", "gone", "nothing"), 1
        ):
            ask(str(number), act)
        await trio.sleep(6)
        assert said_of(scripted, "1") == [("Fetch.continueRequest", "")], "a cancelled answer is an answer"
        # While its server is slow, the fetch polls whether the page has cancelled the request.
        asked = ("Fetch.getResponseBody", "")
        assert [each for each in said_of(scripted, "2") if each != asked] == [("Fetch.continueRequest", "")]
        paused(scripted, "2", responseStatusCode=200)
        await quiet()
        assert said_of(scripted, "2")[-1] == ("Fetch.failRequest", "Failed"), "given up meanwhile"
        assert said_of(scripted, "3") == [("Fetch.continueRequest", "")]
        assert said_of(scripted, "4") == [("Fetch.continueRequest", "")], "a cancelled request is no error"
        assert said_of(scripted, "5") == [("Fetch.failRequest", "Failed")]
        paused(scripted, "6", responseErrorReason="TimedOut")
        await quiet()
        assert said_of(scripted, "6") == [("Fetch.continueRequest", "")], "an unexpected response"
        reasons = [failure.reason for failure in route.failures]
        assert sorted(reasons) == [
            "it ended without an answer",
            "it gave no answer within 5 s",
            "it raised ValueError: ",
        ]


async def test_malformed_events_are_let_through(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    async with page.route("*", passing):
        scripted.page_event("Fetch.requestPaused", {"requestId": "9", "request": "odd"})
        await quiet()
        assert said_of(scripted, "9") == [("Fetch.continueRequest", "")]


async def test_a_fetch_whose_route_ends_falls_back_to_the_older_route(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    async def older(route: Route) -> None:
        await route.fulfill(body="older")

    async def fetches(route: Route) -> None:
        await route.fetch()

    async with page.route("*", older, stage="response"):
        async with page.route("*", fetches):
            paused(scripted, "1")
            await quiet()
        paused(scripted, "1", responseStatusCode=200)
        await quiet()
        answers = [request for request in scripted.received if request.params.get("requestId") == "1"]
        assert [request.method for request in answers] == ["Fetch.continueRequest", "Fetch.fulfillRequest"]
        assert base64.b64decode(answers[1].params["body"]) == b"older"


async def test_a_stuck_page_does_not_delay_others(
    browser: cdpengine.Browser, page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    for target_id in ("T8", "T9"):
        scripted.open(target_id, opener="T1")
    await quiet()
    scripted.on(ADD, lambda request: SILENCE if request.session_id == "S-T8" else {"identifier": "7"})
    started = trio.current_time()
    async with page.scripts.add_init_script("1"):
        assert 1.9 <= trio.current_time() - started <= 2.1
        sessions = [request.session_id for request in scripted.received if request.method == ADD]
        assert sessions == ["S-T1", "S-T8", "S-T9"]
    removed = [request.session_id for request in scripted.received if request.method == REMOVE]
    assert removed == ["S-T1", "S-T9"]


async def test_a_new_page_is_set_up_before_it_runs(
    browser: cdpengine.Browser, page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    async with (
        page.route("*", passing),
        page.network.extra_headers({"A": "b"}),
        page.scripts.add_init_script("1"),
    ):
        scripted.open("T9", opener="T1")
        await (await browser.wait_for_page(where=lambda each: each.target_id == "T9")).title()
        methods = [request.method for request in scripted.received if request.session_id == "S-T9"]
        run = methods.index("Runtime.runIfWaitingForDebugger")
        for method in ("Fetch.enable", "Network.setExtraHTTPHeaders", ADD):
            assert methods.count(method) == 1
            assert methods.index(method) < run
    await quiet()
    methods = [request.method for request in scripted.received if request.session_id == "S-T9"]
    assert {"Fetch.disable", "Network.disable", REMOVE} <= set(methods)


async def test_calls_from_foreign_pages_are_skipped(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    calls: list[object] = []

    async def tell(*args: object) -> None:
        calls.append(args)

    async with page.scripts.expose("tell", tell) as exposed:
        (request,) = [each for each in scripted.received if each.method == "Runtime.addBinding"]
        name = request.params["name"]
        for wrong in ("x", "-1", "1e9", "1); alert(1", "1[", '1["a"', "9" * 40, "\uff11"):
            event = {"name": name, "payload": wrong, "executionContextId": 3}
            scripted.page_event("Runtime.bindingCalled", event)
        scripted.page_event(
            "Runtime.bindingCalled", {"name": "other", "payload": "1[]", "executionContextId": 3}
        )
        good = {"name": name, "payload": "1" + json.dumps(["a", None]), "executionContextId": 3}
        scripted.page_event("Runtime.bindingCalled", good)
        await quiet()
        assert calls == [("a", None)]
        assert exposed.calls == 1


async def test_an_input_method_returns_after_calls_that_chrome_reports_later(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    """Chrome can confirm a click before it reports the call that the click caused."""
    called: list[object] = []

    async def note(given: object) -> None:
        called.append(given)

    async with page.scripts.expose("note", note):
        binding = next(each for each in scripted.received if each.method == "Runtime.addBinding")
        report = {"name": binding.params["name"], "payload": '1["clicked"]', "executionContextId": 1}

        def answer(request: Request) -> dict[str, object]:
            if request.params["expression"] == "0" and not called:
                scripted.page_event("Runtime.bindingCalled", report)
            return {"result": {"type": "number", "value": 0}}

        scripted.on("Runtime.evaluate", answer)
        await page.press("Enter")
        assert called == ["clicked"]


@pytest.mark.parametrize("dialog", [True, False])
async def test_the_wait_for_calls_ends_without_an_answer(
    page: cdpengine.Page, scripted: ScriptedBrowser, dialog: bool, autojump_clock: MockClock
) -> None:
    """A dialog ends it at once, and another page that does not answer within half a second."""

    def answer(request: Request) -> Answer:
        if dialog:
            opening = {"type": "alert", "message": "Hello", "url": "https://a.example/"}
            scripted.page_event("Page.javascriptDialogOpening", opening)
        return SILENCE

    async with page.scripts.expose("note", none):
        page.dialogs.set_policy(lambda _dialog: None)
        scripted.on("Runtime.evaluate", answer)
        started = trio.current_time()
        await page.press("Enter")
        assert trio.current_time() - started == pytest.approx(0 if dialog else 0.5, abs=0.1)
