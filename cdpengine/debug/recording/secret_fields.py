"""Secret fields of pages, recognised wherever the protocol reports elements. Pure.

Rule: these fields are secret: passwords; fields whose `autocomplete`, name or id names a secret; fields masked by
their style; meta elements named like a token. An accessibility tree does not distinguish text fields, so the
content of all text fields counts as entered.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from cdpengine._secrets import CHOICES, NAMED, UNTYPED, autocomplete_variable, field_variable, is_secret_name
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.secret_words import Search

Hide = Callable[[str], str]
"""Function that returns the replacement of a secret, and may remember the secret."""

_CONTROLS = frozenset({"input", "textarea", "select"})
_META_NAMES = ("name", "property", "id", "http-equiv")
_NAMES = ("name", "id")
_OF_NAMES = re.compile(r"(?:param|header|name)$", re.IGNORECASE)
"""Meta elements with the name of a token's parameter instead of the token (csrf-param)."""


def is_secret_control(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether a form control is secret, by its tag and attributes (lower-case names)."""
    if tag not in _CONTROLS:
        return False
    kind = attributes.get("type", "text").strip().lower() if tag == "input" else "text"
    if kind == "password":
        return True
    if kind in UNTYPED and kind not in CHOICES:
        return False
    autocomplete = attributes.get("autocomplete", "")
    if (
        autocomplete_variable(autocomplete) is not None
        or "text-security" in attributes.get("style", "").lower()
    ):
        return True
    names = tuple(attributes.get(name, "") for name in _NAMES)
    if any(map(NAMED.search, names)):
        return True
    if kind in CHOICES:
        return False
    return any(map(is_secret_name, names)) or field_variable(names, autocomplete) is not None


def is_secret_meta(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether a meta element contains a secret, such as a token against forged requests."""
    if tag != "meta":
        return False
    names = [attributes.get(name, "") for name in _META_NAMES]
    return any(NAMED.search(name) is not None and not _OF_NAMES.search(name) for name in names)


# --- nodes of the DOM domain -----------------------------------------------------------------------------------


def hide_in_attributes(tag: str, listed: Sequence[Any], hide: Hide) -> tuple[list[Any], bool]:
    """Return a node's attributes (name, value, ...) without secrets, and whether it is a secret field."""
    named = dict(zip(map(str, listed[::2]), map(str, listed[1::2]), strict=False))
    attributes = {name.lower(): value for name, value in named.items()}
    secret = is_secret_control(tag, attributes)
    if not secret and not is_secret_meta(tag, attributes):
        return list(listed), False
    attribute = "value" if secret else "content"
    clean = list(listed)
    for place in range(0, len(clean) - 1, 2):
        if str(clean[place]).lower() == attribute and isinstance(clean[place + 1], str):
            clean[place + 1] = hide(clean[place + 1])
    return clean, secret


# --- DOMSnapshot -------------------------------------------------------------------------------------------------


def hide_in_dom_snapshot(result: dict[str, Any], hide: Hide) -> dict[str, Any]:
    """Return the result of DOMSnapshot.captureSnapshot without the content of secret fields.

    Nodes refer to strings in a shared table, so equal strings elsewhere are removed too.
    """
    strings = result.get("strings")
    documents = result.get("documents")
    if not isinstance(strings, list) or not isinstance(documents, list):
        return result
    places: set[int] = set()
    for document in documents:
        places |= _secret_places(document, strings)
    clean = list(strings)
    for place in places:
        if isinstance(clean[place], str) and clean[place]:
            clean[place] = hide(clean[place])
    return {**result, "strings": clean}


def _secret_places(document: Any, strings: Sequence[Any]) -> set[int]:
    """Return the table positions of the strings of a document's secret fields."""
    nodes = document["nodes"]
    size = len(strings)

    def text(place: Any) -> str:
        found = strings[place] if isinstance(place, int) and 0 <= place < size else ""
        return found if isinstance(found, str) else ""

    places: set[int] = set()
    fields: set[int] = set()
    names = nodes.get("nodeName", [])
    for node, listed in enumerate(nodes.get("attributes", [])):
        tag = text(names[node]).lower() if node < len(names) and listed else ""
        if tag not in _CONTROLS and tag != "meta":
            continue
        attributes = {
            text(name).lower(): (text(value), value)
            for name, value in zip(listed[::2], listed[1::2], strict=False)
        }
        plain = {name: value for name, (value, _) in attributes.items()}
        if is_secret_control(tag, plain):
            fields.add(node)
            if "value" in attributes:
                places.add(attributes["value"][1])
        elif is_secret_meta(tag, plain) and "content" in attributes:
            places.add(attributes["content"][1])
    for name in ("inputValue", "textValue"):
        rare = nodes.get(name) or {}
        pairs = zip(rare.get("index", []), rare.get("value", []), strict=False)
        places |= {value for node, value in pairs if node in fields}
    if fields:
        inside = _with_descendants(fields, nodes.get("parentIndex", []))
        places |= {value for node, value in enumerate(nodes.get("nodeValue", [])) if node in inside}
        layout = document.get("layout") or {}
        drawn = zip(layout.get("nodeIndex", []), layout.get("text", []), strict=False)
        places |= {value for node, value in drawn if node in inside}
    return {place for place in places if isinstance(place, int) and 0 <= place < size}


def _with_descendants(nodes: set[int], parents: Sequence[int]) -> set[int]:
    inside = set(nodes)
    for node, parent in enumerate(parents):  # parents precede their children
        if parent in inside:
            inside.add(node)
    return inside


# --- the accessibility tree ------------------------------------------------------------------------------------


def hide_in_ax_nodes(nodes: Sequence[Any], hide: Hide) -> list[Any]:
    """Return nodes of an accessibility tree without the content of text fields.

    Text fields are the editable nodes. Their values and the text nodes below them are removed. Order does not
    matter.
    """
    children: dict[Any, list[Any]] = {}
    fields: set[Any] = set()
    for node in nodes:
        if isinstance(node, dict):
            children.setdefault(node.get("nodeId"), []).extend(node.get("childIds", ()))
            children.setdefault(node.get("parentId"), []).append(node.get("nodeId"))
            if _is_editable(node):
                fields.add(node.get("nodeId"))
    below: set[Any] = set()
    waiting = [child for field in fields for child in children.get(field, ())]
    while waiting:
        number = waiting.pop()
        if number not in below:
            below.add(number)
            waiting.extend(children.get(number, ()))

    def clean(node: Any) -> Any:
        number = node.get("nodeId") if isinstance(node, dict) else None
        if number is None or (number not in below and number not in fields):
            return node
        return _drop_texts(node, ("value", "name") if number in below else ("value",), hide)

    return list(map(clean, nodes))


def _is_editable(node: Mapping[str, Any]) -> bool:
    listed = node.get("properties")
    return isinstance(listed, list) and any(
        isinstance(each, dict) and each.get("name") == "editable" for each in listed
    )


def _drop_texts(node: dict[str, Any], names: Sequence[str], hide: Hide) -> dict[str, Any]:
    clean = dict(node)
    for name in names:
        value = clean.get(name)
        if isinstance(value, dict) and isinstance(value.get("value"), str) and value["value"]:
            without = {key: each for key, each in value.items() if key != "sources"}
            clean[name] = {**without, "value": hide(value["value"])}
    return clean


# --- markup ----------------------------------------------------------------------------------------------

_OPENED = re.compile(r"(?:<|&lt;|\\u003[cC])(input|meta|textarea|select)(?![\w\-])", re.IGNORECASE)
_AREA_CLOSED = re.compile(r"(?:<|&lt;|\\u003[cC])\\?/textarea", re.IGNORECASE)
_CLOSED = re.compile(r">|&gt;|\\u003[eE]|<")
_NAME = re.compile(r"""[^\s"'<>=/\\&]+""")
_EQUALS = re.compile(r"\s*=(?:3[dD])?\s*")  # "=3D" in quoted-printable content (MHTML)
_QUOTE = re.compile(r"""\\*["']|&quot;|&#(?:34|39|x22|x27);""")
_BARE = re.compile(r"""[^\s"'<>`\\&]+""")
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_LONGEST_TAG = 8_192
"""Maximum tag length, in characters. Longer tags are skipped so that hostile markup stays cheap."""

_MARKUP = Search(dict.fromkeys(("<input", "<meta", "<textarea", "<select", "&lt;", "003c"), ""))


@attrs.frozen
class _Attribute:
    """An attribute of a tag: its lower-case name, and the start and end of its value."""

    name: str
    start: int
    end: int


def hide_in_markup(text: str, hide: Hide) -> str:
    """Return a string without the values of secret fields in its HTML, escaped or not."""
    if not _MARKUP.is_in(text.lower().encode("utf-8", "surrogatepass")):
        return text
    pieces: list[str] = []
    done = 0

    def take_out(start: int, end: int) -> None:
        nonlocal done
        content = text[start:end]
        if start >= done and content and content != REDACTED:
            hide(html.unescape(content))
            pieces.extend((text[done:start], REDACTED))
            done = end

    for opened in _OPENED.finditer(text):
        if opened.start() < done:
            continue
        tag = opened[1].lower()
        found, end = _read_attributes(text, opened.end())
        attributes = {each.name: _unescape(text[each.start : each.end]) for each in found}
        secret = is_secret_control(tag, attributes)
        attribute = "value" if secret else "content" if is_secret_meta(tag, attributes) else ""
        for each in found:
            if each.name == attribute:
                take_out(each.start, each.end)
        if secret and tag == "textarea":
            closed = _AREA_CLOSED.search(text, end)
            take_out(end, len(text) if closed is None else closed.start())
    return "".join((*pieces, text[done:])) if pieces else text


def _unescape(value: str) -> str:
    """Return an attribute's value without the escapes of HTML and of strings in scripts."""
    return html.unescape(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), value))


def _read_attributes(text: str, at: int) -> tuple[list[_Attribute], int]:
    """Return the attributes of a tag after its name, and the end of the tag."""
    limit = min(len(text), at + _LONGEST_TAG)
    found: list[_Attribute] = []
    while at < limit:
        if closed := _CLOSED.match(text, at):
            return found, closed.end()
        name = _NAME.match(text, at, limit)
        if name is None:
            at += 1
            continue
        at = name.end()
        equals = _EQUALS.match(text, at, limit)
        if equals is None:
            continue
        at = equals.end()
        if quote := _QUOTE.match(text, at, limit):
            start = quote.end()
            at = text.find(quote[0], start, limit)
            if at < 0:
                if limit == len(text):  # cut off within the value
                    found.append(_Attribute(name[0].lower(), start, limit))
                return found, limit
            found.append(_Attribute(name[0].lower(), start, at))
            at += len(quote[0])
        elif bare := _BARE.match(text, at, limit):
            found.append(_Attribute(name[0].lower(), *bare.span()))
            at = bare.end()
    return found, at
