"""The frame tree, maintained from events."""

from __future__ import annotations

from typing import cast

import attrs
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._page.frames import RESTORED, FrameEvent, FrameTree
from cdpengine._protocol.domains.page import (
    FrameAttached,
    FrameDetached,
    FrameInfo,
    FrameNavigated,
    FrameTreeNode,
    LifecycleEvent,
    NavigatedWithinDocument,
)
from cdpengine._protocol.session import Session


@attrs.define(eq=False)
class _Reporter:
    """The tree's knowledge of a session: its identity."""

    id: str
    frame_id: str = "main"
    ended: bool = False


S1, S2 = (cast("Session", _Reporter(name)) for name in ("s1", "s2"))


def ids(tree: FrameTree) -> list[str]:
    return [frame.id for frame in tree]


def test_frames_are_added_navigated_and_removed() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply(FrameAttached("b", "a"), S1)
    tree.apply(FrameNavigated(FrameInfo("a", "l1", "http://x/", "main", "name", "#f")), S1)
    frame = tree.get("a")
    assert frame is not None
    assert (frame.url, frame.loader_id, frame.name, frame.parent_id) == ("http://x/#f", "l1", "name", "main")
    assert ids(tree) == ["main", "a"], "a navigation ends the frames inside"
    tree.apply(FrameDetached("a"), S1)
    assert ids(tree) == ["main"]


def test_a_new_frame_has_the_loader_of_its_empty_document_until_it_navigates() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply(LifecycleEvent("a", "empty", "init"), S1)
    tree.apply(LifecycleEvent("a", "l1", "init"), S1)
    frame = tree.get("a")
    assert frame is not None
    assert frame.loader_id == "empty", "the next document counts once it is committed"
    tree.apply(FrameNavigated(FrameInfo("a", "l1", "http://x/")), S1)
    assert frame.loader_id == "l1"


def test_removing_a_frame_removes_its_descendants() -> None:
    tree = FrameTree("main", S1)
    for frame, parent in [("a", "main"), ("b", "a"), ("c", "b"), ("d", "main")]:
        tree.apply(FrameAttached(frame, parent), S1)
    seen = [frame for frame in tree if frame is not tree.main]
    tree.apply(FrameDetached("a"), S1)
    assert ids(tree) == ["main", "d"]
    assert [frame.attached for frame in seen] == [False, False, False, True]


def test_a_frame_that_moves_to_another_process_stays_and_changes_its_session() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply(FrameDetached("a", "swap"), S1)
    tree.apply_tree(FrameTreeNode(FrameInfo("a", "l2", "http://y/")), S2)
    frame = tree.get("a")
    assert frame is not None
    assert (frame.session_id, frame.parent_id, frame.loader_id) == ("s2", "main", "l2")
    tree.apply(FrameDetached("a", "remove"), S1)
    assert tree.get("a") is frame, "only the session that has it can remove it"
    tree.end_session(S2)
    assert tree.get("a") is None
    assert not frame.attached


def test_the_main_frame_stays_whatever_happens() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameDetached("main"), S1)
    tree.end_session(S1)
    assert ids(tree) == ["main"]


def test_load_states_belong_to_a_document() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameNavigated(FrameInfo("main", "l1")), S1)
    for name in ("init", "commit", "DOMContentLoaded", "load"):
        tree.apply(LifecycleEvent("main", "l1", name), S1)
    assert tree.main.reached("l1", "load")
    assert not tree.main.reached("l1", "networkidle")
    tree.apply(LifecycleEvent("main", "l2", "init"), S1)
    assert not tree.main.reached("l2", "commit")
    tree.apply(FrameNavigated(FrameInfo("main", "l2")), S1)
    assert tree.main.reached("l2", "commit")
    assert not tree.main.reached("l2", "load")
    assert tree.main.reached("l1", "load"), "the replaced document is still remembered"
    for number in range(3, 20):
        tree.apply(LifecycleEvent("main", f"l{number}", "init"), S1)
    assert len(tree.main.lifecycle) <= 4


