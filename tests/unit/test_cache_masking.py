"""Sentences as models see them: with names of variables instead of their values."""

from __future__ import annotations

import pytest

from cdpengine.cache.recognizing.masking import mask_address, mask_for_classifier, mask_goal


@pytest.mark.parametrize(
    ("goal", "scenario", "given", "masked"),
    [
        ("log in as grace", "login", {"username": "grace"}, "log in as ${username}"),
        ("log in as ada", "login", {"username": "grace"}, "log in as ${username}"),
        ("log in: username bob, password hunter2", "login", {}, "log in: username ${username}, password ${password}"),
        ('log in with password "a b c"', "login", {}, 'log in with password "${password}"'),
        ("登录：用户名 alice，密码 hunter2", "login", {}, "登录：用户名 ${username}，密码 ${password}"),  # noqa: RUF001
        ('log in with password "a \\"b\\""', "login", {}, 'log in with password "${password}"'),
        ("search for blue shoes", "search", {}, "search for ${query}"),
        ("order 2 books", "goal_1", {"quantity": "2"}, "order ${quantity} books"),
        ("book a room for Ada Lovelace", "goal_1", {"guest": "Ada Lovelace"}, "book a room for ${guest}"),
        ("BOOK FOR ADA LOVELACE", "goal_1", {"guest": "Ada Lovelace"}, "BOOK FOR ${guest}"),
        ("pay with card 4111111111111111", "checkout", {}, "pay with card ${card_number}"),
        ("pay with card 4111111111111112", "checkout", {}, "pay with card ..."),
        ("search for shoes, password hunter2", "search", {}, "search for ${query}, password ${password}"),
        ('click the "Help" button', "goal_1", {}, 'click the "Help" button'),
        ("add an adaptor", "goal_1", {"name": "ada"}, "add an adaptor"),
    ],
)  # fmt: skip
def test_a_planner_gets_names_in_place_of_values(
    goal: str, scenario: str, given: dict[str, str], masked: str
) -> None:
    text, known = mask_goal(goal, scenario, given)
    assert text == masked
    assert known.items() >= given.items()


def test_a_secret_of_another_scenario_keeps_its_value_for_the_plan() -> None:
    assert mask_goal("search for shoes, password hunter2", "search", {})[1] == {"password": "hunter2"}


@pytest.mark.parametrize(
    ("sentence", "given", "masked"),
    [
        ("let me in as grace, password hunter2", {}, "let me in as grace, password ${password}"),
        ("let me in as grace, password hunter2", {"username": "grace"}, "let me in as ${username}, password ${password}"),
        ('write "my secret" there', {}, "write ... there"),
        ('user "grace" wants in', {}, 'user "${username}" wants in'),
        ("card 4111111111111112 please", {}, "card ... please"),
        ("get me inside (grace, hunter2)", {}, "get me inside (..., ...)"),
    ],
)  # fmt: skip
def test_a_classifier_gets_names_in_place_of_values(
    sentence: str, given: dict[str, str], masked: str
) -> None:
    assert mask_for_classifier(sentence, given, searches=False) == masked


def test_no_value_is_in_the_address_of_a_classifier() -> None:
    known = {"username": "grace h", "id": "7"}
    assert (
        mask_address("https://a.example/u/grace%20h?q=grace+h&x=7", known) == "https://a.example/u/*?q=*&x=7"
    )
