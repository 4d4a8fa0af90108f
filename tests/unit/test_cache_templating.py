"""Entered strings become templates; secret fields; and the names of their variables."""

from __future__ import annotations

from typing import Any, get_args, get_origin, get_type_hints

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.cache import PathStep, Target, fill
from cdpengine.cache.learning.drafts import is_paste, typed_character
from cdpengine.cache.learning.fields import FieldFacts, secret_name
from cdpengine.cache.learning.outcomes import clean_target
from cdpengine.cache.learning.templating import Templating
from cdpengine.errors import InvalidArgumentError

VALUES = {
    "user": "ada",
    "full": "ada lovelace",
    "n": "7",
    "password": "hunter2",
    "goods": "鞋子",
    "empty": "",
}


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("ada", "${user}"),
        ("ada lovelace", "${full}"),
        ("I am ada lovelace, ada for short", "I am ${full}, ${user} for short"),
        ("7", "${n}"),
        ("7 of 7", "7 of 7"),
        ("Canada", "Canada"),
        ("(ada)", "(${user})"),
        ("$5 and ${x}", "$$5 and $${x}"),
        ("", ""),
        ("Ada", "Ada"),
        ("xhunter2x", "x${password}x"),
    ],
)
def test_entered_values_become_variables(text: str, template: str) -> None:
    assert Templating(VALUES).entered(text) == template


def test_a_value_of_two_characters_is_a_word_in_a_script_without_spaces() -> None:
    templating = Templating({"goods": "运动鞋"})
    assert templating.entered("搜索运动鞋吧") == "搜索${goods}吧"
    assert templating.used == {"goods"}


@given(st.text(max_size=12), st.text(max_size=4), st.text(max_size=4))
def test_a_template_is_filled_in_to_the_same_text(text: str, one: str, other: str) -> None:
    values = {"one": one, "other": other}
    assert fill(Templating(values).entered(text), values) == text


def test_the_variable_named_like_the_field_wins_among_equal_values() -> None:
    values = {"user": "ada", "first_name": "ada"}
    assert Templating(values).entered("ada") == "ada"
    assert (
        Templating(values).entered("ada", FieldFacts(tag="input", id="first-name first name"))
        == "${first_name}"
    )
    assert Templating(values, ["user"]).entered("ada") == "${user}"


def test_shown_strings_contain_no_secret() -> None:
    templating = Templating(VALUES)
    assert templating.shown("Hello ada $") == "Hello ${user} $$"
    assert templating.shown("It is HUNTER2!") is None
    assert templating.address("https://x.example/?q=hunter%32") is None
    assert templating.address("https://x.example/ada") == "https://x.example/${user}"


def test_a_secret_without_a_variable_is_recognized_and_stored_nowhere() -> None:
    field = FieldFacts(tag="input", type="password", editable=True)
    templating = Templating({})
    assert templating.entered("correct horse", field) == "${password}"
    assert templating.entered("correct horse", field) == "${password}"
    assert templating.entered("battery", field) == "${password_2}"
    assert templating.shown("say Correct horse!") is None
    assert templating.shown("say horse!") == "say horse!"
    assert templating.sensitive == {"password", "password_2"}
    for held in (repr(templating), repr(vars(templating)), repr(attrs.asdict(templating._marks))):
        assert "horse" not in held


def test_a_secret_that_is_being_entered_is_shown_nowhere() -> None:
    templating = Templating({})
    templating.set_pending("Hunter")
    assert templating.shown("you typed hunter") is None
    templating.set_pending("")
    assert templating.shown("you typed hunter") == "you typed hunter"


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        (
            "https://x.example/orders/4711?page=2&sort=up&utm_source=a",
            "https://x.example/orders/*?page=*&sort=up",
        ),
        ("https://x.example/ada/a?q=ada%20lovelace", "https://x.example/*/a?q=*"),
        ("https://x.example/people/ada-lovelace/a-b", "https://x.example/people/*/a-b"),
        ("https://x.example/items/Ada_Lovelace-7x", "https://x.example/items/*"),
        ("https://x.example/#/ada", "https://x.example/"),
        ("https://x.example/#/cart", "https://x.example/#/cart"),
        ("https://x.example/?hunter2=1&token=abc", "https://x.example/?token=*"),
        ("about:blank", None),
    ],
)
def test_the_pattern_of_a_url_contains_no_value(url: str, pattern: str | None) -> None:
    assert Templating(VALUES).pattern(url) == pattern


def test_wrong_variables_are_refused() -> None:
    with pytest.raises(InvalidArgumentError):
        Templating({"a b": "x"})
    with pytest.raises(InvalidArgumentError) as raised:
        Templating({"a": 5})  # type: ignore[dict-item]
    assert "5" not in str(raised.value)


