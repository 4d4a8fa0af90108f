"""Roles and names from the DOM alone: the source of the functions that work them out in the page."""

from __future__ import annotations

from functools import cache

from cdpengine.js import script


@cache
def role_and_name_source() -> str:
    """Return the source of a function that returns `{ roleOf, nameOf }`, anew at each call."""
    parts = ", ".join(f"{script(part)}()" for part in ("dom_roles", "dom_text", "secret_field"))
    return f"() => {script('dom_names')}({parts})"
