"""Snapshots of pages whose frames are slow, silent, replaced, removed or crashed; on a clock that jumps."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, quiet
from snapshot_trees import Short, reply
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Refusal, Request, walk_cancellations
from cdpengine.testing.peer import Answer, Hold

OWNER = {"F1": 101, "F2": 102, "F3": 103}


class FramedBrowser(ScriptedBrowser):
    """Its pages have frames F1, F2, ... whose elements have the backend node ids 101, 102, ...

    `documents` counts the documents of frames and pages. `trees` are the contents of frames, `ways` the
    actions that replace an answer. A frame's session, once it has a separate one, is "S-F1".
    """

    def __init__(self) -> None:
        super().__init__()
        self.trees: dict[str, tuple[Short, ...]] = {}
        self.ways: dict[str, Any] = {}
        self.on("Accessibility.getFullAXTree", self.tree)
        self.on("DOM.getFrameOwner", lambda request: {"backendNodeId": OWNER[request.params["frameId"]]})
        self.on("Runtime.getIsolateId", lambda request: {"id": f"isolate of {request.session_id}"})
        self.on("Runtime.evaluate", self.evaluate)
        self.on("Runtime.callFunctionOn", self.walk)

    def evaluate(self, request: Request) -> Answer:
        if "contextId" in request.params:  # the probe
            return {"result": {"type": "object", "value": {"elements": 10}}}
        return NUMBER

    def walk(self, request: Request) -> Answer:
        """Return the walk's result for a document that has only a title."""
        said = {"type": "string", "value": json.dumps({"title": "by the DOM"})}
        if request.params.get("objectGroup") != "cdpengine.walk" or "objectId" in request.params:
            return {"result": said}
        frame_id = (request.session_id or "").partition("-")[2]
        value = {"backendNodeId": 1, "loaderId": self.frame(frame_id)["loaderId"]}
        made = [{"type": "node", "value": value}, *[said] * ("arguments" in request.params)]
        walk = {"type": "object", "objectId": f"walk of {request.session_id}"}
        return {"result": {**walk, "deepSerializedValue": {"type": "array", "value": made}}}

    def attach_frame(self, frame_id: str, *, parent: str = "T1", session: str = "S-T1") -> None:
        self.documents.setdefault(frame_id, 0)
        self.tell("Page.frameAttached", {"frameId": frame_id, "parentFrameId": parent}, session)
        self.commit_frame(frame_id, parent=parent, session=session)

    def commit_frame(self, frame_id: str, *, parent: str = "T1", session: str = "S-T1") -> None:
        self.documents[frame_id] += 1
        frame = self.frame(frame_id) | {"url": f"http://{frame_id.lower()}.test/", "parentId": parent}
        self.tell("Page.frameNavigated", {"frame": frame}, session)

    def give_process(self, frame_id: str, *, parent_session: str = "S-T1") -> None:
        info = {"targetId": frame_id, "type": "iframe", "url": f"http://{frame_id.lower()}.test/"}
        self.alive.add(frame_id)
        self.tell("Page.frameDetached", {"frameId": frame_id, "reason": "swap"}, parent_session)
        attached = {"sessionId": f"S-{frame_id}", "targetInfo": info, "waitingForDebugger": False}
        self.tell("Target.attachedToTarget", attached, parent_session)

    def tree(self, request: Request) -> Answer:
        assert request.session_id is not None
        frame_id = request.params.get("frameId") or request.session_id.partition("-")[2]
        way = self.ways.get(frame_id)
        answer = self.answer_of(frame_id)
        if way is None:
            return answer
        given: Answer = way(request) if callable(way) else way
        return given

    def answer_of(self, frame_id: str) -> dict[str, Any]:
        answer = reply(*self.trees.get(frame_id, (("button", f"In {frame_id}"),) * 3))
        for node in answer["nodes"]:
            if node["backendDOMNodeId"] < 100:  # node numbers are unique within a process
                node["backendDOMNodeId"] += 1000 * int(frame_id[1:]) if frame_id[0] == "F" else 0
        return answer


def owner(frame_id: str) -> Short:
    return ("Iframe", "", {"id": OWNER[frame_id]})


def asked(
    scripted: FramedBrowser, method: str = "Accessibility.getFullAXTree"
) -> list[tuple[str | None, Any]]:
    return [
        (request.session_id, request.params.get("frameId"))
        for request in scripted.received
        if request.method == method
    ]


@pytest.fixture
async def scripted(guard: None) -> AsyncIterator[FramedBrowser]:
    async with FramedBrowser() as peer:
        yield peer


