"""Element queries as strings: from descriptions of elements in messages, and from and to selectors. Pure.

Rule: a description is that of a ref, a locator or a node: `e4 checkbox "Gift"`, `button "Delete" (nth=1)`,
`label 'Name'`, `select#size`. A combination of locators is no query.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from cdpengine._snapshot.roles import check_role
from cdpengine.act.selectors import parse_selector
from cdpengine.cache.templates import escape, split
from cdpengine.codegen.recorded import ElementQuery
from cdpengine.errors import InvalidArgumentError

_PARTS = re.compile(
    r"""(?P<ref>e\d+\ )?
    (?:(?P<role>[a-z]+)(?:\ (?P<name>".*"))?)?
    (?:\ ?(?P<field>label|placeholder|test\ id|css|with\ the\ text|with\ exactly\ the\ text)
       \ (?P<value>'.*'|".*"))?
    (?:\ \(nth=(?P<nth>-?\d+)\))?""",
    re.VERBOSE | re.DOTALL,
)

_FIELDS = {
    "label": "label", "placeholder": "placeholder", "test id": "test_id", "css": "css",
    "with the text": "text", "with exactly the text": "text",
}  # fmt: skip

_CSS_NODE = re.compile(r"([a-z][a-z0-9-]*#[\w-]+)(?: .*)?", re.DOTALL)

NAMELESS_ROLES = frozenset({"generic", "paragraph"})
"""Roles whose name in a snapshot is their text. They are found by it."""

_CUT = 80
"""Length at which descriptions cut strings."""


def query_of_description(text: str) -> ElementQuery | None:
    """Return the query of a description, or None if a query cannot express it."""
    found = _PARTS.fullmatch(text)
    if found is None or not (found["role"] or found["field"]) or not _is_role(found["role"]):
        node = _CSS_NODE.fullmatch(text)
        return None if node is None else ElementQuery(css=node[1])
    arguments: dict[str, str] = {}
    name = ""
    if found["name"] is not None:
        name = _unquote(found["name"], escaped=found["ref"] is not None)
        arguments["name"] = escape(name.removesuffix("\u2026"))
    exact = found["ref"] is not None and not name.endswith("\u2026")
    if name and found["ref"] is not None and found["role"] in NAMELESS_ROLES:
        nth = None if found["nth"] is None else int(found["nth"])
        return ElementQuery(text=name.removesuffix("\u2026"), exact=exact, nth=nth)
    if found["field"] is not None:
        value = ast.literal_eval(found["value"])
        if found["field"] == "css" and len(value) >= _CUT:
            return None
        arguments[_FIELDS[found["field"]]] = value
        exact = found["field"] == "with exactly the text"
    nth = None if found["nth"] is None else int(found["nth"])
    return ElementQuery(role=found["role"] or "", exact=exact, nth=nth, **arguments)


def query_of_selector(selector: str) -> ElementQuery | None:
    """Return the query of a request's selector, or None if a query cannot express it."""
    try:
        criteria = parse_selector(selector)
    except InvalidArgumentError:
        return None
    if criteria is None:
        return ElementQuery(css=selector)
    given: dict[str, Any] = dict(criteria)
    if "alt_text" in given or "title" in given:
        return None
    if "name" in given:
        given["name"] = escape(given["name"])
    return ElementQuery(**given)


def _unquote(text: str, *, escaped: bool) -> str:
    if escaped:
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return text[1:-1]


def _is_role(role: str | None) -> bool:
    try:
        return role is None or check_role(role) == role
    except InvalidArgumentError:
        return False


# --- to selectors --------------------------------------------------------------------------------------------

_CRITERIA = {"label": "label", "placeholder": "placeholder", "test_id": "testid", "text": "text"}


def selector_of(query: ElementQuery) -> str:
    """Return the selector of `cdpengine.act.selectors` for an element. It searches all frames."""
    if query.role or query.name:
        named = f"[name={_quoted(plain(query.name))}]" if query.name or query.exact else ""
        selector = f"role={query.role or 'generic'}{named}{'[exact]' if query.exact else ''}"
    elif query.css:
        selector = f"css={query.css}"
    else:
        field = next(field for field in _CRITERIA if getattr(query, field))
        value: str = getattr(query, field)
        selector = f"{_CRITERIA[field]}={_quoted(value)}"
    return selector if query.nth is None else f"{selector} >> nth={query.nth}"


def plain(template: str) -> str:
    """Return a template as a string. Variables stay as `${name}`, and `$$` becomes a dollar."""
    return "".join(f"${{{part}}}" if is_variable else part for part, is_variable in split(template))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