def test_a_page_out_of_the_back_forward_cache_is_loaded() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameNavigated(FrameInfo("main", "l1"), "BackForwardCacheRestore"), S1)
    assert tree.main.reached("l1", "networkidle")


def test_moves_within_a_document_are_counted() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameNavigated(FrameInfo("main", "l1", "http://x/")), S1)
    tree.apply(NavigatedWithinDocument("main", "http://x/#a"), S1)
    assert (tree.main.url, tree.main.moves_within, tree.main.loader_id) == ("http://x/#a", 1, "l1")


_ID = st.sampled_from(["main", "a", "b", "c", "d"])
_EVENT: st.SearchStrategy[FrameEvent] = st.one_of(
    st.builds(FrameAttached, _ID, st.none() | _ID),
    st.builds(FrameDetached, _ID, st.sampled_from(["remove", "swap", "newer"])),
    st.builds(FrameNavigated, st.builds(FrameInfo, _ID, _ID, _ID, st.none() | _ID), st.just("Navigation")),
    st.builds(NavigatedWithinDocument, _ID, _ID),
    st.builds(LifecycleEvent, _ID, _ID, st.sampled_from(["init", "load", "newer"])),
)
_STEPS = st.lists(st.tuples(_EVENT, st.sampled_from([S1, S2])), max_size=40)


@given(_STEPS)
def test_no_sequence_of_events_breaks_it(steps: list[tuple[FrameEvent, Session]]) -> None:
    tree = FrameTree("main", S1)
    for event, session in steps:
        tree.apply(event, session)
        assert tree.get(tree.main.id) is tree.main
        assert len(set(ids(tree))) == len(tree)


def _as_chrome_would(choices: list[tuple[str, int]]) -> list[FrameEvent]:
    """Yield events of a page whose frames are added, navigated and removed, in an order that Chrome could
    send.
    """
    parents: dict[str, str | None] = {"main": None}
    events: list[FrameEvent] = []

    def remove_inside(frame_id: str) -> None:
        for child in [child for child, parent in parents.items() if parent == frame_id]:
            remove_inside(child)
            del parents[child]
            events.append(FrameDetached(child))

    for number, (what, pick) in enumerate(choices):
        frame_id = list(parents)[pick % len(parents)]
        if what == "attach":
            parents[f"f{number}"] = frame_id
            events.append(FrameAttached(f"f{number}", frame_id))
        elif what == "navigate":
            remove_inside(frame_id)
            info = FrameInfo(frame_id, f"l{number}", f"http://x/{number}", parents[frame_id])
            events.append(FrameNavigated(info))
        elif frame_id != "main":
            remove_inside(frame_id)
            del parents[frame_id]
            events.append(FrameDetached(frame_id))
    return events


_CHOICES = st.lists(
    st.tuples(st.sampled_from(["attach", "navigate", "remove"]), st.integers(0, 9)), max_size=30
)


@given(_CHOICES, st.integers(0, 30))
def test_a_late_tree_and_repeated_events_end_in_the_same_frames(
    choices: list[tuple[str, int]], when: int
) -> None:
    """PageTarget relies on this: the reply may be older than events that were applied before it."""
    events = _as_chrome_would(choices)
    right, at_reply, late = FrameTree("main", S1), FrameTree("main", S1), FrameTree("main", S1)
    for event in events:
        right.apply(event, S1)
        late.apply(event, S1)
    for event in events[:when]:
        at_reply.apply(event, S1)
    late.apply_tree(_as_reply(at_reply, "main"), S1)
    for event in events:
        late.apply(event, S1)
    assert {(frame.id, frame.parent_id, frame.url, frame.loader_id) for frame in late} == {
        (frame.id, frame.parent_id, frame.url, frame.loader_id) for frame in right
    }


