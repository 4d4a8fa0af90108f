"""Templates: recognized, filled completely or not at all, and never filled twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._secrets import is_sensitive_name
from cdpengine.act import ActRequest, Check, Click, Drag, Fill, FormField, Navigate, Press, Select, Type
from cdpengine.cache import escape, fill, fill_request, find_variables, request_variables
from cdpengine.cache.templates import holds_typed_text, shown_variables
from cdpengine.errors import InvalidArgumentError, VariablesError


@pytest.mark.parametrize(
    ("template", "names", "text"),
    [
        ("", (), ""),
        ("plain $5 and $", (), "plain $5 and $"),
        ("${a}", ("a",), "1"),
        ("${a}${b_2}-${a}", ("a", "b_2"), "12-1"),
        ("$${a}", (), "${a}"),
        ("$$${a}", ("a",), "$1"),
        ("$$$${a}", (), "$${a}"),
        ("$$", (), "$"),
        ("{a}", (), "{a}"),
    ],
)
def test_templates(template: str, names: tuple[str, ...], text: str) -> None:
    assert find_variables(template) == names
    assert fill(template, {"a": "1", "b_2": "2", "unused": "x"}) == text


@pytest.mark.parametrize("template", ["${", "${}", "${a b}", "${1a}", "${a", "x ${ä}", f"${{{'a' * 65}}}"])
def test_a_broken_template_is_refused(template: str) -> None:
    with pytest.raises(InvalidArgumentError):
        find_variables(template)


@given(st.text())
def test_an_escaped_text_is_filled_in_to_itself(text: str) -> None:
    assert find_variables(escape(text)) == ()
    assert fill(escape(text), {}) == text


@given(st.text(), st.text(), st.text())
def test_a_value_is_never_a_template(before: str, value: str, after: str) -> None:
    template = f"{escape(before)}${{x}}{escape(after)}"
    assert fill(template, {"x": value}) == before + value + after


REQUESTS: list[tuple[ActRequest, ActRequest]] = [
    (Type(ref="t1", text="Hi ${user}", submit=True), Type(ref="t1", text="Hi ada", submit=True)),
    (Press(key="${key}"), Press(key="Enter")),
    (Navigate(url="https://a.example/${user}"), Navigate(url="https://a.example/ada")),
    (Select(ref="t1", values=("${user}", "b")), Select(ref="t1", values=("ada", "b"))),
    (
        Fill(fields=(FormField(ref="t1", value="${user}"), FormField(ref="t2", value=True), FormField(ref="t3", value=("${key}",)))),
        Fill(fields=(FormField(ref="t1", value="ada"), FormField(ref="t2", value=True), FormField(ref="t3", value=("Enter",)))),
    ),
    (Click(ref="t1"), Click(ref="t1")),
    (Drag(start_ref="t1", end_ref="t2"), Drag(start_ref="t1", end_ref="t2")),
    (Check(ref="t1", checked=False), Check(ref="t1", checked=False)),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "filled"), REQUESTS, ids=lambda each: each.kind)
def test_requests_are_filled_in(request_: ActRequest, filled: ActRequest) -> None:
    values = {"user": "ada", "key": "Enter"}
    assert fill_request(request_, values) == filled
    assert set(request_variables(request_)) <= values.keys()


def test_an_undefined_variable_in_any_action_raises_an_error_that_lists_all() -> None:
    request = Fill(
        fields=(
            FormField(ref="t1", value="${user}"),
            FormField(ref="t2", value="${password}"),
            FormField(ref="t3", value="${code}"),
        )
    )
    with pytest.raises(VariablesError) as caught:
        fill_request(request, {"password": "hunter2"})
    assert caught.value.missing == ["user", "code"]
    assert "user, code" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value, LookupError)


def test_a_value_that_is_not_a_string_is_refused_without_being_repeated() -> None:
    with pytest.raises(
        InvalidArgumentError, match="value of a: got a int, expected a text|got an int"
    ) as caught:
        fill("${a}", {"a": 4711})  # type: ignore[dict-item]
    assert "4711" not in str(caught.value)


def test_many_undefined_variables_are_all_in_the_error_and_its_message_is_short() -> None:
    names = [f"variable_{number}" for number in range(200)]
    with pytest.raises(VariablesError) as caught:
        fill("".join(f"${{{name}}}" for name in names), {})
    assert list(caught.value.missing) == names
    assert len(str(caught.value)) <= 400


def test_which_variables_a_repr_would_show() -> None:
    assert shown_variables(Navigate(url="https://a.example/${a}")) == {"a"}
    assert shown_variables(Select(ref="t1", values=("${a}",))) == {"a"}
    for request in (
        Type(ref="t1", text="${a}"),
        Fill(fields=(FormField(ref="t1", value="${a}"),)),
        Press(key="${a}"),
    ):
        assert shown_variables(request) == frozenset()
        assert "hunter2" not in repr(fill_request(request, {"a": "hunter2"}))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Type(ref="t1", text="${a}"), False),
        (Type(ref="t1", text="${a}!"), True),
        (Type(ref="t1", text=" ${a} ${b}"), False),
        (Press(key="Enter"), False),
        (Press(key="a"), True),
        (Fill(fields=(FormField(ref="t1", value=True),)), False),
        (Fill(fields=(FormField(ref="t1", value=("${a}", "x")),)), True),
        (Navigate(url="https://a.example/"), False),
    ],
)
def test_typed_text_is_distinguished_from_variables(request_: ActRequest, expected: bool) -> None:
    assert holds_typed_text(request_) is expected


@pytest.mark.parametrize(
    ("name", "sensitive"),
    [
        ("password", True), ("verification_code", True), ("pin_code", True), ("code", True), ("otp", True),
        ("card_number", True), ("api_token", True), ("postal_code", False), ("Postal_Code", False), ("my_pin", True), ("code_2", True), ("pinned", False), ("code_area", True),
        ("zipcode", False), ("country_code", False), ("user", False), ("query", False),
    ],
)  # fmt: skip
def test_a_variable_is_sensitive_by_its_name(name: str, sensitive: bool) -> None:
    assert is_sensitive_name(name) is sensitive
