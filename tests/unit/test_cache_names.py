"""The current name of an element compared with its old name: equal, a synonym, or another thing."""

from __future__ import annotations

import attrs
import pytest
from changing_pages import SYNONYMS
from written_pages import Page, described, found

from cdpengine.act import Click, Hover
from cdpengine.cache import Step, Target, Values, is_weighty
from cdpengine.cache.matching.finding import TargetMatch
from cdpengine.cache.matching.names import is_for_one_of_many, relate_names
from cdpengine.cache.matching.vocabulary import CONCEPTS, FOR_ONE_OF_MANY, GRAVE, MODIFIERS

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


# --- another name --------------------------------------------------------------------------------------------


def match_of(before: str, now: str, *, role: str = "button", same_place: bool = True) -> TargetMatch:
    """Describe the middle one of three elements in a form, then rename it."""
    page = Page()
    middle = page(f"{role} {before}")
    page.show(page("form Account", page("textbox First"), middle, page("link Last")))
    target = described(page, middle)
    middle.name = now
    if not same_place:
        page.show(page("heading Other"), page("group", middle))
    return found(page, target)


@pytest.mark.parametrize(("before", "now"), [*SYNONYMS.items(), ("Log in", "登录"), ("Cart (3)", "Cart (4)")])
def test_a_synonym_is_healed(before: str, now: str) -> None:
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
def test_another_meaning_in_the_same_place_is_never_accepted(before: str, now: str, role: str) -> None:
    match = match_of(before, now, role=role)
    assert (match.ref, match.found) == (None, None)
    assert match.level in ("missing", "ambiguous")


def test_a_synonym_without_any_other_sign_is_not_enough() -> None:
    assert match_of("Log in", "Sign in", same_place=False).level == "ambiguous"


def test_a_longer_name_is_another_thing() -> None:
    match = match_of("Weekly summary", "Weekly summary of our partners", role="checkbox")
    assert (match.level, match.ref) == ("ambiguous", None)


def test_a_more_specific_name_may_be_another_thing() -> None:
    page = Page()
    weekly = page("checkbox Weekly summary")
    page.show(page("form Settings", page("checkbox Mail"), weekly, page("checkbox Text messages")))
    target = described(page, weekly)
    partners = page("checkbox Weekly summary of our partners")
    page.show(page("form Settings", partners, page("checkbox Text messages"), page("checkbox Mail")))
    match = found(page, target)
    assert (match.level, match.ref) == ("ambiguous", None)


def test_two_similarly_good_matches_are_ambiguous() -> None:
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


def test_a_name_from_a_variable_must_match_exactly() -> None:
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


@pytest.mark.parametrize(
    ("role", "name", "expected"),
    [
        ("button", "Pay now", True), ("button", "Delete account", True), ("button", "Send message", True),
        ("button", "Place order", True), ("button", "提交订单", True), ("menuitem", "Remove", True),
        ("link", "Delete", True), ("link", "My order", False), ("button", "Log in", False), ("button", "Next", False),
        ("button", "Cancel", False), ("button", "Search", False), ("textbox", "Pay", False), ("button", "", False),
    ],
)  # fmt: skip
def test_weighty_steps_send_pay_or_delete(role: str, name: str, expected: bool) -> None:
    target = Target(role=role, name=name)
    assert is_weighty(Step(request=Click(ref="t1"), targets={"t1": target})) is expected
    assert not is_weighty(Step(request=Hover(ref="t1"), targets={"t1": target}))
