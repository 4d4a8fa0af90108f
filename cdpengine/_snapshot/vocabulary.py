"""The vocabulary of roles: what each of Chrome's roles is called in a snapshot, and of which kind it is.

Rule: a role has one name, whatever source a node came from, and what a snapshot shows can be asked for by every
way to find: by that name, or by Chrome's own, which the modes aria and webarena show. What is no role is refused.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Kind
from cdpengine._snapshot.text import is_token
from cdpengine.errors import InvalidArgumentError

_WORDS = {
    "a": "link", "anchor": "link", "check": "checkbox", "dropdown": "combobox", "edit": "textbox",
    "field": "textbox", "frame": "iframe", "h1": "heading", "h2": "heading", "h3": "heading",
    "icon": "image", "input": "textbox",
    "item": "listitem", "li": "listitem", "modal": "dialog", "nav": "navigation", "number": "spinbutton",
    "password": "textbox", "picture": "image", "popup": "dialog", "range": "slider", "select": "combobox",
    "summary": "button", "td": "cell", "textarea": "textbox", "th": "columnheader", "title": "heading",
    "toggle": "switch", "tr": "row", "ul": "list",
}  # fmt: skip
"""Words that people use, and the role that is meant most often."""

_MOST_SEEN = 1000

_seen: dict[str, set[str]] = {}
"""Roles of Chrome that are in no table here and were shown all the same, by what they are called."""


def role_and_kind(chrome_role: str) -> tuple[str, Kind]:
    """Return what a role of Chrome's is called here, and its kind."""
    role = called(chrome_role)
    if chrome_role not in _table().get(role, ()) and sum(map(len, _seen.values())) < _MOST_SEEN:
        _seen.setdefault(role, set()).add(chrome_role)
    return role, kind_of(role)


def called(chrome_role: str) -> str:
    """Return what a role of Chrome's is called here; `generic` for what is no token."""
    role = roles.INTERNAL_ROLES.get(chrome_role) or chrome_role.lower()
    return role if is_token(role) else "generic"


def kind_of(role: str) -> Kind:
    """Return the kind of a role, by the name that it has here."""
    if role in roles.INTERACTIVE_ROLES:
        return "interactive"
    return "content" if role in roles.CONTENT_ROLES else "structural"


def known_roles() -> frozenset[str]:
    """Return the names here of all roles in the tables; newer browsers may show others."""
    return frozenset(_table())


def asked_role(role: object) -> str:
    """Return the name here of a role that is asked for by it, or by Chrome's own name.

    Raises InvalidArgumentError, which names the nearest ones, for what is no role.
    """
    if isinstance(role, str):
        if role in _table() or role in _seen:
            return role
        told = (
            role in roles.INTERNAL_ROLES
            or role in roles.CHROME_ROLES
            or (is_token(role.lower()) and role in _seen.get(called(role), ()))
        )
        if told and role not in roles.NEVER_FOUND:
            return called(role)
    raise InvalidArgumentError(what="role", given=repr(role)[:80], expected=_nearest(role))


def chrome_roles(role: str) -> frozenset[str]:
    """Return the roles that Chrome tells for one that has this name here."""
    return _table().get(role, frozenset()) | _seen.get(role, set())


@cache
def _table() -> dict[str, frozenset[str]]:
    """Return the roles that Chrome tells, by what they are called here."""
    table: dict[str, set[str]] = {}
    for chrome_role in roles.ARIA_ROLES | roles.CHROME_ROLES:
        table.setdefault(called(chrome_role), set()).add(chrome_role)
    return {role: frozenset(told) for role, told in table.items()}


def _nearest(role: object) -> str:
    """Say what could have been meant."""
    if not isinstance(role, str):
        return "the name of a role, such as 'button'"
    if role.lower() == "text" or role in roles.TEXT_ROLES:
        return "a role; runs of text have no ref, text= finds what holds them"
    if role in roles.ROOT_ROLES:
        return "a role; the document itself has no ref"
    if role in ("none", "presentation"):
        return "a role; elements that are nothing but presentation have no line"
    plain = role.strip().lower().replace("_", "").replace(" ", "")
    names = sorted({*known_roles(), *_seen})
    near = [name for name in names if name.replace("-", "") == plain]
    near += [_WORDS[plain]] if plain in _WORDS else []
    near += get_close_matches(plain, names, n=3, cutoff=0.6)
    if len(plain) > 2:
        near += [name for name in names if plain in name or (len(name) > 3 and name in plain)]
    near = list(dict.fromkeys(near))[:3] or ["button", "link", "textbox"]
    return "a role, such as " + ", ".join(map(repr, near)) + " (docs/snapshots.md lists all)"
