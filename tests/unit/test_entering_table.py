"""The table of all ways in which a program enters text: no public method is missing in it."""

from __future__ import annotations

import pytest
from entering import WAYS, public_methods

from cdpengine._api.opening import _passwords
from cdpengine._input.devices.keys import describe_key
from cdpengine._launch.endpoint import secrets_in_endpoint
from cdpengine._network.messages import secret_values


def test_every_public_method_is_in_the_table() -> None:
    """A new method that takes text needs a way there, whose text must arrive.

    Any other method needs a reason.
    """
    assert public_methods() == set(WAYS)


@pytest.mark.parametrize(
    ("headers", "secrets"),
    [
        ({"Authorization": "Bearer abcdefgh"}, ["abcdefgh"]),
        ({"authorization": "basic YTpi"}, ["YTpi"]),
        ({"Authorization": "raw-token"}, ["raw-token"]),
        ({"X-Api-Key": "k", "Cookie": "a=b; c=d", "Proxy-Authorization": "Digest x"}, ["k", "a=b; c=d", "x"]),
        ({"Accept": "text/html", "accept-language": "de", "User-Agent": "me", "CONTENT-TYPE": "text/x"}, []),
        ({"Sec-CH-UA": "x", "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}, []),
    ],
)
def test_headers_that_can_be_secrets(headers: dict[str, str], secrets: list[str]) -> None:
    assert secret_values(headers.items()) == secrets


@pytest.mark.parametrize(
    ("endpoint", "secrets"),
    [
        ("http://127.0.0.1:9222", []),
        ("ws://127.0.0.1:9222/devtools/browser/5d3a", []),
        ("wss://host/?token=abc-def&timeout=300000&headless=true", ["abc-def"]),
        ("wss://host/?a%20key=x%2By", ["x+y"]),
        ("wss://host/?1234567890123", ["1234567890123"]),
        ("wss://host/?id=1234567890123", ["1234567890123"]),
        ("wss://ada:hush@host/", ["ada", "hush"]),
        ("wss://[broken", []),
    ],
)
def test_tokens_in_endpoints(endpoint: str, secrets: list[str]) -> None:
    assert secrets_in_endpoint(endpoint) == secrets


def test_passwords_in_switches() -> None:
    switches = [
        "--proxy-server=http://ada:hush@host:1;socks5://b:quiet@c",
        "--lang=de",
        "--app=https://a/b:c@d",
    ]
    assert _passwords(switches) == ["hush", "quiet"]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("a", "a character"),
        ("+", "a character"),
        ("Shift+A", "a character"),
        ("AltGraph+q", "a character"),
        ("Shift++", "a character"),
        ("Enter", "Enter"),
        ("Shift+Tab", "Shift+Tab"),
        ("Control+a", "Control+a"),
        ("ControlOrMeta+Shift+Z", "ControlOrMeta+Shift+Z"),
        ("Control++", "Control++"),
    ],
)
def test_names_of_actions_do_not_contain_typed_text(key: str, shown: str) -> None:
    assert describe_key(key) == shown
