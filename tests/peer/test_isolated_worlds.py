"""Nodes resolved in the engine's worlds together with the library: the calls sent together, and the cached
state.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import pytest
import trio
from scripting import attach

from cdpengine._page.scripts.page_functions import Node, RemoteHandle, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Connection, Session
from cdpengine.errors import EvaluationFailedError
from cdpengine.testing import Hold, Request, ScriptedPeer
from cdpengine.testing.peer import Answer, Refusal

LIBRARY = "function () { return {}; }"


@attrs.define
class Renderer:
    """A page's process: its number, and the world of its document, which numbers its objects."""

    peer: ScriptedPeer
    process: int = 1
    world: int = 3
    null: bool = False
    objects: int = 0

    def __attrs_post_init__(self) -> None:
        self.peer.on("Page.createIsolatedWorld", lambda _: {"executionContextId": self.world})
        self.peer.on("DOM.resolveNode", lambda request: self._object(request, {"type": "object"}))
        self.peer.on("Runtime.callFunctionOn", self._call)

    def _call(self, request: Request) -> Answer:
        if self.null:
            return {"result": {"type": "object", "subtype": "null", "value": None}}
        made = self._object(request, {})
        return {"result": made["object"]} if isinstance(made, dict) else made

    def _object(self, request: Request, description: dict[str, Any]) -> Answer:
        if request.params["executionContextId"] != self.world:
            return Refusal(-32000, "Cannot find context with specified id")
        self.objects += 1
        return {"object": {**description, "objectId": f"{self.process}.{self.world}.{self.objects}"}}

    def asked(self) -> Counter[str]:
        """Return the number of calls of each method since the last time."""
        found = Counter(each.method for each in self.peer.received)
        self.peer.received.clear()
        return found


@pytest.fixture
def renderer(peer: ScriptedPeer) -> Renderer:
    return Renderer(peer)


async def resolve(worlds: IsolatedWorlds, session: Session, library: str | None = LIBRARY) -> RemoteHandle:
    """Resolve a node. Assert that the library, if requested, belongs to its world."""
    node = Node(session, 5, "F", "a node")
    with object_group("test") as group:
        found = await worlds.resolve(node, group, library)
    kept = worlds.library(node, found)
    assert (kept is None) is (library is None)
    assert kept is None or kept.world == found.world
    return found


async def test_the_library_arrives_with_the_node(
    connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    renderer.asked()
    await resolve(worlds, session)
    asked = renderer.asked()
    assert (
        asked["Page.createIsolatedWorld"] == asked["DOM.resolveNode"] == asked["Runtime.callFunctionOn"] == 1
    )
    await resolve(worlds, session)
    asked = renderer.asked()
    assert (asked["DOM.resolveNode"], asked["Runtime.callFunctionOn"]) == (1, 0)
    assert asked["Page.createIsolatedWorld"] == 0


async def test_a_known_world_takes_one_round_trip(
    connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    """All three calls are sent before the first answer."""
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    await worlds.context(session, "F")
    renderer.asked()
    held = Hold()
    for method in ("Page.createIsolatedWorld", "Runtime.callFunctionOn", "DOM.resolveNode"):
        peer.on(method, held)
    found: list[RemoteHandle] = []

    async def run() -> None:
        found.append(await resolve(worlds, session))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        world, library, node = await held.wait(3)
        world.reply({"executionContextId": renderer.world})
        library.reply({"result": {"type": "object", "objectId": "1.3.1"}})
        node.reply({"object": {"type": "object", "objectId": "1.3.2"}})
    assert [each.method for each in (world, library, node)] == [
        "Page.createIsolatedWorld",
        "Runtime.callFunctionOn",
        "DOM.resolveNode",
    ]
    assert found == [RemoteHandle(session, "1.3.2")]


@pytest.mark.parametrize("process", [1, 2], ids=["the same process", "another process"])
async def test_another_document_gets_a_new_library(
    process: int, connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    """Chrome rejects the number of the earlier world, or never knew it.

    The cache belongs to the new world.
    """
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    first = await resolve(worlds, session)
    renderer.process, renderer.world = process, 4
    second = await resolve(worlds, session)
    assert first.world != second.world == f"{process}.4"


async def test_a_number_that_now_names_another_world(
    connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    """Another process numbers its worlds from the start, so an equal number proves nothing."""
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    await resolve(worlds, session)
    renderer.process = 2
    found = await resolve(worlds, session)
    assert found.world == "2.3"


async def test_a_library_that_returns_no_object(
    connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    renderer.null = True
    with pytest.raises(EvaluationFailedError, match="returned no object"):
        await resolve(worlds, session)
    renderer.null = False
    await resolve(worlds, session)


async def test_without_a_library_none_is_created(
    connection: Connection, peer: ScriptedPeer, renderer: Renderer
) -> None:
    session, worlds = await attach(connection, peer, "S"), IsolatedWorlds()
    renderer.asked()
    await resolve(worlds, session, library=None)
    assert renderer.asked()["Runtime.callFunctionOn"] == 0
