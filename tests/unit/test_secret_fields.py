"""Secret fields are recognized by their kind, in each shape in which the protocol reports them."""

from __future__ import annotations

import html
import itertools
import json
import time
from typing import Any

import pytest

from cdpengine._secrets import AUTOCOMPLETE
from cdpengine.debug import Redactor
from cdpengine.debug.recording.secret_fields import is_secret_control, is_secret_meta

VALUE = "cAnArY7f3"
PIN = "4711"

SECRET: dict[str, tuple[str, dict[str, str]]] = {
    "a password": ("input", {"type": "password"}),
    "a password in capitals": ("input", {"type": "PassWord"}),
    "a hidden token": ("input", {"type": "hidden", "name": "csrf_token"}),
    "a hidden token by its id": ("input", {"type": "hidden", "id": "authenticity-token"}),
    "a masked field": ("input", {"type": "text", "style": "-webkit-text-security: disc"}),
    "a one-time password": ("input", {"name": "otp"}),
    "a choice": ("input", {"type": "checkbox", "name": "invitation-token"}),
    "a PIN": ("input", {"name": "pin"}),
    "a Chinese password": ("input", {"name": "登录密码"}),
    "a Spanish password": ("input", {"id": "contraseña"}),
    "an area": ("textarea", {"autocomplete": "one-time-code"}),
    "a card": ("input", {"autocomplete": "section-blue shipping CC-Number"}),
    **{f"autocomplete {each}": ("input", {"autocomplete": each}) for each in sorted(AUTOCOMPLETE)},
}
BY_WORDS_OF_FIELDS: dict[str, tuple[str, dict[str, str]]] = {
    "an account": ("input", {"name": "customer-iban"}),
    "a card's code": ("input", {"id": "cardCvv"}),
    "a card's number": ("input", {"name": "billing[card_number]"}),
    "a code": ("input", {"name": "code"}),
}
"""Fields that are secret by words of fields. Only messages with nodes or bodies are searched for them."""
HARMLESS: dict[str, tuple[str, dict[str, str]]] = {
    "a name": ("input", {"name": "user"}),
    "a footprint": ("input", {"id": "footprint"}),
    "a place to ship to": ("input", {"name": "shipping"}),
    "a postal code": ("input", {"name": "code", "autocomplete": "postal-code"}),
    "an option for a PIN": ("input", {"type": "radio", "name": "pin"}),
    "a button": ("input", {"type": "submit", "name": "reset_password"}),
    "hidden, and no token": ("input", {"type": "hidden", "name": "page"}),
    "an address": ("input", {"autocomplete": "street-address"}),
    "a link": ("a", {"id": "password", "type": "password"}),
}


EVERY = SECRET | BY_WORDS_OF_FIELDS


@pytest.mark.parametrize(("tag", "attributes"), EVERY.values(), ids=EVERY.keys())
def test_a_secret_field(tag: str, attributes: dict[str, str]) -> None:
    assert is_secret_control(tag, attributes)


@pytest.mark.parametrize(("tag", "attributes"), HARMLESS.values(), ids=HARMLESS.keys())
def test_a_harmless_field(tag: str, attributes: dict[str, str]) -> None:
    assert not is_secret_control(tag, attributes)


def test_meta_elements() -> None:
    assert is_secret_meta("meta", {"name": "csrf-token"})
    assert is_secret_meta("meta", {"property": "api_token"})
    assert not is_secret_meta("meta", {"name": "csrf-param"})
    assert not is_secret_meta("meta", {"name": "viewport"})


# --- shapes ------------------------------------------------------------------------------------------------------


def listed(attributes: dict[str, str], value: str) -> list[str]:
    return [*itertools.chain.from_iterable(attributes.items()), "value", value]


