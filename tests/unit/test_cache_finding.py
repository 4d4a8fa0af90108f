"""Finding a target in a current snapshot: unchanged, healed, or not found; and never another element."""

from __future__ import annotations

import random

import attrs
import pytest
from changing_pages import ChangingPage, El, change
from written_pages import NOTHING, Page, described, found

from cdpengine.cache import Values, describe_target
from cdpengine.cache.matching.finding import TargetMatch, find_target
from cdpengine.errors import VariablesError

# --- the same name -------------------------------------------------------------------------------------------


def test_the_only_candidate_is_found_if_some_of_its_surroundings_remain() -> None:
    page = Page()
    login, password = page("button Log in"), page("textbox Password")
    page.show(page("form Account", page("textbox User"), password, login))
    target = described(page, login)
    page.show(
        page("main", page("form", page("group", login), page("textbox User"), page("heading New"), password))
    )
    match = found(page, target)
    assert (match.level, match.score, match.candidates) == ("exact", 100, ())
    assert match.found is not None
    assert match.found.name == "Log in"
    page.show(page("form Newsletter", page("textbox Email"), login))
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "in another part of the page" in match.reason
    page.show(page("heading New"), login, page("link Help"))
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "all of its surroundings are different" in match.reason


def test_a_trap_of_the_same_name_in_another_form() -> None:
    page = Page()
    fields = [page(f"textbox {name}") for name in ("Name", "E-mail", "Phone", "Message")]
    page.show(page("form Contact us", *fields, page("button Send")))
    target = described(page, fields[1])
    fields[1].name = "E-mail address"
    newsletter = page("form Newsletter", page("textbox E-mail"), page("button Subscribe"))
    page.show(newsletter, page("form Write to us", *fields[::-1], page("button Send")))
    match = found(page, target)
    assert (match.level, match.ref) == ("healed", f"e{fields[1].number}")
    fields[1].name = "Where to answer"
    assert found(page, target).ref is None


def test_an_item_of_the_same_name_may_say_more() -> None:
    page = Page()
    button, other = page("button Add to cart"), page("article Cup", page("text 18.00"))
    page.show(other, page("article Tea bowl", page("text 32.50"), button))
    target = described(page, button)
    page.show(other, page("article Tea bowl", page("text 32.50, made to order"), button))
    assert found(page, target).ref == f"e{button.number}"
    page.show(other, page("article Milk jug", page("text 32.50, made to order"), button))
    assert found(page, target).ref is None


def test_another_kind_of_element_with_the_same_name_is_rejected() -> None:
    page = Page()
    login, header = page("button Log in"), page("link Log in")
    page.show(header, page("form Log in", page("textbox Password"), login))
    target = described(page, login)
    page.remove(login)
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert match.candidates[0].ref == f"e{header.number}"
    assert "a link of this name is" in match.reason


def test_a_search_field_may_become_a_text_field() -> None:
    page = Page()
    field = page("searchbox Search")
    page.show(field)
    target = described(page, field)
    field.role = "textbox"
    assert found(page, target).level == "healed"


@pytest.mark.parametrize("role", ["listitem", "row", "treeitem"])
def test_a_button_belongs_to_the_text_of_its_item(role: str) -> None:
    page = Page()

    def shown(*things: str) -> dict[str, El]:
        buttons = {thing: page("button Remove") for thing in things}
        page.show(page("list", *[page(role, page(f"text {thing}"), each) for thing, each in buttons.items()]))
        return buttons

    target = described(page, shown("Blue shoes", "Red hat")["Red hat"])
    assert (target.item, target.alike, target.twins) == ("Red hat", 2, 1)
    now = shown("Red hat", "Green coat", "Blue shoes")
    assert (found(page, target).level, found(page, target).ref) == ("healed", f"e{now['Red hat'].number}")
    shown("Blue shoes", "Green coat")
    assert found(page, target).level == "ambiguous"
    # A page with one item now shows another item: name, place and neighbours are equal, but it is another
    # thing.
    target = described(page, shown("Blue shoes")["Blue shoes"])
    shown("Red hat")
    assert (found(page, target).level, found(page, target).ref) == ("ambiguous", None)


def test_the_item_may_be_a_variable() -> None:
    page = Page()
    buttons = [page("button Buy") for _ in range(3)]
    things = ("Hat", "Coat", "Shoes")
    page.show(
        page(
            "list",
            *[
                page("listitem", page(f"text {thing}"), each)
                for thing, each in zip(things, buttons, strict=True)
            ],
        )
    )
    target = attrs.evolve(described(page, buttons[0]), item="${thing}")
    match = found(page, target, Values({"thing": "Coat"}))
    assert match.ref == f"e{buttons[1].number}"
    assert match.found is not None
    assert match.found.item == "${thing}"
    with pytest.raises(VariablesError):
        found(page, target)


