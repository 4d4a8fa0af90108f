"""Pages that open, get set up, crash and close, with a browser that answers late, incorrectly, or not at all."""

from __future__ import annotations

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, quiet, target_of
from trio.testing import MockClock

import cdpengine
from cdpengine._page.scripts.evaluation_sessions import ANSWER_TIMEOUT, PROOF_TIMEOUT
from cdpengine._page.tabs import EVALUATION_SESSION_TIMEOUT
from cdpengine.testing import SILENCE, Refusal, Request
from cdpengine.testing.peer import Answer


def methods(scripted: ScriptedBrowser, session_id: str | None) -> list[str]:
    return [request.method for request in scripted.received if request.session_id == session_id]


async def test_a_page_runs_only_after_its_evaluation_session_answered(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    evaluation_session = scripted.hold("Runtime.evaluate", nth=1)
    scripted.open("T1")
    await evaluation_session.wait()
    await quiet()
    sent = methods(scripted, "S-T1")
    assert {"Page.enable", "Page.setLifecycleEventsEnabled", "Target.setAutoAttach"} <= set(sent)
    assert "Runtime.runIfWaitingForDebugger" not in sent
    evaluation_session.release(NUMBER)
    page = await browser.wait_for_page()
    assert methods(scripted, "S-T1")[-1] == "Runtime.runIfWaitingForDebugger"
    assert await page.evaluate("1") == 1


async def test_a_new_page_navigates_only_after_it_is_known_to_run(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """Chrome crashes some new pages that navigate earlier (docs/cdp-facts.md)."""
    run = scripted.hold("Runtime.runIfWaitingForDebugger")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(browser.new_page, "http://a.example/")
        await run.wait()
        await quiet()
        assert "Page.navigate" not in methods(scripted, "S-T1")
        run.release()
    asked = [
        method for method in methods(scripted, "S-T1") if method in ("Runtime.evaluate", "Page.navigate")
    ]
    assert asked[0] == "Page.navigate", "the blank page is not asked whether it hangs"


@pytest.mark.parametrize("frame", [None, "F1"])
@pytest.mark.parametrize("when", ["held back", "running"])
async def test_the_opener_of_a_popup_that_closed_before_it_ran_resumes(
    browser: cdpengine.Browser,
    scripted: ScriptedBrowser,
    frame: str | None,
    when: str,
    autojump_clock: MockClock,
) -> None:
    await browser.new_page()
    session_id = "S-T1"
    if frame is not None:
        session_id = "S-F1"
        scripted.documents[frame] = 1
        scripted.page_event("Page.frameAttached", {"frameId": frame, "parentFrameId": "T1"})
        info = {"targetId": frame, "type": "iframe", "url": "https://a.example/"}
        attached = {"sessionId": session_id, "targetInfo": info, "waitingForDebugger": False}
        scripted.page_event("Target.attachedToTarget", attached)
    await trio.sleep(EVALUATION_SESSION_TIMEOUT + 1)
    before = methods(scripted, session_id).count("Runtime.runIfWaitingForDebugger")
    hold = scripted.hold("Runtime.evaluate", nth=scripted.count("Runtime.evaluate") + 1)
    scripted.open("P1", opener="T1", opener_frame=frame or "T1")
    await hold.wait()
    if when == "running":
        hold.release(NUMBER)
        await quiet()
    scripted.vanish("P1")
    await quiet()
    let_go_on = methods(scripted, session_id).count("Runtime.runIfWaitingForDebugger") - before
    assert let_go_on == (1 if when == "held back" else 0)


@pytest.mark.parametrize(
    ("silent", "grace"),
    [
        # The first connection then has the page.
        (["Target.attachToTarget"], ANSWER_TIMEOUT),
        # The browser is busy, so the connections remain unchecked.
        (["Target.attachToTarget", "Browser.getVersion"], EVALUATION_SESSION_TIMEOUT),
        # The session is attached and can stop scripts, so the engine uses it.
        (["Runtime.evaluate"], PROOF_TIMEOUT),
    ],
)
async def test_a_page_is_usable_if_its_evaluation_session_never_answers(
    browser: cdpengine.Browser,
    scripted: ScriptedBrowser,
    silent: list[str],
    grace: float,
    autojump_clock: MockClock,
) -> None:
    for method in silent:
        scripted.on(method, SILENCE, nth=scripted.count(method) + 1)
    started = trio.current_time()
    page = await browser.new_page()
    assert trio.current_time() - started == grace
    assert (await page.goto("https://a.example/", timeout=10)).url == "https://a.example/"
    assert await page.evaluate("1", timeout=1) == 1
    asked = [request.session_id for request in scripted.received if request.method == "Runtime.evaluate"]
    assert asked[-1] == "S-T1", "it is evaluated on the session that reports the page's events"


@pytest.mark.parametrize(
    "answer", [Refusal(-32000, "Not allowed"), {"sessionId": 5}, {}, {"sessionId": "unknown"}]
)
async def test_a_missing_evaluation_session_is_named_where_it_is_needed(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, answer: Answer, autojump_clock: MockClock
) -> None:
    """The contexts of a frame within the page need the evaluation session.

    Everything else works without it.
    """
    scripted.on("Target.attachToTarget", answer)
    started = trio.current_time()
    page = await browser.new_page()
    assert await page.evaluate("1") == 1
    scripted.page_event("Page.frameAttached", {"frameId": "F1", "parentFrameId": "T1"})
    await quiet()
    for _ in range(2):
        with pytest.raises(cdpengine.errors.SessionGoneError, match="evaluate"):
            await page.evaluate("1", frame=page.frames[1])
    assert await page.snapshot() is not None
    assert trio.current_time() == started


async def test_a_lost_main_connection_ends_pages_and_waiting_tasks(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.on("Page.navigate", SILENCE)
    scripted.on("Target.createTarget", SILENCE)
    scripted.on("Target.createBrowserContext", SILENCE)
    ended = 0

    async def ends(operation: object) -> None:
        nonlocal ended
        with pytest.raises(cdpengine.errors.ConnectionLostError, match="memory 1"):
            await operation  # type: ignore[misc]
        ended += 1

    async def context() -> None:
        async with browser.new_context():
            raise AssertionError("no such page")

    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        for operation in (
            page.goto("https://a.example/"),
            browser.new_page(),
            browser.wait_for_page(url="*never*"),
            context(),
        ):
            nursery.start_soon(ends, operation)
        await quiet()
        scripted.links[0].drop()
    assert ended == 4
    assert trio.current_time() == started
    assert browser.pages == []
    with pytest.raises(cdpengine.errors.ConnectionLostError):
        await page.close()


SET_UP = (
    "Inspector.enable",
    "Page.enable",
    "Page.setLifecycleEventsEnabled",
    "Page.getFrameTree",
    "Emulation.setFocusEmulationEnabled",
    "Target.setAutoAttach",
    "Runtime.runIfWaitingForDebugger",
)


@pytest.mark.parametrize("method", SET_UP)
@pytest.mark.parametrize("answer", [Refusal(-32601, "wasn't found"), {"frameTree": 3}])
async def test_an_older_or_odd_chrome_gives_a_page_with_less(
    scripted: ScriptedBrowser, method: str, answer: Answer, autojump_clock: MockClock
) -> None:
    async with scripted.engine() as browser:
        scripted.on(method, answer)
        page = await browser.new_page()
        assert await page.evaluate("1") == 1
        assert (await page.goto("https://a.example/")).url == "https://a.example/"
        await page.close()


async def test_set_up_answered_in_the_wrong_order(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    held = [scripted.hold(method) for method in SET_UP]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(browser.new_page)
        await held[-1].wait()
        await quiet()
        frames = next(hold for hold in held if hold.requests[0].method == "Page.getFrameTree")
        stale = {"frameTree": {"frame": scripted.frame("T1") | {"url": "https://old.example/"}}}
        scripted.commit("T1", "https://new.example/")  # happened after the reply was made, reported before it
        await quiet()
        for hold in reversed(held):
            hold.release(stale if hold is frames else None)
    (page,) = browser.pages
    assert page.url == "https://new.example/"
    assert page.frames[0].loader_id == "T1.2"


@pytest.mark.parametrize("method", [*SET_UP, "Target.attachToTarget", "Target.createTarget"])
async def test_a_page_that_closes_during_set_up(
    scripted: ScriptedBrowser, method: str, autojump_clock: MockClock
) -> None:
    async with scripted.engine() as browser:
        if method == "Target.createTarget":

            def answer(request: Request) -> Answer:
                scripted.open("T9")
                scripted.vanish("T9")
                return {"targetId": "T9"}

        else:

            def answer(request: Request) -> Answer:
                scripted.vanish("T1")
                return (
                    Refusal(-32000, "No target with given id found")
                    if request.session_id is None
                    else SILENCE
                )

        scripted.on(method, answer)
        if method == "Target.setAutoAttach":
            scripted.on(method, answer, nth=2)
            scripted.on(method, None)
        started = trio.current_time()
        with pytest.raises(cdpengine.errors.SessionGoneError):
            await browser.new_page()
        assert trio.current_time() == started
        assert browser.pages == []
        scripted.on(method, scripted.create if method == "Target.createTarget" else None)
        if method != "Target.attachToTarget":
            scripted.on("Page.getFrameTree", lambda r: {"frameTree": {"frame": scripted.frame(target_of(r))}})
            assert not (await browser.new_page()).closed


async def test_a_popup_that_closes_immediately_does_not_satisfy_the_wait(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    opener = await browser.new_page()
    found: list[cdpengine.Page] = []

    async def wait() -> None:
        found.append(await browser.wait_for_page(opener=opener))

    scripted.on("Runtime.runIfWaitingForDebugger", SILENCE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        scripted.open("T2", opener="T1")
        await quiet()
        scripted.vanish("T2")
        await quiet()
        assert not found
        scripted.on("Runtime.runIfWaitingForDebugger", None)
        scripted.open("T3", opener="T1")
    assert [page.target_id for page in found] == ["T3"]


async def test_a_popup_is_found_by_its_later_url(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(browser.wait_for_page)
        scripted.open("T2")
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            assert (await browser.wait_for_page(url="*login*")).target_id == "T2"

        nursery.start_soon(wait)
        await quiet()
        scripted.commit("T2", "https://a.example/login")
    assert trio.current_time() == started


async def test_pages_that_open_concurrently_do_not_mix(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    held = scripted.hold("Target.createTarget")
    got: dict[str, str] = {}

    async def open_page(url: str) -> None:
        page = await browser.new_page(url)
        got[url] = page.target_id

    urls = [f"https://{n}.example/" for n in range(5)]
    async with trio.open_nursery() as nursery:
        for url in urls:
            nursery.start_soon(open_page, url)
        await held.wait(5)
        for n, request in enumerate(reversed(held.requests)):
            scripted.open(f"P{n}")
            request.reply({"targetId": f"P{n}"})
    assert sorted(got.values()) == [f"P{n}" for n in range(5)]
    for url, target_id in got.items():
        page = browser.page(target_id)
        assert page is not None
        assert page.url == url


async def test_a_page_that_was_dead_before_the_engine_connected(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def dead(request: Request) -> Answer:
        if request.session_id is not None and request.session_id.endswith("T1"):
            scripted.tell(
                "Inspector.targetCrashed",
                {},
                request.session_id,
                evaluation_session=request.session_id[0] == "L",
            )
        return None

    scripted.on("Inspector.enable", dead)
    for method in ("Page.enable", "Page.getFrameTree", "Runtime.evaluate"):
        scripted.on(method, SILENCE, nth=1)
    scripted.open("T1", waiting=False)
    await quiet()
    (page,) = browser.pages
    with pytest.raises(cdpengine.errors.TargetCrashedError, match="Reload"):
        await page.snapshot()

    def revive(request: Request) -> Answer:
        scripted.page_event("Inspector.targetReloadedAfterCrash", {})
        answer = scripted.navigate(request)
        scripted.tell("Inspector.targetReloadedAfterCrash", {}, "L-T1", evaluation_session=True)
        return answer

    scripted.on("Inspector.enable", None)
    scripted.on("Page.navigate", revive)
    assert (await page.goto("https://a.example/", timeout=5)).url == "https://a.example/"
    await page.snapshot(timeout=5)
    assert await page.evaluate("1", timeout=5) == 1


async def test_an_evaluation_session_that_reports_the_reload_later(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.page_event("Inspector.targetCrashed", {})
    scripted.tell("Inspector.targetCrashed", {}, "L-T1", evaluation_session=True)
    await quiet()
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await page.evaluate("1")
    scripted.page_event("Inspector.targetReloadedAfterCrash", {})
    scripted.commit("T1", "https://a.example/")
    await quiet()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.evaluate, "1")
        await quiet()
        scripted.tell("Inspector.targetReloadedAfterCrash", {}, "L-T1", evaluation_session=True)
    assert not page.session.crashed


async def test_iframes_that_detach_during_set_up(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.documents["F1"] = 1
    info = {"targetId": "F1", "type": "iframe", "url": ""}
    for step in SET_UP[1:]:

        def detach(request: Request) -> Answer:
            if request.session_id == "S-F1":
                scripted.tell("Target.detachedFromTarget", {"sessionId": "S-F1"}, "S-T1")
                return SILENCE
            return None

        scripted.on(step, detach)
        attached = {"sessionId": "S-F1", "targetInfo": info, "waitingForDebugger": True}
        scripted.tell("Target.attachedToTarget", attached, "S-T1")
        await quiet()
        assert len(page.internals.target.frame_sessions) == 1
        assert [frame.id for frame in page.frames] == ["T1"]
        if step != "Page.getFrameTree":
            scripted.on(step, None)
        else:
            scripted.on(
                step, lambda _request: {"frameTree": {"frame": scripted.frame("F1") | {"parentId": "T1"}}}
            )
    scripted.tell("Target.attachedToTarget", attached, "S-T1")
    await quiet()
    assert [frame.id for frame in page.frames] == ["T1", "F1"]
    assert page.frames[1].session_id == "S-F1"


@pytest.mark.parametrize("kind", ["worker", "page", "something_new"])
async def test_paused_targets_are_released(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, kind: str, autojump_clock: MockClock
) -> None:
    await browser.new_page()
    info = {"targetId": "W1", "type": kind}
    for parent in (None, "S-T1"):
        attached = {"sessionId": f"W-{parent}", "targetInfo": info, "waitingForDebugger": True}
        scripted.tell("Target.attachedToTarget", attached, parent)
        scripted.documents["W1"] = scripted.documents["None"] = scripted.documents["S-T1"] = 1
        await quiet()
        assert "Runtime.runIfWaitingForDebugger" in methods(scripted, f"W-{parent}")
