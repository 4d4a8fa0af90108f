"""A frame of a scripted peer whose documents answer the queries of the source `computed`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
from scripting import attach, settled

from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Connection
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.computed import read_computed
from cdpengine.testing import Refusal, Request, ScriptedPeer
from cdpengine.testing.peer import Answer

GONE = Refusal(-32000, "Cannot find context with specified id")
THROWN = {"result": {"type": "object"}, "exceptionDetails": {"text": "Uncaught", "exception": {}}}


def node(backend_node_id: int, loader_id: str) -> dict[str, Any]:
    return {"type": "node", "value": {"backendNodeId": backend_node_id, "loaderId": loader_id}}


class ScriptedDocuments:
    """A frame whose document is a row of buttons. An element's backend node id is 1000 per document, plus its
    index.

    Each document has its own function: "F1" for the first document. The function numbers new buttons in
    order, as the walk does, and forgets known ones on request. It marks buttons on request. The list of
    listeners contains the marked buttons, except those that are `gone` by then.
    """

    def __init__(self, peer: ScriptedPeer) -> None:
        self.document = 1
        self.buttons = ["a", "b"]
        self.known: dict[int, int] = {}
        self.offered = True
        self.plain = True
        self.prepared = False
        self.tried: list[bool] = []
        self.marked: list[int] = []
        self.gone: set[int] = set()
        peer.on("DOM.resolveNode", lambda _: {"object": {"objectId": f"D{self.document}"}})
        peer.on("DOMDebugger.getEventListeners", self.listeners)
        peer.on("Page.createIsolatedWorld", lambda _: {"executionContextId": 70 + self.document})
        peer.on("Runtime.evaluate", self.evaluate)
        peer.on("Runtime.callFunctionOn", self.call)

    def replace(self, *buttons: str) -> None:
        self.document += 1
        self.buttons = list(buttons)
        self.known = {}

    def evaluate(self, request: Request) -> Answer:
        assert request.params["expression"] == "document"
        return {"result": {"type": "object", "objectId": f"D{self.document}"}}

    def install(self, request: Request) -> Answer:
        """Answer a call that makes the walk, and runs it if the call has a request."""
        if request.params["executionContextId"] != 70 + self.document:
            return GONE
        if len(request.params["functionDeclaration"]) < 1000 and not self.prepared:
            return {"result": {"type": "undefined"}}
        if not self.offered:
            return {"result": {"type": "object", "subtype": "null", "value": None}}
        walked = [self.answer(argument["value"]) for argument in request.params.get("arguments", ())]
        said = [{"type": "string", "value": answer} for answer in walked]
        made = [node(1, f"loader {self.document}"), *said]
        serialized = {"type": "array", "value": made}
        return {
            "result": {"type": "object", "objectId": f"F{self.document}", "deepSerializedValue": serialized}
        }

    def listeners(self, request: Request) -> Answer:
        if request.params["objectId"] != f"D{self.document}":
            return GONE
        marks = [
            {"type": f"mark:{number}", "useCapture": False, "backendNodeId": self.known[number]}
            for number in self.marked
            if number in self.known and number not in self.gone
        ]
        return {"listeners": marks}

    def call(self, request: Request) -> Answer:
        if "executionContextId" in request.params:
            return self.install(request)
        if request.params["objectId"] != f"F{self.document}":
            return GONE
        what = request.params["arguments"][0]["value"]
        if what["do"] == "walk":
            return {"result": {"type": "string", "value": self.answer(what)}}
        if what["do"] == "take":
            bounds = iter(what["ranges"])
            numbers = [number for first in bounds for number in range(first, next(bounds) + 1)]
            assert all(number in self.known for number in numbers), (
                "the engine asked again for known elements"
            )
            taken = [node(self.known[number], f"loader {self.document}") for number in numbers]
            return {"result": {"deepSerializedValue": {"type": "array", "value": taken}}}
        self.forget(what["known"])
        return {"result": {"type": "undefined"}}

    def answer(self, what: dict[str, Any]) -> str:
        """Return the answer of a walk."""
        self.forget(what["known"])
        self.tried.append(what["plain"])
        if what["plain"] and not self.plain:
            return json.dumps({"notPlain": True, "last": 0})
        answer = self.walk()
        if what["mark"]:
            self.marked = list(self.known)
            answer["marks"] = "mark:"
        return json.dumps(answer)

    def walk(self) -> dict[str, Any]:
        count = len(self.buttons)
        self.known = {n: self.known.get(n, 1000 * self.document + n) for n in range(1, count + 1)}
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
        """Return whether the nodes belong to the current document and have the correct ids."""
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
        if request.method == "Runtime.callFunctionOn" and "arguments" in request.params
    ]


def come(peer: ScriptedPeer, documents: ScriptedDocuments, *buttons: str) -> None:
    """Replace the document, with a new walk function, and send the browser's events for it."""
    documents.prepared = True
    documents.replace(*buttons)
    frame = {"id": "T", "loaderId": f"loader {documents.document}", "url": "http://a.example/"}
    peer.send_event("Page.frameNavigated", {"frame": frame}, session_id="S")


async def look_at_two(connection: Connection, peer: ScriptedPeer) -> tuple[ScriptedDocuments, FrameRequest]:
    """Return the documents and a request, once the walk function is registered for future documents."""
    documents = ScriptedDocuments(peer)
    request = await request_of(connection, peer, clickables=True)
    await read_computed(request)
    documents.replace("x")
    await read_computed(attrs.evolve(request, loader_id="loader 2"))
    await settled(connection)
    return documents, request
