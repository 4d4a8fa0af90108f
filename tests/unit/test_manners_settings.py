"""Manners as settings: refusals, copies, and the name that selects rules."""

from __future__ import annotations

import pickle

import attrs
import pytest

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners import Manners, SeenUrls
from cdpengine.pool.manners.robots import product_token


def test_urls_are_admitted_once_if_remembered() -> None:
    assert Manners().admit("http://a.example/") is True
    manners = Manners(seen=SeenUrls())
    assert manners.admit("http://a.example/")
    assert not manners.admit("HTTP://a.example:80/#x")


def test_a_copy_has_the_settings_and_no_memory() -> None:
    manners = Manners(
        agent="mybot", at_once=5, delay=0.5, own_names=("me.example",), robots=False, seen=SeenUrls()
    )
    manners.admit("http://a.example/")
    again = pickle.loads(pickle.dumps(manners))
    for field in attrs.fields(Manners):
        if field.init and field.name != "seen":
            assert getattr(again, field.name) == getattr(manners, field.name)
    assert again.seen is None


@pytest.mark.parametrize(
    "settings",
    [
        {"agent": ""}, {"agent": "(x)"}, {"agent": "bücher"}, {"agent": "a\r\nX: y"}, {"agent": None}, {"at_once": 0},
        {"delay": -1}, {"longest_pause": float("inf")}, {"default_pause": -1}, {"default_pause": "5"}, {"proxy": "socks5://u:hunter2@a.example"}, {"proxy": "a.example:80"},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        Manners(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("mybot", "mybot"),
        ("my-bot_2.0/1 (x)", "my-bot_2.0"),
        ("Mozilla/5.0 (mybot)", "Mozilla"),
        ("/x", ""),
        ("1x", ""),
    ],
)
def test_the_name_of_an_agent_is_its_beginning(agent: str, token: str) -> None:
    assert product_token(agent) == token
