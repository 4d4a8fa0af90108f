"""The source `computed` against a peer that loses replies, swaps documents and is cancelled at every await."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
import trio
from scripting import attach, settled

from cdpengine._page.scripts.page_functions import IsolatedWorlds
from cdpengine._protocol.connection import Connection
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.computed import read_computed
from cdpengine.errors import InvalidArgumentError, ProtocolError, RemoteError
from cdpengine.testing import SILENCE, Refusal, Request, ScriptedPeer, walk_cancellations
from cdpengine.testing.peer import Answer

GONE = Refusal(-32000, "Cannot find context with specified id")
THROWN = {"result": {"type": "object"}, "exceptionDetails": {"text": "Uncaught", "exception": {}}}


def node(backend_node_id: int, loader_id: str) -> dict[str, Any]:
    return {"type": "node", "value": {"backendNodeId": backend_node_id, "loaderId": loader_id}}


class ScriptedDocuments:
    """A frame whose document is a row of buttons; an element's backend node id is 1000 a document, plus its place.

    Each document has a function of its own: "F1" for the first one. It numbers its buttons in the order in which
    they come, as the walk does, and forgets those that it is told are known.
    """

    def __init__(self, peer: ScriptedPeer) -> None:
        self.document = 1
        self.buttons = ["a", "b"]
        self.kept: dict[int, int] = {}
        self.offered = True
        peer.on("Page.createIsolatedWorld", lambda _: {"executionContextId": 70 + self.document})
        peer.on("Runtime.evaluate", self.install)
        peer.on("Runtime.callFunctionOn", self.call)

    def replace(self, *buttons: str) -> None:
        self.document += 1
        self.buttons = list(buttons)
        self.kept = {}

    def install(self, request: Request) -> Answer:
        if request.params["contextId"] != 70 + self.document:
            return GONE
        if not self.offered:
            return {"result": {"type": "object", "subtype": "null", "value": None}}
        return {"result": {"type": "function", "objectId": f"F{self.document}"}}

    def call(self, request: Request) -> Answer:
        if request.params["objectId"] != f"F{self.document}":
            return GONE
        what = request.params["arguments"][0]["value"]
        if what["do"] == "document":
            return {"result": {"deepSerializedValue": node(1, f"loader {self.document}")}}
        if what["do"] == "walk":
            self.forget(what["known"])
            return {"result": {"type": "string", "value": json.dumps(self.walk())}}
        if what["do"] == "take":
            numbers = range(what["from"], what["to"] + 1)
            assert all(number in self.kept for number in numbers), "asked for what it said it knows"
            taken = [node(self.kept[number], f"loader {self.document}") for number in numbers]
            return {"result": {"deepSerializedValue": {"type": "array", "value": taken}}}
        self.forget(what["known"])
        return {"result": {"type": "undefined"}}

    def walk(self) -> dict[str, Any]:
        count = len(self.buttons)
        self.kept = {n: self.kept.get(n, 1000 * self.document + n) for n in range(1, count + 1)}
        return {
            "roles": ["button"],
            "depths": [0] * count,
            "kinds": [0] * count,
            "uids": list(range(1, count + 1)),
            "texts": self.buttons,
            "last": count,
            "seen": count,
        }

    def forget(self, known: int) -> None:
        assert known <= len(self.buttons)

    def right(self, document: Document) -> bool:
        """Whether the nodes are those of the document that is there, with their own ids."""
        return document.loader_id == f"loader {self.document}" and [
            (node.name, node.backend_node_id) for node in document.roots
        ] == [(name, 1000 * self.document + place) for place, name in enumerate(self.buttons, 1)]


async def request_of(connection: Connection, peer: ScriptedPeer, loader_id: str = "loader 1") -> FrameRequest:
    session = connection.targets.sessions.get("S")
    if session is None:
        session = await attach(connection, peer, "S", "T")
    return FrameRequest(session=session, worlds=IsolatedWorlds(), frame_id="T", loader_id=loader_id)


def asked(peer: ScriptedPeer) -> Sequence[str]:
    return [
        request.params["arguments"][0]["value"]["do"]
        for request in peer.received
        if request.method == "Runtime.callFunctionOn"
    ]


async def test_what_is_known_is_not_asked_for_again(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    await settled(connection)
    first = list(asked(peer))
    assert first == ["document", "walk", "take", "forget"]
    assert documents.right(await read_computed(request))
    documents.buttons.append("c")
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert asked(peer)[len(first) :] == ["walk", "walk", "take", "forget"]
    enabled = [call.method for call in peer.received].index("Accessibility.enable")
    made = [call.method for call in peer.received].index("Accessibility.getRootAXNode")
    assert enabled < made < [call.method for call in peer.received].index("Runtime.callFunctionOn")


@pytest.mark.parametrize("lost", range(1, 4))
async def test_a_lost_reply_loses_no_mapping(connection: Connection, peer: ScriptedPeer, lost: int) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    peer.on("Runtime.callFunctionOn", SILENCE, nth=lost)
    with trio.move_on_after(0.2) as waiting:
        await read_computed(request)
    assert waiting.cancelled_caught
    assert documents.right(await read_computed(request))


async def test_a_document_replaced_under_the_walk_is_read_anew(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.replace("x", "y", "z")
    assert documents.right(await read_computed(request))


async def test_a_document_replaced_between_walk_and_ids(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)

    def swap(asking: Request) -> Answer:
        documents.replace("x")
        return documents.call(asking)

    peer.on("Runtime.callFunctionOn", swap, nth=3)  # document, walk, take
    assert documents.right(await read_computed(request))


async def test_a_world_with_another_document_is_given_up(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    peer.on("Runtime.callFunctionOn", {"result": {"type": "object", "value": None}}, nth=2)
    assert documents.right(await read_computed(request))
    assert asked(peer)[:4] == ["document", "walk", "document", "walk"]


async def test_documents_without_end_are_an_error(connection: Connection, peer: ScriptedPeer) -> None:
    ScriptedDocuments(peer)
    peer.on("Runtime.callFunctionOn", GONE)
    request = await request_of(connection, peer)
    with pytest.raises(RemoteError):
        await read_computed(request)


async def test_a_browser_that_does_not_offer_it(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    documents.offered = False
    request = await request_of(connection, peer)
    with pytest.raises(InvalidArgumentError, match="computed_accessibility"):
        await read_computed(request)


async def test_a_walk_that_throws_is_reported(connection: Connection, peer: ScriptedPeer) -> None:
    ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    peer.on("Runtime.callFunctionOn", THROWN, nth=2)
    with pytest.raises(ProtocolError, match="walk"):
        await read_computed(request)


async def test_fewer_ids_than_asked_for_are_refused(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    short = {"result": {"deepSerializedValue": {"type": "array", "value": [node(1001, "loader 1")]}}}
    peer.on("Runtime.callFunctionOn", short, nth=3)
    with pytest.raises(ProtocolError, match="2 elements"):
        await read_computed(request)
    assert documents.right(await read_computed(request))


async def test_cancelled_at_each_await(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)

    async def read() -> None:
        await read_computed(request)

    async def check() -> None:
        assert documents.right(await read_computed(request))
        documents.replace("n", *documents.buttons)

    assert await walk_cancellations(read, check, own_steps_only=True) >= 5


class ScriptedParts(ScriptedDocuments):
    """Names the buttons of the walk before as one part, when it is told that this walk's answer came."""

    def __init__(self, peer: ScriptedPeer) -> None:
        super().__init__(peer)
        self.buttons = ["a", "b", "c"]
        self.number = 0
        self.told: list[int | None] = []
        self.same = False
        self.part = 1

    def call(self, request: Request) -> Answer:
        what = request.params["arguments"][0]["value"]
        if what["do"] == "walk":
            self.told.append(what["held"])
        return super().call(request)

    def walk(self) -> dict[str, Any]:
        answer = super().walk()
        if self.told[-1] is None:
            return answer
        known = self.number and self.told[-1] == self.number
        self.number += 1
        if known and self.same:
            return {"number": self.number, "same": True, "last": len(self.buttons)}
        if known:
            rows = [(0, -4, self.part, "")]
        else:
            buttons = [(0, 0, place, name) for place, name in enumerate(self.buttons, 1)]
            rows = [(0, -5, self.part, ""), *buttons, (0, -6, self.part, "")]
        columns = [list(column) for column in zip(*rows, strict=True)]
        named = dict(zip(("depths", "kinds", "uids", "texts"), columns, strict=True))
        return answer | named | {"number": self.number}


