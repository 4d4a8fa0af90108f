"""The source `computed` against a peer that records queries: one round trip, and only unknown elements."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
from scripted_documents import ScriptedDocuments, asked, come, look_at_two, methods, request_of
from scripting import settled

from cdpengine._protocol.session import Connection
from cdpengine._snapshot.sources.computed import read_computed
from cdpengine.testing import SILENCE, Refusal, Request, ScriptedPeer
from cdpengine.testing.peer import Answer


async def test_known_elements_are_not_queried_again(connection: Connection, peer: ScriptedPeer) -> None:
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


async def test_an_accessibility_tree_is_created_once_a_document_is_not_plain(
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
    assert made < walked, "later documents get a tree from the start"
    assert documents.tried == [True, True, False, False]


async def test_the_document_of_a_child_frame_is_assumed_plain(
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
async def test_future_documents_contain_the_walk_function(
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
        len(each.params["functionDeclaration"]) > 1000
        for each in peer.received
        if "executionContextId" in each.params
    ]
    assert sent == ([True, True, False, False] if there else [True, True, *[False, True] * 2])


async def test_an_announced_document_is_walked_in_one_round_trip(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents, request = await look_at_two(connection, peer)
    come(peer, documents, "a", "b")
    await peer.wait_for("Page.createIsolatedWorld", 3)  # requested when the document was announced
    held, before = peer.hold("Runtime.callFunctionOn"), len(peer.received)
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _read() -> None:
            assert documents.right(await read_computed(attrs.evolve(request, loader_id="loader 3")))

        [call] = await held.wait(1)
        await settled(connection)
        sent = [call.method for call in peer.received[before:]]
        assert sent.count("Runtime.callFunctionOn") == 1
        assert sent.count("DOMDebugger.getEventListeners") == 1, "the query waits for no answer"
        call.answer(documents.call(call))
        for count in (2, 3):  # take, as this peer listed the listeners too early; forget
            *_, call = await held.wait(count)
            call.answer(documents.call(call))
        await settled(connection)
    assert asked(peer).count("walk") == 3, "one for each document"


async def test_ids_come_with_the_listeners(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert asked(peer) == ["walk", "forget"]
    documents.buttons.append("c")
    before = len(peer.received)
    assert documents.right(await read_computed(request))
    await settled(connection)
    assert "take" not in asked(peer)
    assert [call.method for call in peer.received[before:]].count("DOMDebugger.getEventListeners") == 1


async def test_elements_missing_from_the_listeners_are_queried(
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


async def test_refused_listeners_cause_a_query_for_the_ids(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedDocuments(peer)
    peer.on("DOMDebugger.getEventListeners", Refusal(-32000, "not now"))
    request = await request_of(connection, peer, clickables=True)
    document = await read_computed(request)
    assert documents.right(document)
    assert "not now" in document.unknown
    assert "take" in asked(peer)


class ScriptedParts(ScriptedDocuments):
    """Names the buttons of the previous walk as one part, once it knows that this walk's answer arrived."""

    def __init__(self, peer: ScriptedPeer) -> None:
        super().__init__(peer)
        self.buttons = ["a", "b", "c"]
        self.number = 0
        self.requested_numbers: list[int | None] = []
        self.same = False
        self.part = 1

    def answer(self, what: dict[str, Any]) -> str:
        self.requested_numbers.append(what["held"])
        return super().answer(what)

    def walk(self) -> dict[str, Any]:
        answer = super().walk()
        if self.requested_numbers[-1] is None:
            return answer
        known = self.number and self.requested_numbers[-1] == self.number
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


async def test_parts_are_named_only_after_their_walk_arrived(
    connection: Connection, peer: ScriptedPeer
) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    for reused in (0, 1, 1):
        document = await read_computed(request)
        assert documents.right(document)
        assert document.parts_reused == reused
    assert documents.requested_numbers == [0, 1, 2]
    assert documents.right(await read_computed(attrs.evolve(request, fresh=True)))
    assert (await read_computed(request)).parts_reused == 1
    assert documents.requested_numbers == [0, 1, 2, None, 3]


async def test_the_result_of_the_previous_walk(connection: Connection, peer: ScriptedPeer) -> None:
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
    assert documents.requested_numbers == [0, 1, 2, 3]


@pytest.mark.parametrize("lost", [1, 2, 4])
async def test_a_lost_walk_is_never_counted_on(connection: Connection, peer: ScriptedPeer, lost: int) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)

    def swallow(asking: Request) -> Answer:
        documents.call(asking)  # the page's function ran
        return SILENCE

    peer.on("Runtime.callFunctionOn", swallow, nth=lost)  # walk, take, forget, walk
    for _ in range(3):
        with trio.move_on_after(0.2):
            assert documents.right(await read_computed(request))
    assert documents.right(await read_computed(request))
    assert documents.requested_numbers[-1] in (None, 0, documents.number - 1)


async def test_an_unknown_part_causes_a_full_read(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.part = 2
    assert documents.right(await read_computed(request))
    assert documents.requested_numbers == [0, 1, 0]


async def test_another_document_has_no_parts_yet(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedParts(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    documents.replace("x", "y", "z")
    documents.number = 0
    assert documents.right(await read_computed(request))
    assert documents.requested_numbers[-1] == 0
