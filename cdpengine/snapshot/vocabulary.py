"""The vocabulary of roles: what each of Chrome's roles is called in a snapshot, and of which kind it is.

Rule: a role has one name, whatever source a node came from, and what a snapshot shows can be asked for.
"""

from __future__ import annotations

from functools import cache

from cdpengine.snapshot import roles
from cdpengine.snapshot.node import Kind
from cdpengine.snapshot.text import is_token


def role_and_kind(chrome_role: str) -> tuple[str, Kind]:
    """Return what a role of Chrome's is called here, and its kind."""
    role = roles.INTERNAL_ROLES.get(chrome_role) or chrome_role.lower()
    if not is_token(role):
        role = "generic"
    return role, kind_of(role)


@cache
def kind_of(role: str) -> Kind:
    """Return the kind of a role, by the name that it has here."""
    if role in roles.INTERACTIVE_ROLES:
        return "interactive"
    return "content" if role in roles.CONTENT_ROLES else "structural"
