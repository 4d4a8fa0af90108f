"""Element queries as selectors of requests, and templates as strings. Pure."""

from __future__ import annotations

from cdpengine.cache.templates import split
from cdpengine.codegen.steps import ElementQuery

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
