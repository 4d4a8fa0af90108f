"""A target is found in a snapshot of today: as it was, healed, or not at all; and never another element."""

from __future__ import annotations

import random

import attrs
import pytest
from changing_pages import SYNONYMS, ChangingPage, El, change

from cdpengine.cache import Target, Values, describe_target
from cdpengine.cache.replaying.finding import TargetMatch, find_target
from cdpengine.cache.replaying.names import is_for_one_of_many, relate_names
from cdpengine.cache.replaying.vocabulary import CONCEPTS, FOR_ONE_OF_MANY, GRAVE, MODIFIERS
from cdpengine.errors import UndefinedVariablesError

NOTHING = Values({})


class Page(ChangingPage):
    """A page that is written down: `page("form Log in", page("textbox User"))`."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))

    def __call__(self, what: str, *children: El, url: str = "") -> El:
        role, _, name = what.partition(" ")
        return self.el(role, name, *children, url=url)

    def show(self, *children: El) -> Page:
        self.root.children = list(children)
        return self


def described(page: ChangingPage, el: El) -> Target:
    return describe_target(page.snapshot(), f"e{el.number}")


def found(page: ChangingPage, target: Target, values: Values = NOTHING) -> TargetMatch:
    return find_target(page.snapshot(), target, values)


def match_of(before: str, now: str, *, role: str = "button", same_place: bool = True) -> TargetMatch:
    """Describe the middle one of three in a form; then it has another name."""
    page = Page()
    middle = page(f"{role} {before}")
    page.show(page("form Account", page("textbox First"), middle, page("link Last")))
    target = described(page, middle)
    middle.name = now
    if not same_place:
        page.show(page("heading Other"), page("group", middle))
    return found(page, target)


# --- names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "relation"),
    [
        ("Save", "Save", "same"),
        ("Save  now", "Save now", "same"),
        ("Sign in", "Log in", "synonyms"),
        ("LOG IN", "Log in", "synonyms"),
        ("Log in", "登录", "synonyms"),
        ("用户名", "请输入用户名", "synonyms"),
        ("Password", "Your password", "synonyms"),
        ("Cart (3)", "Cart (12)", "synonyms"),
        ("Save", "Save changes", "synonyms"),
        ("Proceed to checkout", "Check out", "synonyms"),
        ("Search", "Search products", "overlap"),
        ("Reports", "Reports overview", "overlap"),
        ("Frob", "Zork", "unrelated"),
        ("\u00d7", "\u2715", "unrelated"),
        ("", "Save", "unrelated"),
        ("Save", "Delete", "contradiction"),
        ("保存", "删除", "contradiction"),
        ("保存", "不保存", "contradiction"),
        ("Save", "Don't save", "contradiction"),
        ("Submit", "Cancel", "contradiction"),
        ("Buy now", "Remove", "contradiction"),
        ("Add to cart", "Remove from cart", "contradiction"),
        ("Subscribe", "Unsubscribe", "contradiction"),
        ("Delete", "Delete account", "contradiction"),
        ("Remove", "Remove all", "contradiction"),
        ("Password", "Confirm password", "contradiction"),
        ("Password", "New password", "contradiction"),
        ("First name", "Last name", "contradiction"),
        ("Sign in", "Sign in with Google", "contradiction"),
        ("Order 1001", "Order 1002", "contradiction"),
        ("Save report", "Save template", "contradiction"),
        ("Page 2", "Page 3", "contradiction"),
        ("From", "To", "contradiction"),
        ("Undo", "Redo", "contradiction"),
        ("Username", "Password", "contradiction"),
        ("确认密码", "密码", "contradiction"),
    ],
)
def test_how_names_relate(before: str, now: str, relation: str) -> None:
    assert relate_names(before, now) == relation
    assert relate_names(now, before) == relation


def test_no_two_concepts_are_the_same() -> None:
    for concept, words in CONCEPTS.items():
        for other, others in CONCEPTS.items():
            relation = relate_names(words[0], others[0])
            assert relation == ("same" if concept == other else "contradiction"), (concept, other)


def test_the_tables_name_each_phrase_once() -> None:
    for table in (CONCEPTS, MODIFIERS):
        phrases = [phrase for words in table.values() for phrase in words]
        assert sorted({each for each in phrases if phrases.count(each) > 1}) == []
    assert CONCEPTS.keys() >= GRAVE
    assert CONCEPTS.keys() | MODIFIERS.keys() >= FOR_ONE_OF_MANY


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Remove", True),
        ("Add to cart", True),
        ("OK", True),
        ("", True),
        ("Blue shoes", False),
        ("Log in", False),
    ],
)
def test_names_for_one_of_many(name: str, expected: bool) -> None:
    assert is_for_one_of_many(name) is expected


# --- the same name -------------------------------------------------------------------------------------------


def test_the_only_one_is_found_where_something_around_it_is_as_it_was() -> None:
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
    assert "in another part of the page now" in match.reason
    page.show(page("heading New"), login, page("link Help"))
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert "nothing around it is as it was" in match.reason


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


def test_a_longer_name_is_another_thing() -> None:
    match = match_of("Weekly summary", "Weekly summary of our partners", role="checkbox")
    assert (match.level, match.ref) == ("ambiguous", None)


def test_an_item_of_the_same_name_may_say_more() -> None:
    page = Page()
    button, other = page("button Add to cart"), page("article Cup", page("text 18.00"))
    page.show(other, page("article Tea bowl", page("text 32.50"), button))
    target = described(page, button)
    page.show(other, page("article Tea bowl", page("text 32.50, made to order"), button))
    assert found(page, target).ref == f"e{button.number}"
    page.show(other, page("article Milk jug", page("text 32.50, made to order"), button))
    assert found(page, target).ref is None


def test_another_kind_of_element_of_the_same_name_is_not_it() -> None:
    page = Page()
    login, header = page("button Log in"), page("link Log in")
    page.show(header, page("form Log in", page("textbox Password"), login))
    target = described(page, login)
    page.remove(login)
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)
    assert match.candidates[0].ref == f"e{header.number}"
    assert "a link of this name is" in match.reason


def test_a_search_field_may_be_a_text_field_now() -> None:
    page = Page()
    field = page("searchbox Search")
    page.show(field)
    target = described(page, field)
    field.role = "textbox"
    assert found(page, target).level == "healed"


@pytest.mark.parametrize("role", ["listitem", "row", "treeitem"])
def test_a_button_is_for_what_its_item_says(role: str) -> None:
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
    # One item then, another one now: the name, the place and the neighbours are the same, and it is another thing.
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
    with pytest.raises(UndefinedVariablesError):
        found(page, target)


def test_items_of_the_same_words_are_told_apart_by_their_number_only() -> None:
    page = Page()
    buttons = [page("button Open") for _ in range(3)]
    rows = [page("row", page("text Draft"), each) for each in buttons]
    page.show(page("table", *rows))
    target = described(page, buttons[1])
    assert target.twins == 3
    assert found(page, target).ref == f"e{buttons[1].number}"
    page.remove(rows[0])
    assert found(page, target).level == "ambiguous"


def test_the_last_of_several_is_not_taken_for_one_that_is_gone() -> None:
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


def test_a_general_name_in_another_dialog_is_not_it() -> None:
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


# --- another name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "now"), [*SYNONYMS.items(), ("Log in", "登录"), ("Cart (3)", "Cart (4)")])
def test_a_name_that_says_the_same_is_healed(before: str, now: str) -> None:
    match = match_of(before, now)
    assert match.level == "healed"
    assert repr(now) in match.reason
    assert match.found is not None
    assert match.found.name == now


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Save", "Delete"), ("Submit", "Cancel"), ("Buy", "Remove"), ("Follow", "Unfollow"), ("Mute", "Unmute"),
        ("Frob", "Zork"), ("Save", "Frob"), ("Frob", "Delete"), ("Next", "Publish"), ("", "Delete"), ("\u00d7", "\u2713"),
        ("Blue shoes", "Red hat"), ("Password", "Search"), ("Password", "Confirm password"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["button", "link", "textbox", "menuitem"])
def test_another_meaning_in_the_same_place_is_never_taken(before: str, now: str, role: str) -> None:
    match = match_of(before, now, role=role)
    assert (match.ref, match.found) == (None, None)
    assert match.level in ("missing", "ambiguous")


def test_a_synonym_without_any_other_sign_is_not_enough() -> None:
    assert match_of("Log in", "Sign in", same_place=False).level == "ambiguous"


def test_two_that_are_about_as_good_are_ambiguous() -> None:
    page = Page()
    button = page("button Log in")
    page.show(page("form", page("textbox Password"), button))
    target = described(page, button)
    page.show(page("form", page("textbox Password"), page("button Sign in"), page("button Sign in")))
    match = found(page, target)
    assert (match.level, len(match.candidates)) == ("ambiguous", 2)


def test_a_redesign_with_other_words_around() -> None:
    page = Page()
    user, password, login = page("textbox User"), page("textbox Password"), page("button Log in")
    page.show(page("form Log in", user, password, login))
    targets = [described(page, each) for each in (user, password, login)]
    user.name, password.name, login.name = "User name", "Your password", "Sign in"
    page.show(
        page("link Home"),
        page("main", page("region Sign in", page("group", user), password, login)),
        page("link Sign in"),
    )
    assert [found(page, each).ref for each in targets] == [
        f"e{each.number}" for each in (user, password, login)
    ]


def test_a_name_of_a_variable_is_that_name_only() -> None:
    page = Page()
    link = page("link Log in")
    page.show(page("main Shop", page("link One"), link, page("link Two")))
    target = attrs.evolve(described(page, link), name="${thing}")
    assert found(page, target, Values({"thing": "Log in"})).level == "exact"
    match = found(page, target, Values({"thing": "Sign in"}))
    assert (match.level, match.ref) == ("missing", None)


def test_a_secret_is_in_no_reason() -> None:
    page = Page()
    page.show(page("button canary-7"))
    match = found(
        page, Target(role="button", name="${code}"), Values({"code": "canary-7"}, frozenset({"code"}))
    )
    assert match.level == "exact"
    for name in ("${code}", "Other ${code}"):
        match = found(page, Target(role="link", name=name), Values({"code": "canary-7"}, frozenset({"code"})))
        assert match.ref is None
        assert "canary" not in repr(match)


# --- frames --------------------------------------------------------------------------------------------------


def in_frames(page: Page, *frames: tuple[str, str, tuple[El, ...]]) -> None:
    page.show(*[page(f"iframe {name}", *children, url=url) for name, url, children in frames])


def test_the_frame_is_a_part_of_what_an_element_is() -> None:
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


def test_an_element_of_the_page_is_not_looked_for_in_its_frames() -> None:
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
def test_after_one_change_it_is_the_right_one_or_none(kind: str) -> None:
    levels: list[str] = []
    for seed in range(120):
        page = ChangingPage(random.Random(f"{kind} {seed}")).fill()
        levels.append(after(page, (kind,), seed).level)
    if kind in ("remove", "replace", "to a frame"):
        assert set(levels) <= {"missing", "ambiguous"}
    else:
        assert levels.count("exact") + levels.count("healed") > 60, levels


def test_after_several_changes_it_is_the_right_one_or_none() -> None:
    for seed in range(400):
        roll = random.Random(seed)
        kinds = tuple(roll.choice(CHANGES) for _ in range(roll.randint(2, 5)))
        after(ChangingPage(roll).fill(), kinds, seed)


def after(page: ChangingPage, kinds: tuple[str, ...], seed: int) -> TargetMatch:
    """Look for an element that was described before the changes; the match is right, or there is none."""
    el = page.random.choice(page.controls())
    target, number = described(page, el), el.number
    there = True
    for kind in kinds:
        # A copy beside what was taken away or renamed is a page that was drawn anew: the copy is the element.
        if there and not (kind == "duplicate" and len(kinds) > 1):
            there = change(page, el, kind)
    match = found(page, target)
    assert match.ref in (None, f"e{number}" if there else None), (seed, kinds, match.reason)
    assert (match.ref is not None) == (match.level in ("exact", "healed"))
    return match


# --- the parts of a page -------------------------------------------------------------------------------------


def test_a_field_of_its_name_in_another_form_is_not_it() -> None:
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
    assert "in another part of the page now" in match.reason


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


def test_its_name_elsewhere_and_its_meaning_in_other_words_is_not_sure() -> None:
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


def test_of_two_the_one_in_its_own_part_is_it() -> None:
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


def test_a_name_that_says_more_may_be_another_thing() -> None:
    page = Page()
    weekly = page("checkbox Weekly summary")
    page.show(page("form Settings", page("checkbox Mail"), weekly, page("checkbox Text messages")))
    target = described(page, weekly)
    partners = page("checkbox Weekly summary of our partners")
    page.show(page("form Settings", partners, page("checkbox Text messages"), page("checkbox Mail")))
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)


def test_a_label_is_no_neighbour_of_its_own_field() -> None:
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


def test_an_article_says_its_name_and_not_its_price() -> None:
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
