"""The function that finds elements by role in visible content under `aria-hidden`.

Rule: the code of the walk chooses the elements and computes their roles and names, so they equal the roles and
names in snapshots.
"""

from __future__ import annotations

from functools import cache

from cdpengine._javascript import script
from cdpengine._snapshot.sources.computed import kit_source


@cache
def unhidden_source() -> str:
    """Return the source of a function that takes one request: see unhidden.js."""
    parts = ", ".join(script(f"_snapshot/sources/walk_{part}") for part in ("dom", "elements", "beyond"))
    search = script("_page/navigation/node_search")
    find = script("_snapshot/sources/unhidden")
    hiding = script("_page/search/hiding")
    return (
        f"function (request) {{ return ({find})(request, ({search})(), {hiding}, {parts}, {kit_source()}); }}"
    )
