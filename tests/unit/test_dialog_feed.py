"""A feed yields each answered dialog once, in order, and counts the dialogs that it dropped."""

from __future__ import annotations

from typing import Any, cast

from cdpengine._page.dialog_feed import DialogFeed
from cdpengine._page.dialogs import MAX_RECORDS, Dialog, TrackedDialog


class Page:
    def __init__(self, target_id: str) -> None:
        self.target_id = target_id


def note(feed: DialogFeed, page: Page, message: str, *, is_open: bool = False) -> TrackedDialog:
    shown = TrackedDialog(Dialog(type="alert", message=message, url=""), raises=False, open=is_open)
    feed.note(cast("Any", page), shown)
    return shown


def messages(taken: tuple[list[Dialog], int]) -> list[str]:
    return [each.message for each in taken[0]]


def test_each_dialog_is_taken_once_in_order() -> None:
    one, two = Page("1"), Page("2")
    feed = DialogFeed(lambda _page: True)
    for page, message in ((one, "a"), (two, "b"), (one, "c")):
        note(feed, page, message)
    assert messages(feed.take()) == ["a", "b", "c"]
    assert feed.take() == ([], 0)


def test_an_open_dialog_waits_for_its_answer() -> None:
    feed = DialogFeed(lambda _page: True)
    shown = note(feed, Page("1"), "open", is_open=True)
    note(feed, Page("2"), "answered")
    assert messages(feed.take()) == ["answered"]
    shown.open = False
    assert messages(feed.take()) == ["open"]


def test_dialogs_of_other_pages_are_not_kept_and_busy_pages_wait() -> None:
    own, busy, other = Page("own"), Page("busy"), Page("other")
    feed = DialogFeed(lambda page: page is not cast("Any", other))
    for page in (busy, own, other):
        note(feed, page, page.target_id)
    assert messages(feed.take(lambda target_id: target_id == "busy")) == ["own"]
    assert messages(feed.take()) == ["busy"]


def test_the_oldest_dialogs_are_counted() -> None:
    feed = DialogFeed(lambda _page: True)
    for number in range(MAX_RECORDS + 3):
        note(feed, Page("1"), str(number))
    taken, omitted = feed.take()
    assert (taken[0].message, len(taken), omitted) == ("3", MAX_RECORDS, 3)
    assert feed.take() == ([], 0)