def as_node(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    """Return a field as DOM.describeNode does, with the shadow tree that contains its text."""
    text = {"nodeName": "#text", "nodeType": 3, "nodeValue": value}
    inner: dict[str, Any] = {"nodeName": "DIV", "attributes": ["pseudo", "x"], "children": [text]}
    node: dict[str, Any] = {
        "nodeName": tag.upper(),
        "localName": tag,
        "attributes": listed(attributes, value),
    }
    node["shadowRoots"] = [{"nodeName": "#document-fragment", "children": [inner]}]
    return {"id": 1, "result": {"node": node}}, "DOM.describeNode"


def as_snapshot(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    """Return a field as DOMSnapshot.captureSnapshot does: its value, and the text within it."""
    strings = ["HTML", tag.upper(), "#text", value, "kept text", *attributes, *attributes.values()]
    pairs = [strings.index(each, 5) for pair in attributes.items() for each in pair]
    nodes = {
        "nodeName": [0, 1, 2, 2],
        "parentIndex": [-1, 0, 1, 0],
        "attributes": [[], pairs, [], []],
        "nodeValue": [-1, -1, 3, 4],
        "inputValue": {"index": [1], "value": [3]},
    }
    layout = {"nodeIndex": [2, 3], "text": [3, 4]}
    document = {"nodes": nodes, "layout": layout}
    return {"id": 1, "result": {"documents": [document], "strings": strings}}, "DOMSnapshot.captureSnapshot"


def as_markup(tag: str, attributes: dict[str, str], value: str) -> str:
    written = "".join(f' {name}="{html.escape(given)}"' for name, given in attributes.items())
    if tag == "textarea":
        return f"<p>kept text<textarea{written}>{value}</textarea>"
    return f'<p>kept text<{tag}{written} value="{value}"><b>'


def as_body(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    body = as_markup(tag, attributes, value)
    return {"id": 1, "result": {"body": body, "base64Encoded": False}}, "Network.getResponseBody"


def as_script(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    source = f"render({json.dumps(as_markup(tag, attributes, value))})"
    return {"id": 1, "result": {"scriptSource": source}}, "Debugger.getScriptSource"


def as_entities(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    text = html.escape(as_markup(tag, attributes, value))
    return {"method": "Runtime.consoleAPICalled", "params": {"args": [{"value": text}]}}, ""


def as_mhtml(tag: str, attributes: dict[str, str], value: str) -> tuple[dict[str, Any], str]:
    data = as_markup(tag, attributes, value).replace("=", "=3D")
    return {"id": 1, "result": {"data": data}}, "Page.captureSnapshot"


SHAPES = [as_node, as_snapshot, as_body, as_script, as_entities, as_mhtml]


@pytest.mark.parametrize("value", [VALUE, PIN])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("tag", "attributes"), SECRET.values(), ids=SECRET.keys())
def test_its_value_is_removed_from_every_shape(
    tag: str, attributes: dict[str, str], shape: Any, value: str
) -> None:
    message, method = shape(tag, attributes, value)
    clean = Redactor().redact(json.dumps(message, separators=(",", ":")).encode(), method).decode()
    assert value not in clean
    assert "[redacted]" in clean
    if shape not in (as_node, as_mhtml):
        assert "kept text" in clean


@pytest.mark.parametrize("shape", [as_node, as_snapshot, as_body, as_mhtml])
@pytest.mark.parametrize(("tag", "attributes"), BY_WORDS_OF_FIELDS.values(), ids=BY_WORDS_OF_FIELDS.keys())
def test_words_of_fields_are_found_in_nodes_and_bodies(
    tag: str, attributes: dict[str, str], shape: Any
) -> None:
    test_its_value_is_removed_from_every_shape(tag, attributes, shape, VALUE)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("tag", "attributes"), HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_values_stay_in_every_shape(tag: str, attributes: dict[str, str], shape: Any) -> None:
    message, method = shape(tag, attributes, VALUE)
    raw = json.dumps(message, separators=(",", ":")).encode()
    assert Redactor().redact(raw, method) is raw


def test_a_value_seen_in_a_field_is_removed_from_other_messages_too() -> None:
    redactor = Redactor()
    message, method = as_node(*SECRET["a hidden token"], VALUE)
    redactor.redact(json.dumps(message).encode(), method)
    assert VALUE not in redactor.text(f"the token is {VALUE}")


# --- the accessibility tree --------------------------------------------------------------------------------------


def ax_nodes() -> list[dict[str, Any]]:
    editable = [{"name": "editable", "value": {"type": "token", "value": "plaintext"}}]
    text = {
        "parentId": "2",
        "role": {"value": "StaticText"},
        "properties": editable,
    }  # Chrome sets it on text nodes, too
    return [
        {"nodeId": "1", "role": {"value": "RootWebArea"}, "name": {"value": "Pay"}, "childIds": ["2", "5"]},
        {
            "nodeId": "2",
            "role": {"value": "textbox"},
            "name": {"value": "Card number"},
            "value": {"type": "string", "value": PIN},
            "properties": editable,
            "childIds": ["3"],
        },
        {"nodeId": "3", **text, "name": {"value": PIN}, "childIds": ["4"]},
        {"nodeId": "4", "parentId": "3", "role": {"value": "InlineTextBox"}, "name": {"value": PIN}},
        {"nodeId": "5", "role": {"value": "slider"}, "name": {"value": "How many"}, "value": {"value": "12"}},
    ]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("place", ["result", "params"])
def test_values_of_text_fields_are_removed_from_an_accessibility_tree(place: str, order: int) -> None:
    message: dict[str, Any] = {"id": 1, place: {"nodes": ax_nodes()[::order]}}
    clean = json.loads(Redactor().redact(json.dumps(message).encode(), "Accessibility.getFullAXTree"))
    nodes = {node["nodeId"]: node for node in clean[place]["nodes"]}
    assert PIN not in json.dumps(clean)
    assert nodes["2"]["name"]["value"] == "Card number"
    assert nodes["5"]["value"]["value"] == "12"
    assert nodes["1"]["name"]["value"] == "Pay"


# --- hostile markup
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup",
    [
        '<input a="' * 25_000,
        "<input " + "x=" * 100_000,
        "".join("<input a=" + "\\" * (number % 500) + '"' for number in range(1_000)),
        "<input" + " " * 250_000,
        "<textarea autocomplete=one-time-code>" * 5_000,
    ],
    ids=["quotes", "attributes", "backslashes", "blanks", "areas"],
)
def test_no_markup_makes_it_slow(markup: str) -> None:
    began = time.process_time()
    Redactor().text(markup)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "broken", ['<input type="password', "<input type=password value=", '<input value="a', "<input"]
)
def test_truncated_markup_is_harmless(broken: str) -> None:
    assert Redactor().text(broken).startswith("<input")