TEXT = {"tag": "input", "type": "text", "editable": True}


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (TEXT, None),
        ({**TEXT, "type": "password"}, "password"),
        ({**TEXT, "type": "password", "autocomplete": "new-password"}, "new_password"),
        ({**TEXT, "autocomplete": "section-blue billing cc-exp-month"}, "card_expiry_month"),
        ({**TEXT, "autocomplete": "cc-given-name"}, "card_given_name"),
        ({**TEXT, "name": "cardNumber"}, "card_number"),
        ({**TEXT, "id": "cvc"}, "card_code"),
        ({**TEXT, "label": "Security code"}, "card_code"),
        ({**TEXT, "label": "Verification code"}, "code"),
        ({**TEXT, "name": "code"}, "code"),
        ({**TEXT, "name": "promo-code"}, None),
        ({**TEXT, "name": "code", "label": "Postal code"}, None),
        ({**TEXT, "name": "code", "autocomplete": "postal-code"}, None),
        ({**TEXT, "label": "Postal code"}, None),
        ({**TEXT, "name": "state"}, None),
        ({**TEXT, "label": "Footprint"}, None),
        ({**TEXT, "label": "PIN"}, "pin"),
        ({**TEXT, "label": "密码"}, "password"),
        ({**TEXT, "label": "验证码"}, "code"),
        ({**TEXT, "secret": True, "name": "Wish list"}, "wish_list"),
        ({**TEXT, "secret": True}, "secret"),
        ({"tag": "select", "autocomplete": "cc-exp-year"}, "card_expiry_year"),
        ({"tag": "input", "type": "checkbox", "editable": True, "label": "Show password"}, None),
        ({"tag": "input", "type": "submit", "editable": True, "label": "Send password"}, None),
        ({"tag": "button", "label": "Password forgotten"}, None),
        ({"tag": "div", "editable": True, "secret": True}, "secret"),
    ],
)  # fmt: skip
def test_secret_fields_and_the_names_of_their_variables(facts: dict[str, object], name: str | None) -> None:
    assert secret_name(FieldFacts(**facts)) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "character"),
    [
        ("a", "a"), ("A", "A"), ("Shift+a", "A"), ("Shift+1", "!"), ("+", "+"), ("Shift++", "+"), ("Space", " "),
        ("é", "é"), ("Enter", None), ("Control+a", None), ("Meta+V", None), ("Shift+Tab", None), ("F1", None),
    ],
)  # fmt: skip
def test_the_character_that_a_key_enters(key: str, character: str | None) -> None:
    assert typed_character(key) == character


@pytest.mark.parametrize(
    ("key", "pastes"),
    [
        ("Control+v", True),
        ("ControlOrMeta+V", True),
        ("Shift+Insert", True),
        ("v", False),
        ("Control+c", False),
    ],
)
def test_chords_that_paste(key: str, pastes: bool) -> None:
    assert is_paste(key) is pastes


def full_of(kind: type, text: str) -> Any:
    """Return an object with this string in each string field, recursively."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        inner = next((each for each in (hint, *get_args(hint)) if attrs.has(each)), None)
        if hint is str:
            values[name] = text
        elif inner is not None and inner is not PathStep:
            made = full_of(inner, text)
            values[name] = (made,) if get_origin(hint) is tuple else made
    return kind(**values)


@pytest.mark.parametrize("secret", ["hunter2", "HUNTER2"])
def test_a_target_is_cleaned_of_secrets_in_all_of_its_fields(secret: str) -> None:
    target = attrs.evolve(full_of(Target, f"say {secret}"), role="button")
    assert repr(target).count(secret) == 12
    cleaned = clean_target(target, Templating(VALUES))
    assert secret not in repr(cleaned)
    named = clean_target(Target(role="button", name="Hi ada $$", item="ada 7"), Templating(VALUES))
    assert (named.name, named.item) == ("Hi ${user} $$", "${user} 7")


def test_without_typed_text_each_entered_text_is_a_variable() -> None:
    templating = Templating({"user": "ada"}, keep_typed=False)
    assert templating.entered("ada", FieldFacts(tag="input", name="login", editable=True)) == "${user}"
    assert templating.entered("red shoes", FieldFacts(tag="input", name="q", editable=True)) == "${q}"
    assert (
        templating.entered("ada@a.example", FieldFacts(tag="input", label="E-mail", editable=True))
        == "${e_mail}"
    )
    assert templating.entered("blue hats", FieldFacts(tag="input", name="q", editable=True)) == "${q_2}"
    assert templating.entered("red shoes", FieldFacts(tag="input", name="again", editable=True)) == "${q}"
    assert templating.entered(" ", FieldFacts(tag="input", name="blank", editable=True)) == " "
    assert templating.character("j") == "${key}"
    assert templating.replaced == ["q", "e_mail", "q_2", "key"]
    assert templating.used == {"user", "q", "e_mail", "q_2", "key"}
    assert templating.sensitive == set()
    assert templating.shown("Results for red shoes") == "Results for ${q}"
