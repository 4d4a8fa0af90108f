"""Views: the snapshots that the caller of an actor has received, with their options.

Rule: two snapshots can be compared if they show the same document with the same options. A snapshot that an actor
takes for itself makes no ref known to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from cdpengine import Page, Snapshot


@attrs.frozen
class View:
    """A snapshot that a caller has received, with its options and its document."""

    snapshot: Snapshot
    options: Mapping[str, Any]
    document: str

    def is_like(self, options: Mapping[str, Any], document: str) -> bool:
        """Return whether a snapshot of this document with these options can be compared with it."""
        return self.document == document and self.options == options


@attrs.define(eq=False)
class Views:
    """The snapshots of a page: the last requested one, and the last complete one."""

    requested: View | None = None
    whole: View | None = None


async def take_snapshot(page: Page, **options: Any) -> Snapshot:
    """Take a snapshot. Its refs count as known to the caller only after `give`."""
    from cdpengine._api.page.snapshots import look_at_page

    return await look_at_page(page.internals, **options)


def without_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a snapshot without those that equal the defaults."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and _DEFAULTS.get(name) != value
    }


_DEFAULTS = {"mode": "role", "refs": "actions"}


def complete_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of the complete snapshot in the same mode."""
    return {name: options[name] for name in ("mode", "refs") if name in options}


def document_of(page: Page) -> str:
    """Return the loader id of the page's document, or "" without one."""
    return page.frames[0].loader_id if page.frames else ""
