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
    they come, as the walk does, and forgets those that it is told are known. It marks those that are asked to be
    marked, and the list of listeners has them, but for those that are `gone` when it comes.
    """

    def __init__(self, peer: ScriptedPeer) -> None:
        self.document = 1
        self.buttons = ["a", "b"]
        self.kept: dict[int, int] = {}
        self.offered = True
        self.plain = True
        self.prepared = False
        self.tried: list[bool] = []
        self.marked: list[int] = []
        self.gone: set[int] = set()
        peer.on("DOM.resolveNode", lambda _: {"object": {"objectId": f"D{self.document}"}})
        peer.on("DOMDebugger.getEventListeners", self.listeners)
        peer.on("Page.createIsolatedWorld", lambda _: {"executionContextId": 70 + self.document})
        peer.on("Runtime.evaluate", self.install)
        peer.on("Runtime.callFunctionOn", self.call)

    def replace(self, *buttons: str) -> None:
        self.document += 1
        self.buttons = list(buttons)
        self.kept = {}

    def install(self, request: Request) -> Answer:
        if request.params["expression"] == "document":
            return {"result": {"type": "object", "objectId": f"D{self.document}"}}
        if request.params["contextId"] != 70 + self.document:
            return GONE
        if len(request.params["expression"]) < 1000 and not self.prepared:
            return {"result": {"type": "undefined"}}
        if not self.offered:
            return {"result": {"type": "object", "subtype": "null", "value": None}}
        document = {"type": "array", "value": [node(1, f"loader {self.document}")]}
        return {
            "result": {"type": "object", "objectId": f"F{self.document}", "deepSerializedValue": document}
        }

    def listeners(self, request: Request) -> Answer:
        if request.params["objectId"] != f"D{self.document}":
            return GONE
        marks = [
            {"type": f"mark:{number}", "useCapture": False, "backendNodeId": self.kept[number]}
            for number in self.marked
            if number in self.kept and number not in self.gone
        ]
        return {"listeners": marks}

    def call(self, request: Request) -> Answer:
        if "executionContextId" in request.params:  # what is made by a call right before it
            if request.params["executionContextId"] != 70 + self.document:
                return GONE
            if not self.prepared:
                return THROWN
        elif request.params["objectId"] != f"F{self.document}":
            return GONE
        what = request.params["arguments"][0]["value"]
        if what["do"] == "walk":
            self.forget(what["known"])
            self.tried.append(what["plain"])
            if what["plain"] and not self.plain:
                return {"result": {"type": "string", "value": json.dumps({"notPlain": True, "last": 0})}}
            answer = self.walk()
            if what["mark"]:
                self.marked = list(self.kept)
                answer["marks"] = "mark:"
            return {"result": {"type": "string", "value": json.dumps(answer)}}
        if what["do"] == "hosts":
            return {"result": {"deepSerializedValue": {"type": "array", "value": []}}}
        if what["do"] == "take":
            bounds = iter(what["ranges"])
            numbers = [number for first in bounds for number in range(first, next(bounds) + 1)]
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


async def request_of(
    connection: Connection, peer: ScriptedPeer, loader_id: str = "loader 1", *, clickables: bool = False
) -> FrameRequest:
    session = connection.targets.sessions.get("S")
    if session is None:
        session = await attach(connection, peer, "S", "T")
    return FrameRequest(
        session=session, worlds=IsolatedWorlds(), frame_id="T", loader_id=loader_id, clickables=clickables
    )


def methods(peer: ScriptedPeer) -> list[str]:
    return [request.method for request in peer.received]


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
    assert first == ["walk", "take", "forget"]
    assert documents.right(await read_computed(request))
    documents.buttons.append("c")
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert asked(peer)[len(first) :] == ["walk", "walk", "take", "forget"]


async def test_a_tree_is_made_once_a_document_is_not_plain(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    assert "Accessibility.enable" not in methods(peer)
    documents.plain = False
    assert documents.right(await read_computed(request))
    assert (
        methods(peer).count("Accessibility.enable") == methods(peer).count("Accessibility.getRootAXNode") == 1
    )
    enabled, made = (methods(peer).index(f"Accessibility.{name}") for name in ("enable", "getRootAXNode"))
    assert enabled < made < len(methods(peer)) - methods(peer)[::-1].index("Runtime.callFunctionOn")
    documents.replace("x", "y")
    before = len(peer.received)
    assert documents.right(await read_computed(attrs.evolve(request, loader_id="loader 2")))
    of_second = methods(peer)[before:]
    made, walked = of_second.index("Accessibility.getRootAXNode"), of_second.index("Runtime.callFunctionOn")
    assert made < walked, "the next documents are taken for such from the start"
    assert documents.tried == [True, True, False, False]


async def test_the_document_of_a_child_frame_is_taken_for_plain(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    documents.plain = False
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.plain = True
    before = len(peer.received)
    assert documents.right(await read_computed(attrs.evolve(request, frame_id="F", loader_id="loader F")))
    assert "Accessibility.getRootAXNode" not in methods(peer)[before:], "each tree makes all others dearer"
    assert documents.tried == [True, False, True]


@pytest.mark.parametrize("there", [True, False])
async def test_documents_to_come_hold_what_makes_the_walk(
    connection: Connection, peer: ScriptedPeer, there: bool
) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    for number in range(1, 5):
        assert documents.right(await read_computed(attrs.evolve(request, loader_id=f"loader {number}")))
        if number == 1:
            assert "Page.addScriptToEvaluateOnNewDocument" not in methods(peer), (
                "it may look at one document only"
            )
        documents.prepared = there and number > 1
        documents.replace("x", f"y{number}")
    await settled(connection)
    assert methods(peer).count("Page.addScriptToEvaluateOnNewDocument") == 1
    sent = [
        len(each.params["expression"]) > 1000 for each in peer.received if each.method == "Runtime.evaluate"
    ]
    assert sent == ([True, True, False, False] if there else [True, True, *[False, True] * 2])


def come(peer: ScriptedPeer, documents: ScriptedDocuments, *buttons: str) -> None:
    """Have another document come, with what makes the walk, and have the browser say so."""
    documents.prepared = True
    documents.replace(*buttons)
    frame = {"id": "T", "loaderId": f"loader {documents.document}", "url": "http://a.example/"}
    peer.send_event("Page.frameNavigated", {"frame": frame}, session_id="S")


async def look_at_two(connection: Connection, peer: ScriptedPeer) -> tuple[ScriptedDocuments, FrameRequest]:
    """Return the documents and a request, once what makes the walk is asked for of documents to come."""
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)
    await read_computed(request)
    documents.replace("x")
    await read_computed(attrs.evolve(request, loader_id="loader 2"))
    await settled(connection)
    return documents, request


async def test_a_document_that_was_announced_is_walked_in_one_go(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents, request = await look_at_two(connection, peer)
    come(peer, documents, "a", "b")
    await peer.wait_for("Page.createIsolatedWorld", 3)  # asked for when the document came
    held, before = peer.hold("Runtime.evaluate"), len(peer.received)
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _read() -> None:
            assert documents.right(await read_computed(attrs.evolve(request, loader_id="loader 3")))

        await held.wait(2)
        await settled(connection)
        sent = [call.method for call in peer.received[before:]]
        assert sent.count("Runtime.evaluate") == 2
        assert sent.count("Runtime.callFunctionOn") == 1, "the walk waits for no answer"
        for call in await held.wait(2):
            call.answer(documents.install(call))
    assert asked(peer).count("walk") == 3, "one for each document"


@pytest.mark.parametrize("moment", ["before", "announced late", "not prepared"])
async def test_a_world_of_another_document_is_not_taken_for_this_one(
    connection: Connection, peer: ScriptedPeer, moment: str
) -> None:
    documents, request = await look_at_two(connection, peer)
    come(peer, documents, "old")
    await settled(connection)
    documents.replace("a", "b")
    documents.prepared = moment != "not prepared"
    if moment == "announced late":
        frame = {"id": "T", "loaderId": "loader 4", "url": "http://a.example/"}
        peer.send_event("Page.frameNavigated", {"frame": frame}, session_id="S")
    assert documents.right(await read_computed(attrs.evolve(request, loader_id="loader 4")))
    documents.buttons.append("c")
    assert documents.right(await read_computed(attrs.evolve(request, loader_id="loader 4")))


async def test_a_first_walk_that_is_given_up_on_is_not_taken_for_a_later_one(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents, request = await look_at_two(connection, peer)
    number = documents.document

    async def read() -> None:
        await read_computed(attrs.evolve(request, loader_id=f"loader {documents.document}"))

    async def check() -> None:
        nonlocal number
        documents.buttons.append("later")
        assert documents.right(
            await read_computed(attrs.evolve(request, loader_id=f"loader {documents.document}"))
        )
        number += 1
        come(peer, documents, "n", f"m{number}")
        await settled(connection)

    come(peer, documents, "n")
    await settled(connection)
    assert await walk_cancellations(read, check, own_steps_only=True) >= 5


async def test_ids_come_with_the_listeners(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert asked(peer)[:3] == ["walk", "hosts", "forget"]
    assert "take" not in asked(peer)
    together = [call.method for call in peer.received]
    walked = together.index("Runtime.callFunctionOn")
    assert together[walked + 1] == "DOMDebugger.getEventListeners", "both go out in one round trip"
    documents.buttons.append("c")
    before = len(peer.received)
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert "take" not in asked(peer)
    assert [call.method for call in peer.received[before:]].count("DOMDebugger.getEventListeners") == 1


async def test_what_is_not_among_the_listeners_is_asked_for(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    documents.buttons = ["a", "b", "c", "d", "e"]
    documents.gone = {2, 3, 5}
    request = await request_of(connection, peer, clickables=True)
    assert documents.right(await read_computed(request))
    taken = [
        request.params["arguments"][0]["value"]["ranges"]
        for request in peer.received
        if request.method == "Runtime.callFunctionOn"
        and request.params["arguments"][0]["value"]["do"] == "take"
    ]
    assert taken == [[2, 3, 5, 5]]


async def test_refused_listeners_leave_the_ids_to_be_asked_for(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    peer.on("DOMDebugger.getEventListeners", Refusal(-32000, "not now"))
    request = await request_of(connection, peer, clickables=True)
    document = await read_computed(request)
    assert documents.right(document)
    assert "not now" in document.unknown
    assert "take" in asked(peer)


async def test_cancelled_at_each_await_with_listeners(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)

    async def read() -> None:
        await read_computed(request)

    async def check() -> None:
        assert documents.right(await read_computed(request))
        documents.replace("n", *documents.buttons)

    assert await walk_cancellations(read, check, own_steps_only=True) >= 5


@pytest.mark.parametrize("clickables", [False, True])
@pytest.mark.parametrize("lost", range(1, 3))
async def test_a_lost_reply_loses_no_mapping(
    connection: Connection, peer: ScriptedPeer, lost: int, clickables: bool
) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=clickables)
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

    peer.on("Runtime.callFunctionOn", swap, nth=2)  # walk, take
    assert documents.right(await read_computed(request))


async def test_a_world_with_another_document_is_given_up(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    peer.on("Runtime.callFunctionOn", {"result": {"type": "object", "value": None}}, nth=1)
    assert documents.right(await read_computed(request))
    assert asked(peer)[:3] == ["walk", "walk", "take"]


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
    peer.on("Runtime.callFunctionOn", THROWN, nth=1)
    with pytest.raises(ProtocolError, match="walk"):
        await read_computed(request)


async def test_fewer_ids_than_asked_for_are_refused(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    short = {"result": {"deepSerializedValue": {"type": "array", "value": [node(1001, "loader 1")]}}}
    peer.on("Runtime.callFunctionOn", short, nth=2)
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


@pytest.mark.parametrize("lost", [1, 2, 4])
async def test_a_lost_walk_is_never_counted_on(connection: Connection, peer: ScriptedPeer, lost: int) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)

    def swallow(asking: Request) -> Answer:
        documents.call(asking)  # the page did its part
        return SILENCE

    peer.on("Runtime.callFunctionOn", swallow, nth=lost)  # walk, take, forget, walk
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
