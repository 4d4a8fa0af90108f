"""Highlight: a node marked for people to see, by Chrome's own overlay.

Rule: the overlay is drawn over the page and is no part of it: no DOM change, no event, nothing that a script of
the page could notice. It is taken away with the block.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from cdpengine._input.in_page import stale
from cdpengine._page.node import Node
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError, SessionGoneError

_COLOR = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")


def check_color(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb". Raises InvalidArgumentError."""
    found = _COLOR.fullmatch(color) if isinstance(color, str) else None
    if found is None:
        raise InvalidArgumentError(
            what="color", given=repr(color)[:40], expected='a colour such as "#6fa8dc"'
        )
    red, green, blue = (int(part, 16) for part in found.groups())
    return red, green, blue


@asynccontextmanager
async def highlighted(node: Node, color: tuple[int, int, int], *, info: bool) -> AsyncIterator[None]:
    """Keep the node marked while the block runs; `info` adds its name, size and role beside it.

    One node a session: another highlight takes its place. Raises StaleRefError for a node that is gone.
    """
    red, green, blue = color
    fill = {"r": red, "g": green, "b": blue, "a": 0.45}
    line = {"r": red, "g": green, "b": blue, "a": 1}
    config = {"contentColor": fill, "paddingColor": fill, "borderColor": line, "showInfo": info}
    session = node.session
    async with session.enabled("DOM", "Overlay"):
        try:
            await session.call(
                "Overlay.highlightNode", highlightConfig=config, backendNodeId=node.backend_node_id
            )
            yield
        except RemoteError as error:
            if error.method != "Overlay.highlightNode":
                raise
            raise stale(node, "a node of another document", "it is no longer in the document") from error
        finally:
            # Posted, not awaited: it goes out in order, also when this task is being cancelled.
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Overlay.hideHighlight")
