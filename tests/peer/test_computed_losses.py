"""The source `computed` against a peer that loses replies, swaps documents and is cancelled at every await."""

from __future__ import annotations

import attrs
import pytest
import trio
from scripted_documents import GONE, THROWN, ScriptedDocuments, asked, come, look_at_two, node, request_of
from scripting import settled

from cdpengine._protocol.session import Connection
from cdpengine._snapshot.sources.computed import read_computed
from cdpengine.errors import InvalidArgumentError, ProtocolError, RemoteError
from cdpengine.testing import SILENCE, Request, ScriptedPeer, walk_cancellations
from cdpengine.testing.peer import Answer


@pytest.mark.parametrize("moment", ["before", "announced late", "not prepared"])
async def test_a_world_of_another_document_is_rejected(
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


async def test_an_abandoned_first_walk_is_not_confused_with_a_later_one(
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


async def test_cancelled_at_each_await_with_listeners(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)

    async def read() -> None:
        await read_computed(request)

    async def check() -> None:
        assert documents.right(await read_computed(request))
        documents.replace("n", *documents.buttons)

    assert await walk_cancellations(read, check, own_steps_only=True) >= 5


@pytest.mark.parametrize(("lost", "clickables"), [(1, False), (2, False), (1, True)])
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


async def test_a_document_replaced_during_the_walk_is_read_again(
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


async def test_a_world_with_another_document_is_discarded(connection: Connection, peer: ScriptedPeer) -> None:
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer)
    assert documents.right(await read_computed(request))
    peer.on(
        "Runtime.callFunctionOn", {"result": {"type": "object", "value": None}}, nth=4
    )  # walk, take, forget
    assert documents.right(await read_computed(request))
    assert asked(peer)[3:6] == ["walk", "walk", "take"]


async def test_endless_new_documents_are_an_error(connection: Connection, peer: ScriptedPeer) -> None:
    ScriptedDocuments(peer)
    peer.on("Runtime.callFunctionOn", GONE)
    request = await request_of(connection, peer)
    with pytest.raises(RemoteError):
        await read_computed(request)


async def test_a_browser_without_support_for_it(connection: Connection, peer: ScriptedPeer) -> None:
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


async def test_too_few_ids_are_refused(connection: Connection, peer: ScriptedPeer) -> None:
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
