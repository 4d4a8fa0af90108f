"""Selectors of requests: CSS, or one criterion of `page.locate`, such as `role=button[name="Save"]`. Pure.

Rule: a string that begins with a criterion and "=" is never valid CSS, so both share the field. The criterion has
the meaning of the argument of `page.locate`. `>> nth=1` after either chooses one of several matches, from 0; -1 is
the last.
"""

from __future__ import annotations

import re
from typing import TypedDict

from cdpengine.errors import InvalidArgumentError

FORMS = 'role=button[name="Save"], text=..., label=..., placeholder=..., alt=..., title=... or testid=...'


class Criteria(TypedDict, total=False):
    """Arguments of `page.locate`."""

    css: str
    role: str
    name: str
    text: str
    label: str
    placeholder: str
    alt_text: str
    title: str
    test_id: str
    exact: bool
    nth: int


_NTH = re.compile(r"(.*?)\s*>>\s*nth=(-?\d{1,6})\s*", re.DOTALL)
_ROLE = re.compile(
    r"""role=\s*([a-zA-Z]+)\s*(?:\[\s*name\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]"']+)\s*\])?\s*(\[exact\])?\s*""",
    re.DOTALL,
)
_OTHER = re.compile(r"(css|text|label|placeholder|alt|title|testid)=(.+)", re.DOTALL)


def parse_selector(selector: str) -> Criteria | None:
    """Return the criteria of a selector, or None if it is CSS alone.

    A value in double quotes must match exactly; `role=ROLE[name="NAME"]` needs `[exact]` after it for that. Raises
    InvalidArgumentError for an unknown form of `role=` and for a missing value.
    """
    written = selector.strip()
    numbered = _NTH.fullmatch(written)
    criteria = _criterion(numbered[1] if numbered else written)
    if numbered is None:
        return criteria
    return {**(criteria or {"css": numbered[1]}), "nth": int(numbered[2])}


def starts_with_criterion(selector: str) -> bool:
    """Return whether a selector begins with a criterion and "=", which no CSS selector does."""
    return re.match(r"(?:role|css|text|label|placeholder|alt|title|testid)=", selector.lstrip()) is not None


def _criterion(written: str) -> Criteria | None:
    if written.startswith("role="):
        found = _ROLE.fullmatch(written)
        if found is None:
            raise InvalidArgumentError(
                "selector", written[:80], 'role=ROLE, or role=ROLE[name="NAME"], with or without [exact]'
            )
        criteria = Criteria(role=found[1])
        if found[2] is not None:
            criteria["name"] = _unquoted(found[2].strip())
        if found[3] is not None:
            criteria["exact"] = True
        return criteria
    found = _OTHER.fullmatch(written)
    if found is None:
        return None
    value = found[2].strip()
    exact = len(value) > 1 and value[0] == value[-1] == '"'
    if exact:
        value = _unquoted(value)
    match found[1]:
        case "css":
            return {"css": found[2].strip()}
        case "text":
            criteria = Criteria(text=value)
        case "label":
            criteria = Criteria(label=value)
        case "placeholder":
            criteria = Criteria(placeholder=value)
        case "alt":
            criteria = Criteria(alt_text=value)
        case "title":
            criteria = Criteria(title=value)
        case _:
            return {"test_id": value}
    if exact:
        criteria["exact"] = True
    return criteria


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
    return value