def _as_reply(tree: FrameTree, frame_id: str) -> FrameTreeNode:
    frame = tree.get(frame_id)
    assert frame is not None
    info = FrameInfo(frame.id, frame.loader_id, frame.url, frame.parent_id, frame.name)
    return FrameTreeNode(info, [_as_reply(tree, child.id) for child in tree.children(frame_id)])


def test_a_swap_keeps_the_reports_of_the_new_process() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply(FrameAttached("old", "a"), S1)
    tree.apply(FrameNavigated(FrameInfo("a", "l2", "http://y/", "main")), S2)
    tree.apply(FrameAttached("new", "a"), S2)
    tree.apply(FrameDetached("a", "swap"), S1)
    assert ids(tree) == ["main", "a", "new"]


def test_a_frame_whose_move_to_another_process_is_given_up_goes_on_in_its_old_one() -> None:
    """Chrome ends the target of the abandoned process, and sends no event of the frame."""
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply(LifecycleEvent("a", "empty", "init"), S1)
    tree.apply_tree(FrameTreeNode(FrameInfo("a", "l2", "", "main")), S2)
    tree.end_session(S2)
    frame = tree.get("a")
    assert frame is not None
    assert (frame.session_id, frame.loader_id, frame.url, frame.attached) == ("s1", "empty", "", True)
    tree.apply(FrameDetached("a"), S1)
    assert ids(tree) == ["main"]


def test_a_frame_that_is_removed_before_its_move_ends_does_not_come_back() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply_tree(FrameTreeNode(FrameInfo("a", "l2", "", "main")), S2)
    tree.apply(FrameDetached("a"), S1)
    tree.end_session(S2)
    assert ids(tree) == ["main"]


def test_a_frame_that_has_moved_ends_with_its_session() -> None:
    tree = FrameTree("main", S1)
    tree.apply(FrameAttached("a", "main"), S1)
    tree.apply_tree(FrameTreeNode(FrameInfo("a", "l2", "http://y/", "main")), S2)
    tree.apply(FrameDetached("a", "swap"), S1)
    tree.end_session(S2)
    assert ids(tree) == ["main"]


def _navigated(loader_id: str, kind: str = "Navigation", frame_id: str = "main") -> FrameNavigated:
    parent_id = None if frame_id == "main" else "main"
    return FrameNavigated(FrameInfo(frame_id, loader_id, f"http://x/{loader_id}", parent_id), kind)


def test_a_restored_document_has_its_frames() -> None:
    """Chrome attaches the out-of-process iframes of the restored document, and reports the document
    afterwards.
    """
    tree = FrameTree("main", S1)
    tree.apply(_navigated("list"), S1)
    for event in (FrameAttached("a", "main"), _navigated("inner", frame_id="a"), FrameAttached("b", "a")):
        tree.apply(event, S1)
    inner = tree.get("a")
    tree.apply(_navigated("foreign", frame_id="c"), S2)
    tree.end_session(S2)
    tree.apply(_navigated("detail"), S1)
    tree.apply(FrameAttached("d", "main"), S1)
    assert ids(tree) == ["main", "d"]

    again = cast("Session", _Reporter("s3"))
    tree.apply(_navigated("foreign", frame_id="c"), again)
    tree.apply(_navigated("list", RESTORED), S1)
    assert sorted(ids(tree)) == ["a", "b", "c", "main"]
    assert tree.complete
    assert inner is not None
    assert inner is tree.get("a")
    assert inner.attached
    assert (inner.loader_id, inner.url) == ("inner", "http://x/inner")
    tree.apply(_navigated("detail", RESTORED), S1)
    tree.end_session(again)
    assert ids(tree) == ["main", "d"]


def test_frames_of_an_earlier_document_are_unknown() -> None:
    tree = FrameTree("main", S1)
    tree.apply(_navigated("detail"), S1)
    tree.apply(_navigated("list", RESTORED), S1)
    assert not tree.complete