def test_items_with_equal_words_differ_only_by_their_number() -> None:
    page = Page()
    buttons = [page("button Open") for _ in range(3)]
    rows = [page("row", page("text Draft"), each) for each in buttons]
    page.show(page("table", *rows))
    target = described(page, buttons[1])
    assert target.twins == 3
    assert found(page, target).ref == f"e{buttons[1].number}"
    page.remove(rows[0])
    assert found(page, target).level == "ambiguous"


def test_the_last_of_several_is_not_a_substitute_for_a_missing_one() -> None:
    page = Page()
    saves = [page("button Save"), page("button Save")]
    forms = [
        page("form Address", page("textbox City"), saves[0]),
        page("form Address", page("textbox City"), saves[1]),
    ]
    page.show(*forms)
    target = described(page, saves[0])
    page.remove(forms[0])
    assert found(page, target).ref is None


def test_a_general_name_in_another_dialog_is_rejected() -> None:
    page = Page()
    button = page("button OK")
    dialog = page("dialog Save the report?", page("text Sure?"), button)
    page.show(dialog)
    target = described(page, button)
    assert found(page, target).level == "exact"
    dialog.name = "Delete the account?"
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "another dialog" in match.reason


def test_a_general_name_where_all_around_is_new_is_not_it() -> None:
    page = Page()
    button = page("button Submit")
    page.show(page("form Address", page("textbox City"), button, page("link Help")))
    target = described(page, button)
    page.show(page("form Newsletter", page("textbox Email"), button, page("link Home")))
    assert found(page, target).level == "ambiguous"


# --- the parts of a page -------------------------------------------------------------------------------------


def test_a_field_with_the_name_in_another_form_is_rejected() -> None:
    page = Page()
    email = page("textbox E-mail")
    page.show(page("form Contact", page("textbox Name"), email, page("textbox Phone")))
    target = described(page, email)
    page.show(
        page("form Newsletter", page("textbox E-mail"), page("button Subscribe")),
        page("form Contact", page("textbox Phone"), page("textbox Name")),
    )
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "in another part of the page" in match.reason


def test_a_form_with_another_name_and_order_has_its_fields() -> None:
    page = Page()
    age = page("spinbutton Age")
    page.show(page("form Contact", page("textbox Phone"), age, page("date Day")))
    target = described(page, age)
    page.show(
        page(
            "form Write to us",
            page("group Visit", page("date Day")),
            page("group You", age, page("link Home")),
        )
    )
    match = found(page, target)
    assert (match.level, match.ref) == ("exact", f"e{age.number}")


def test_its_name_elsewhere_and_a_synonym_here_is_uncertain() -> None:
    page = Page()
    email = page("textbox E-mail")
    page.show(page("textbox Name"), email, page("textbox Phone"))
    target = described(page, email)
    page.show(
        page("link Home"), email, page("link Help"), page("textbox Age"), page("textbox E-mail address")
    )
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "another one of that meaning" in match.reason


def test_prefers_the_candidate_in_the_same_part() -> None:
    page = Page()
    password = page("textbox Password")
    page.show(page("form Sign in", page("textbox User name"), password, page("button Sign in")))
    target = described(page, password)
    other = page(
        "form Newsletter", page("textbox E-mail"), page("textbox Password"), page("button Subscribe")
    )
    page.show(
        other,
        page("form Log in", page("textbox User name"), password, page("link Help"), page("button Log in")),
    )
    match = found(page, target)
    assert (match.level, match.ref) == ("healed", f"e{password.number}")


def test_its_name_in_another_part_does_not_hide_the_renamed_one_in_its_own() -> None:
    page = Page()
    button = page("button Sign in")
    page.show(page("form Sign in", page("textbox Password"), button))
    target = described(page, button)
    renamed = page("button Log in")
    other = page("form Newsletter", page("textbox E-mail"), page("button Sign in"))
    page.show(other, page("form Log in", page("textbox Password"), renamed))
    assert found(page, target).ref == f"e{renamed.number}"
    page.remove(renamed)
    assert found(page, target).ref is None