async def test_parts_are_named_only_after_their_walk_came(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    for reused in (0, 1, 1):
        document = await read_computed(request)
        assert documents.right(document)
        assert document.parts_reused == reused
    assert documents.told == [0, 1, 2]
    assert documents.right(await read_computed(attrs.evolve(request, fresh=True)))
    assert (await read_computed(request)).parts_reused == 1
    assert documents.told == [0, 1, 2, None, 3]


async def test_what_the_walk_before_said(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    documents.same = True
    first = await read_computed(request)
    for _ in range(2):
        document = await read_computed(request)
        assert documents.right(document)
        assert document is not first
        assert document.roots is first.roots
    documents.same = False
    assert documents.right(await read_computed(request))
    assert documents.told == [0, 1, 2, 3]


@pytest.mark.parametrize("lost", [2, 3, 5])
async def test_a_lost_walk_is_never_counted_on(connection: Connection, peer: ScriptedPeer, lost: int) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)

    def swallow(asking: Request) -> Answer:
        documents.call(asking)  # the page did its part
        return SILENCE

    peer.on("Runtime.callFunctionOn", swallow, nth=lost)  # document, walk, take, forget, walk
    for _ in range(3):
        with trio.move_on_after(0.2):
            assert documents.right(await read_computed(request))
    assert documents.right(await read_computed(request))
    assert documents.told[-1] in (None, 0, documents.number - 1)


async def test_a_part_that_is_not_known_makes_it_read_all(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.part = 2
    assert documents.right(await read_computed(request))
    assert documents.told == [0, 1, 0]


async def test_another_document_has_no_parts_yet(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.replace("x", "y", "z")
    documents.number = 0
    assert documents.right(await read_computed(request))
    assert documents.told[-1] == 0
