"""Node: one DOM node, named the way every layer above can act on it.

Rule: a backend node id counts per renderer process, so a node is always (session, backend node id), never the
id alone. Whether the id still means what its owner thinks it means is checked before a Node is made.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from cdpengine._protocol.session import Session


def _always() -> bool:
    return True


@attrs.frozen
class Node:
    """A DOM node and the session that it can be reached through.

    `frame_id` is the frame whose document holds the node; it may be a same-process child frame of the session's
    target. `description` is for people, such as 'e7 button "Log in"': error messages name the node by it. `valid`
    tells whether the frame still shows the document that the id was given for, as far as Chrome has reported: to
    be asked after Chrome's answer, for another document may have answered.
    """

    session: Session
    backend_node_id: int
    frame_id: str
    description: str
    valid: Callable[[], bool] = attrs.field(default=_always, eq=False, repr=False)