def test_a_label_is_not_a_neighbour_of_its_own_field() -> None:
    page = Page()
    email = page("textbox E-mail address")
    page.show(
        page("form Contact", page("textbox Phone"), page("text E-mail address"), email, page("textbox Age"))
    )
    target = described(page, email)
    assert target.before is not None
    assert (target.before.role, target.before.name) == ("textbox", "Phone")
    page.show(page("form Newsletter", page("text E-mail"), page("textbox E-mail"), page("button Subscribe")))
    assert found(page, target).ref is None


def test_an_article_is_identified_by_its_name_and_not_its_price() -> None:
    page = Page()
    add, price = page("button Add to cart"), page("paragraph 32.50")
    article = page("article Tea bowl", price, add)
    page.show(article)
    target = described(page, add)
    assert target.item == "Tea bowl"
    price.name = "34.00"
    assert found(page, target).level == "exact"
    article.name = "Milk jug"
    assert found(page, target).ref is None


# --- frames --------------------------------------------------------------------------------------------------


def in_frames(page: Page, *frames: tuple[str, str, tuple[El, ...]]) -> None:
    page.show(*[page(f"iframe {name}", *children, url=url) for name, url, children in frames])


def test_the_frame_is_a_part_of_the_identity_of_an_element() -> None:
    page = Page()
    pay = page("button Pay")
    in_frames(page, ("Card", "https://pay.test/", (pay,)), ("Ad", "https://ads.test/", (page("link Win"),)))
    target = described(page, pay)
    ref = f"e{pay.number}"
    in_frames(page, ("Ad", "https://ads.test/", (page("link Win"),)), ("Card", "https://pay.test/", (pay,)))
    assert (found(page, target).level, found(page, target).ref) == ("exact", ref)
    in_frames(page, ("Card", "https://pay.test/v2", (pay,)))
    assert found(page, target).ref == ref
    in_frames(page, ("Card", "https://evil.test/", (pay,)))
    assert found(page, target).level == "missing"
    in_frames(page, ("Card", "https://pay.test/", ()), ("Card", "https://pay.test/", (pay,)))
    assert found(page, target).ref is None
    page.show(pay)
    assert found(page, target).level == "missing"


def test_an_element_of_the_page_is_not_searched_for_in_its_frames() -> None:
    page = Page()
    pay = page("button Pay")
    target = described(page.show(pay), pay)
    in_frames(page, ("Card", "https://pay.test/", (pay,)))
    assert found(page, target).level == "missing"


# --- any change ----------------------------------------------------------------------------------------------

CHANGES = (
    "reorder", "insert", "insert text", "rename other", "remove other", "wrap", "synonym", "remove", "replace",
    "to a frame", "duplicate",
)  # fmt: skip


def test_an_unchanged_page_has_every_element() -> None:
    for seed in range(80):
        page = ChangingPage(random.Random(seed)).fill()
        snapshot = page.snapshot()
        for el in page.controls():
            match = find_target(snapshot, describe_target(snapshot, f"e{el.number}"), NOTHING)
            assert (match.level, match.ref) == ("exact", f"e{el.number}"), seed


@pytest.mark.parametrize("kind", CHANGES)
def test_after_one_change_the_match_is_right_or_missing(kind: str) -> None:
    levels: list[str] = []
    for seed in range(120):
        page = ChangingPage(random.Random(f"{kind} {seed}")).fill()
        levels.append(after(page, (kind,), seed).level)
    if kind in ("remove", "replace", "to a frame"):
        assert set(levels) <= {"missing", "ambiguous"}
    else:
        assert levels.count("exact") + levels.count("healed") > 60, levels


def test_after_several_changes_the_match_is_right_or_missing() -> None:
    for seed in range(400):
        roll = random.Random(seed)
        kinds = tuple(roll.choice(CHANGES) for _ in range(roll.randint(2, 5)))
        after(ChangingPage(roll).fill(), kinds, seed)


def after(page: ChangingPage, kinds: tuple[str, ...], seed: int) -> TargetMatch:
    """Search for an element that was described before the changes.

    The match is right, or there is no match.
    """
    el = page.random.choice(page.controls())
    target, number = described(page, el), el.number
    there = True
    for kind in kinds:
        # A copy next to a removed or renamed element means that the page was redrawn: the copy is the
        # element.
        if there and not (kind == "duplicate" and len(kinds) > 1):
            there = change(page, el, kind)
    match = found(page, target)
    assert match.ref in (None, f"e{number}" if there else None), (seed, kinds, match.reason)
    assert (match.ref is not None) == (match.level in ("exact", "healed"))
    return match
