"""States of a node: whether it is visible, enabled, editable, checked and focused.

Rule: the states come from the function of the page library that actions use (`node_states.js`). So a click and a
read never disagree. A node that has left its document has no states.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from cdpengine._input.actionability.library_calls import (
    AnyHandle,
    decode_result,
    handle_on,
    known_handle,
    post_library_call,
    stale_ref_error,
)
from cdpengine._page.scripts.page_functions import Node, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.domains.accessibility import AXTree
from cdpengine.errors import RemoteError, StaleRefError

_ROLES = frozenset({"checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"})
_AX_STATES = {"true": True, "false": False, "mixed": None}


class NodeStates(msgspec.Struct):
    """The states of a node. A reason is "" if it does not apply.

    Attributes:
        connected: Whether the node is in its document. All other fields are unset if it is not.
        visible: Whether the node is visible. An option of a menu is as visible as its menu.
        invisible: Why the node is invisible for input.
        disabled: Why the node is disabled.
        uneditable: Why the node never accepts typed text.
        readonly: Why the node accepts no typed text at present.
        focused: Whether the node, or the control of a label, has the keyboard focus.
        kind: The kind of a control that can be checked ("checkbox", "radio", or its role), or "".
        checked: Whether it is checked; None for neither (indeterminate, "mixed").
        custom: Whether it is a custom element whose role and state may be in its internals.
    """

    connected: bool
    visible: bool = False
    invisible: str = ""
    disabled: str = ""
    uneditable: str = ""
    readonly: str = ""
    focused: bool = False
    kind: str = ""
    checked: bool | None = False
    custom: bool = False

    @property
    def enabled(self) -> bool:
        """Whether the node is enabled."""
        return not self.disabled

    @property
    def editable(self) -> bool:
        """Whether the node accepts typed text."""
        return not (self.disabled or self.uneditable or self.readonly)


async def read_states(node: Node, worlds: IsolatedWorlds) -> NodeStates:
    """Return the states of the node. Raises StaleRefError if it is no longer in its document."""
    known = known_handle(node, worlds)
    if known is not None:  # without a round trip to resolve the node
        with suppress(StaleRefError):
            states = await _ask(known)
            if states is not None and states.connected and node.valid():
                return states
    with object_group("states") as group:
        states = await _ask(await handle_on(node, worlds, group))
    if states is None or not states.connected:
        raise stale_ref_error(node, node.description, "it is no longer in the document")
    return states


async def is_gone(node: Node, worlds: IsolatedWorlds) -> bool:
    """Return whether the node is no longer in its document."""
    try:
        await read_states(node, worlds)
    except StaleRefError:
        return True
    return False


async def read_checked(node: Node, worlds: IsolatedWorlds) -> tuple[str, bool | None]:
    """Return the kind of a control and whether it is checked, as in `NodeStates`.

    Asks the accessibility tree about a custom element. Raises StaleRefError.
    """
    states = await read_states(node, worlds)
    if not states.kind and states.custom:
        return await read_internals(node) or ("", False)
    return states.kind, states.checked


async def read_internals(node: Node) -> tuple[str, bool | None] | None:
    """Return the role and state that the accessibility tree reports for a custom element that can be checked.

    Returns None for other elements, and for a node that is gone.
    """
    try:
        tree = await node.session.request(
            "Accessibility.getPartialAXTree",
            {"backendNodeId": node.backend_node_id, "fetchRelatives": False},
            AXTree,
        )
    except RemoteError:
        return None
    for found in tree.nodes[:1]:
        role = found.role.value if found.role is not None else ""
        if found.ignored or role not in _ROLES:
            return None
        states = [each.value.value for each in found.properties if each.name == "checked" and each.value]
        return role, _AX_STATES.get(states[0]) if states else False
    return None


async def _ask(handle: AnyHandle) -> NodeStates | None:
    call = post_library_call(handle, "states", None)
    return await decode_result(call, handle.node, NodeStates | None)  # type: ignore[arg-type]
