"""The effects of a step, from the page before it and the page after it."""

from __future__ import annotations

import attrs
import pytest
from snapshot_trees import Short, snapshot_of, tree

from cdpengine.cache import PostCondition
from cdpengine.cache.learning.outcomes import PageView, Reading, count_tokens, find_condition
from cdpengine.cache.learning.templating import Templating

URL = "https://shop.example/cart"
VALUES = {"user": "ada", "word": "hunter2"}


def words(text: str, role: str = "paragraph") -> Short:
    return (role, "", ("StaticText", text))


def view(*nodes: Short, url: str = URL, document: str = "D", loaded: bool = True) -> PageView:
    snapshot = snapshot_of(tree(("RootWebArea", "Shop", *BASE, *nodes)))
    return PageView(snapshot=snapshot, url=url, document=document, loaded=loaded)


BASE: tuple[Short, ...] = (
    ("heading", "Cart", ("StaticText", "Cart")),
    ("button", "Buy", ("StaticText", "Buy")),
)
DIALOG: Short = ("dialog", "Terms", ("button", "OK", ("StaticText", "OK")))
BOX: Short = ("listbox", "Ideas", ("option", "adagio", ("StaticText", "adagio")))


def fields_of(condition: PostCondition | None) -> dict[str, object]:
    """Return the fields of a condition. An element is reduced to its role and name."""
    found: dict[str, object] = {}
    for name, value in attrs.asdict(condition, recurse=False).items() if condition is not None else ():
        if value is not None:
            found[name] = (value.role, value.name) if name in ("shown", "gone") else value
    return found


def link(name: str) -> Short:
    return ("link", name, ("StaticText", name))


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((), {}),
        ((DIALOG,), {"shown": ("dialog", "Terms")}),
        ((("heading", "Thanks", ("StaticText", "Thanks")), ("button", "Back")), {"shown": ("heading", "Thanks")}),
        ((("heading", "Hello ada"),), {"shown": ("heading", "Hello ${user}")}),
        ((("heading", "Hello Ada"),), {}),
        ((("heading", "Your hunter2"),), {}),
        ((("heading", "Your HUNTER2"),), {}),
        ((("heading", "3 items"), ("button", "Pay 10:20")), {}),
        ((("button", "Buy", ("StaticText", "Buy")),), {}),  # because one existed already
        ((("button", "Remove"), ("button", "Remove")), {}),  # ambiguous
        ((link("Log out"),), {"shown": ("link", "Log out")}),
        ((link("Shoes"), link("Boots"), link("Hats")), {}),
        ((words("Saved"),), {"text": "Saved"}),
        ((words("One"), words("Two"), words("Three")), {}),
        ((words("One"), words("Two"), words("Three"), words("Not saved", "alert")), {"text": "Not saved"}),
        ((words("7 left"),), {}),
        ((words("Dear ada"),), {"text": "Dear ${user}"}),
        ((words("It costs $"),), {"text": "It costs $$"}),
        ((words("You typed Ulm"),), {}),
        ((words("x" * 81),), {}),
        ((words("--"),), {}),
        ((("textbox", "Name", {"value": "Ulm"}),), {"shown": ("textbox", "Name")}),
    ],
)  # fmt: skip
def test_appearing_elements(nodes: tuple[Short, ...], expected: dict[str, object]) -> None:
    found = find_condition(view(), view(*nodes), Templating(VALUES), entered=["Ulm"])
    assert fields_of(found) == expected


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((DIALOG,), {"gone": ("dialog", "Terms")}),
        ((words("Loading"),), {"text_gone": "Loading"}),
        ((words("7 left"),), {}),
        ((("heading", "Your hunter2"),), {}),
    ],
)
def test_disappearing_elements(nodes: tuple[Short, ...], expected: dict[str, object]) -> None:
    assert fields_of(find_condition(view(*nodes), view(), Templating(VALUES))) == expected


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((BOX,), {"shown": ("listbox", "Ideas")}),
        ((DIALOG,), {"shown": ("dialog", "Terms")}),
        ((words("Too short", "alert"),), {"text": "Too short"}),
        ((link("adagio"), words("proposal"), ("button", "Clear")), {}),
    ],
)
def test_after_something_was_entered_proposals_do_not_count(
    nodes: tuple[Short, ...], expected: dict[str, object]
) -> None:
    assert fields_of(find_condition(view(), view(*nodes), Templating(VALUES), entering=True)) == expected
    assert fields_of(find_condition(view(*nodes), view(), Templating(VALUES), entering=True)) == {}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (view(url="https://shop.example/done", document="E"), {"url": "https://shop.example/done", "load_state": "load"}),
        (view(url="https://shop.example/done", document="E", loaded=False), {"url": "https://shop.example/done"}),
        (view(url="https://shop.example/orders/17"), {"url": "https://shop.example/orders/*"}),
        (view(url="https://shop.example/ada"), {"url": "https://shop.example/*"}),
        (view(url=f"{URL}?id=5&s=Ulm"), {}),
        (view(document="E"), {"url": URL, "load_state": "load"}),
        (
            view(words("Wrong password", "alert"), document="E"),
            {"url": URL, "load_state": "load", "text": "Wrong password"},
        ),
        (view(DIALOG, url="about:blank", document="E"), {"load_state": "load", "shown": ("dialog", "Terms")}),
    ],
)  # fmt: skip
def test_the_new_address(after: PageView, expected: dict[str, object]) -> None:
    assert fields_of(find_condition(view(), after, Templating(VALUES), entered=["Ulm"])) == expected


def test_an_unread_page_has_only_an_address_condition() -> None:
    unread = attrs.evolve(view(DIALOG), snapshot=None)
    assert find_condition(view(), unread, Templating({})) is None
    assert find_condition(unread, view(), Templating({})) is None
    went = attrs.evolve(unread, url="https://shop.example/done", document="E")
    assert fields_of(find_condition(view(), went, Templating({}))) == {
        "url": "https://shop.example/done",
        "load_state": "load",
    }


def test_a_page_is_read_again_if_its_words_or_its_structure_changed() -> None:
    more = ("heading", "Empty", ("StaticText", "Empty"))
    views = [view(), view(url=f"{URL}?a=1"), view(more), view(more, document="E"), view()]
    readings = [each.reading for each in views]
    assert None not in readings
    tokens = [0 if each is None else each.tokens for each in readings]
    assert min(tokens) > 0
    assert count_tokens(readings) == tokens[0] + tokens[2] + tokens[3] + tokens[4]
    assert count_tokens([None, readings[0], None, readings[1]]) == tokens[0]
    assert count_tokens([]) == 0
    unread = attrs.evolve(views[0], snapshot=None)
    assert unread.reading is None
    assert count_tokens([Reading(("D", "s", "c"), 7), unread.reading]) == 7
