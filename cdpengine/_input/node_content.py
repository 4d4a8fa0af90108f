"""Content of a node: its text, markup, attributes, value and computed styles.

Rule: the content belongs to the user and may contain secrets, such as the value of a password field. So the script
is not registered as one of the engine's own, and recordings withhold its result.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from cdpengine._input.actionability.library_calls import check_not_gone, stale_ref_error
from cdpengine._javascript import script, with_dom
from cdpengine._page.scripts.page_functions import Node, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine.errors import NotInteractableError, RemoteError

Content = Literal["text_content", "inner_text", "inner_html", "attribute", "value", "style"]


class _Reply(msgspec.Struct):
    """The result of node_content.js."""

    connected: bool
    value: str | None = None
    refused: str = ""


async def read_content(
    node: Node, what: Content, worlds: IsolatedWorlds, *, name: str = "", pseudo: str | None = None
) -> str | None:
    """Return a part of the node's content; None for a missing attribute, or an unknown style property.

    `name` is the attribute or property, `pseudo` the pseudo element of a style. Raises StaleRefError if the node
    is no longer in its document, NotInteractableError if a node without a value is asked for its value.
    """
    request = {"what": what, "name": name, "pseudo": pseudo}
    with object_group("content") as group:
        try:
            found = await worlds.resolve(node, group)
        except RemoteError as error:
            raise stale_ref_error(node, node.description, "its document is gone") from error
        try:
            reply = await found.call(with_dom(script("_input/node_content")), request, returns=_Reply)
        except RemoteError as error:
            check_not_gone(node, error)
            raise
    if not reply.connected or not node.valid():
        raise stale_ref_error(node, node.description, "it is no longer in the document")
    if reply.refused and what == "value":
        raise NotInteractableError("read the value of", node.description, reply.refused)
    return reply.value