@pytest.fixture
async def page(scripted: FramedBrowser) -> AsyncIterator[cdpengine.Page]:
    """A page with the frame F1 in its process and the frame F2 in another one."""
    async with scripted.engine() as browser:
        page = await browser.new_page()
        scripted.trees["T1"] = (("heading", "Outside"), owner("F1"), owner("F2"), *(("button", "Go"),) * 3)
        scripted.attach_frame("F1")
        scripted.attach_frame("F2")
        scripted.give_process("F2")
        await quiet()
        yield page


async def test_all_frames_are_read_concurrently_each_on_its_session(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    held = Hold()
    scripted.on("Accessibility.getFullAXTree", held)
    async with trio.open_nursery() as nursery:
        taken: list[cdpengine.Snapshot] = []

        async def take() -> None:
            taken.append(await page.snapshot())

        nursery.start_soon(take)
        requests = await held.wait(3)
        assert {(request.session_id, request.params.get("frameId")) for request in requests} == {
            ("S-T1", None),
            ("S-T1", "F1"),
            ("S-F2", None),
        }
        for request in reversed(requests):  # answers in reverse order
            request.answer(scripted.tree(request))
    [snapshot] = taken
    assert [line.partition(" [url")[0] for line in snapshot.text.splitlines()[:6]] == [
        '- heading "Outside" [ref=e1]',
        "- iframe [ref=e2]",
        '  - button "In F1" [ref=e3]',
        '  - button "In F1" [ref=e4] [nth=1]',
        '  - button "In F1" [ref=e5] [nth=2]',
        "- iframe [ref=e6] [nth=1]",
    ]
    assert snapshot.stats.frames == 3
    assert {ref.session_id for ref in snapshot.refs.values()} == {"S-T1", "S-F2"}
    assert {ref.loader_id for ref in snapshot.refs.values()} == {"T1.1", "F1.1", "F2.1"}
    assert {each.source for each in snapshot.stats.sources.values()} == {"ax"}


async def test_an_unresponsive_frame_is_marked_and_the_rest_is_read(
    page: cdpengine.Page, scripted: FramedBrowser, autojump_clock: MockClock
) -> None:
    scripted.ways["F2"] = SILENCE
    scripted.on(
        "Runtime.evaluate",
        lambda request: SILENCE if request.session_id == "S-F2" else scripted.evaluate(request),
    )
    started = trio.current_time()
    snapshot = await page.snapshot(timeout=20)
    assert 1.9 < trio.current_time() - started < 2.1
    assert "- iframe [ref=e6] [nth=1] [frame not responding]" in snapshot.text
    assert snapshot.text.count("In F1") == 3
    assert snapshot.text.count('button "Go"') == 3
    assert snapshot.stats.frames == 2
    assert snapshot.stats.sources["F2"].source == "none"
    assert "not responding" in snapshot.stats.sources["F2"].reason


async def test_a_slow_frame_gets_its_share_of_the_time(
    page: cdpengine.Page, scripted: FramedBrowser, autojump_clock: MockClock
) -> None:
    scripted.ways["F2"] = SILENCE
    # The same for the walk, which is tried after the accessibility tree.
    scripted.on(
        "Runtime.callFunctionOn",
        lambda request: SILENCE if request.session_id == "S-F2" else scripted.walk(request),
    )
    started = trio.current_time()
    snapshot = await page.snapshot(timeout=20)
    assert 8.5 < trio.current_time() - started < 9.1
    assert "frame not responding" in snapshot.text
    assert snapshot.text.count("In F1") == 3


async def test_a_hidden_frame_that_does_not_answer_delays_nothing(
    page: cdpengine.Page, scripted: FramedBrowser, autojump_clock: MockClock
) -> None:
    scripted.trees["T1"] = (owner("F1"), *(("button", "Go"),) * 3)
    scripted.ways["F2"] = SILENCE
    scripted.on(
        "Runtime.evaluate",
        lambda request: SILENCE if request.session_id == "S-F2" else scripted.evaluate(request),
    )
    started = trio.current_time()
    snapshot = await page.snapshot(timeout=20)
    assert trio.current_time() - started < 0.5
    assert snapshot.stats.frames == 2
    assert "F2" not in snapshot.stats.sources


async def test_a_frame_replaced_during_the_call_is_read_again(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    answers = 0

    def way(request: Request) -> Answer:
        nonlocal answers
        answers += 1
        if answers == 1:
            scripted.commit_frame("F1")
            return reply(("button", "Old"))
        return reply(*(("button", "New", {"id": 200 + number}) for number in range(3)))

    scripted.ways["F1"] = way
    snapshot = await page.snapshot()
    assert "Old" not in snapshot.text
    assert [ref.loader_id for ref in snapshot.find_all("button", "New")] == ["F1.2"] * 3


async def test_a_frame_that_moves_to_another_process_is_read_there(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    def way(request: Request) -> Answer:
        if request.session_id == "S-T1":
            scripted.give_process("F1")
            return Refusal(-32602, "Frame with the given frameId is not found.")
        return scripted.answer_of("F1")

    scripted.ways["F1"] = way
    snapshot = await page.snapshot()
    assert {ref.session_id for ref in snapshot.find_all("button", "In F1")} == {"S-F1"}


async def test_a_frame_removed_during_the_call_is_left_out(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    def way(request: Request) -> Answer:
        scripted.tell("Page.frameDetached", {"frameId": "F1", "reason": "remove"}, "S-T1")
        return Refusal(-32602, "Frame with the given frameId is not found.")

    scripted.ways["F1"] = way
    snapshot = await page.snapshot()
    assert "In F1" not in snapshot.text
    assert snapshot.text.count("In F2") == 3
    assert set(snapshot.stats.sources) == {"T1", "F2"}


async def test_a_crashed_frame_is_marked(page: cdpengine.Page, scripted: FramedBrowser) -> None:
    def way(request: Request) -> Answer:
        scripted.tell("Inspector.targetCrashed", {}, "S-F2")
        return SILENCE

    scripted.ways["F2"] = way
    snapshot = await page.snapshot()
    assert "[frame crashed]" in snapshot.text
    assert snapshot.text.count("In F1") == 3


async def test_a_frame_in_a_frame_in_another_process(page: cdpengine.Page, scripted: FramedBrowser) -> None:
    scripted.trees["F2"] = (owner("F3"), *(("link", "Between"),) * 3)
    scripted.attach_frame("F3", parent="F2", session="S-F2")
    await quiet()
    snapshot = await page.snapshot()
    assert '    - button "In F3"' in snapshot.text
    assert ("S-F2", "F3") in asked(scripted)
    assert ("S-F2", "F3") in asked(scripted, "DOM.getFrameOwner")
    assert ("S-T1", "F2") in asked(scripted, "DOM.getFrameOwner")


async def test_a_frame_added_while_its_parent_is_read_is_read_too(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    def way(request: Request) -> Answer:
        if "F3" not in scripted.documents:
            scripted.trees["T1"] = (*scripted.trees["T1"], owner("F3"))
            scripted.attach_frame("F3")
        return scripted.answer_of("T1")

    scripted.ways["T1"] = way
    assert (await page.snapshot()).text.count("In F3") == 3


async def test_a_page_replaced_during_the_call_is_read_again(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    answers = 0

    def way(request: Request) -> Answer:
        nonlocal answers
        answers += 1
        if answers == 1:
            scripted.commit("T1", "http://new.test/")
            return reply(("button", "Old"))
        return reply(("button", "New"), ("button", "New"), ("button", "New"))

    scripted.ways["T1"] = way
    snapshot = await page.snapshot()
    assert [ref.name for ref in snapshot.refs.values()] == ["New"] * 3
    assert {ref.loader_id for ref in snapshot.refs.values()} == {"T1.2"}


async def test_a_page_that_is_replaced_constantly_ends_at_the_deadline(
    page: cdpengine.Page, scripted: FramedBrowser, autojump_clock: MockClock
) -> None:
    async def way(request: Request) -> None:
        await trio.sleep(0.1)
        scripted.commit("T1", "http://new.test/")
        request.answer(reply(("button", "Old")))

    def begin(request: Request) -> Answer:
        assert scripted._nursery is not None
        scripted._nursery.start_soon(way, request)
        return SILENCE

    scripted.ways["T1"] = begin
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="replaced during the capture"):
        await page.snapshot(source="ax", timeout=3)
    assert 3 <= trio.current_time() - started <= 3.15


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (Refusal(-32603, "Internal error"), "ax failed: .*Internal error"),
        (SILENCE, r"ax did not finish within 5\.9 s"),
    ],
)
async def test_where_the_accessibility_tree_fails_the_dom_is_read(
    page: cdpengine.Page,
    scripted: FramedBrowser,
    autojump_clock: MockClock,
    way: Answer,
    reason: str,
) -> None:
    scripted.ways["T1"] = way

    snapshot = await page.snapshot(timeout=10)
    assert snapshot.title == "by the DOM"
    stats = snapshot.stats.sources["T1"]
    assert stats.source == "dom"
    assert re.search(reason, stats.reason)


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        (Refusal(-32000, "Not now"), "are unknown: .*Not now"),
        (SILENCE, "no time was left to find further clickable"),
    ],
)
async def test_optional_additions_never_cost_the_document(
    page: cdpengine.Page, scripted: FramedBrowser, autojump_clock: MockClock, way: Answer, reason: str
) -> None:
    few: tuple[Short, ...] = (("paragraph", ""), ("paragraph", ""), ("button", "Alone"))
    scripted.trees["T1"] = (owner("F1"), *few)
    scripted.trees["F1"] = few
    scripted.on("Runtime.callFunctionOn", way)
    snapshot = await page.snapshot(timeout=10)
    assert len(snapshot.find_all("button", "Alone")) == 2
    for frame_id in ("T1", "F1"):
        stats = snapshot.stats.sources[frame_id]
        assert stats.source == "ax"
        assert re.search(reason, stats.reason)


async def test_one_look_at_a_process_serves_all_its_frames(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    few: tuple[Short, ...] = (("paragraph", ""), ("paragraph", ""), ("button", "Alone"))
    scripted.trees["T1"] = (owner("F1"), *few)
    scripted.trees["F1"] = few
    scripted.on("DOMSnapshot.captureSnapshot", result={"documents": [], "strings": []})
    await page.snapshot(max_chars=1000)  # this needs the boxes
    assert sorted(asked(scripted, "DOMSnapshot.captureSnapshot")) == [("S-F2", None), ("S-T1", None)]


async def test_an_explicit_source_is_the_only_one_tried(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    scripted.ways["T1"] = Refusal(-32603, "Internal error")
    with pytest.raises(cdpengine.errors.RemoteError, match="getFullAXTree"):
        await page.snapshot(source="ax")
    scripted.ways = {"F2": Refusal(-32603, "Internal error")}
    snapshot = await page.snapshot(source="ax")
    assert "[frame could not be read]" in snapshot.text
    assert "Internal error" in snapshot.stats.sources["F2"].reason


async def test_a_page_that_closes_during_the_call(page: cdpengine.Page, scripted: FramedBrowser) -> None:
    def way(request: Request) -> Answer:
        scripted.vanish("T1")
        return SILENCE

    scripted.ways["F1"] = way
    scripted.ways["T1"] = SILENCE
    with pytest.raises(cdpengine.errors.SessionGoneError):
        await page.snapshot()


async def test_a_lost_connection_propagates_unchanged(page: cdpengine.Page, scripted: FramedBrowser) -> None:
    asked = 0

    def way(request: Request) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 3:
            request.link.close()
        return SILENCE

    scripted.on("Accessibility.getFullAXTree", way)
    with pytest.raises(cdpengine.errors.ConnectionLostError):
        await page.snapshot()


async def test_a_cancellation_at_any_await_creates_no_refs(
    page: cdpengine.Page, scripted: FramedBrowser
) -> None:
    before = await page.snapshot()
    count = page.internals.refs.last_number
    connection = page.session.connection

    async def check() -> None:
        await quiet()
        assert connection.statistics().in_flight == 0
        assert page.internals.refs.last_number == len(page.internals.refs) == count

    runs = await walk_cancellations(page.snapshot, check)
    assert runs > 10
    again = await page.snapshot()
    assert list(again.refs) == list(before.refs)


@pytest.mark.parametrize("timeout", [0, -1])
async def test_without_time_nothing_is_sent(
    page: cdpengine.Page, scripted: FramedBrowser, timeout: float
) -> None:
    sent = len(scripted.received)
    with pytest.raises((cdpengine.errors.DeadlineExceededError, cdpengine.errors.InvalidArgumentError)):
        await page.snapshot(timeout=timeout)
    assert len(scripted.received) == sent


# --- content that loads while a document is read
# ------------------------------------------------------------------


async def test_a_document_that_was_empty_and_has_loaded_since_is_read_again(
    browser: cdpengine.Browser, scripted: FramedBrowser
) -> None:
    page = await browser.new_page()
    scripted.commit("T1", "http://t1.test/", loaded=False)
    await quiet()
    looks = 0

    def tree(request: Request) -> Answer:
        nonlocal looks
        looks += 1
        if looks > 1:
            return scripted.answer_of("T1")
        scripted.trees["T1"] = ()
        empty = scripted.answer_of("T1")
        scripted.trees["T1"] = (("button", "Go on"),)
        for name in ("DOMContentLoaded", "load", "networkIdle"):
            event = {"frameId": "T1", "loaderId": scripted.frame("T1")["loaderId"], "name": name}
            scripted.page_event("Page.lifecycleEvent", event)
        return empty

    scripted.ways["T1"] = tree
    assert "Go on" in (await page.snapshot(source="ax")).text
    assert looks == 2
