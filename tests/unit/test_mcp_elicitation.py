"""The MCP server asks its client's user through an elicitation, over lines of JSON-RPC as on standard input."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import attrs
import mcp_types as types
import pytest
import trio
import trio.testing
from mcp import Client
from mcp.server.lowlevel.server import Server

from cdpengine.act import ActResponse
from cdpengine.act.confirming import Confirmation, person
from cdpengine.cache.replaying.confirming import Confirming
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_transport.stdio import open_messages

CALL: dict[str, Any] = {"name": "cache_replay", "arguments": {"scenario": "checkout"}}


async def perform(request: Mapping[str, Any]) -> ActResponse:
    """Ask the user as a replay does, and return the outcome."""
    confirming = Confirming(scenario="checkout", confirm=person.get())
    refusal = "nobody can be asked"
    if confirming.confirm is not None:
        refusal = await confirming.refusal(
            "2", 'click button "Pay"', "https://ada:pw@a.example/?token=s3cret", 30
        )
    await trio.lowlevel.checkpoint()
    return ActResponse(kind=request["kind"], ok=True, result={"refusal": refusal})


@attrs.define
class Lines:
    """The client's end: messages as lines."""

    stream: trio.StapledStream[Any, Any]
    buffer: bytes = b""
    instructions: str = ""

    async def send(self, **members: Any) -> None:
        await self.stream.send_all(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")

    async def receive(self) -> dict[str, Any]:
        while b"\n" not in self.buffer:
            self.buffer += await self.stream.receive_some()
        line, _, self.buffer = self.buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


@asynccontextmanager
async def connected(capabilities: Mapping[str, Any], version: str = "2025-06-18") -> AsyncIterator[Lines]:
    ours, theirs = trio.testing.memory_stream_pair()
    lines = Lines(ours)
    async with trio.open_nursery() as nursery, open_messages(theirs, theirs) as (incoming, outgoing):
        server = ToolServer(perform, McpSettings(capabilities=("cache",), structured=True)).server()
        nursery.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        info = {"name": "t", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        await lines.send(id="first", method="initialize", params=params)
        lines.instructions = (await lines.receive())["result"]["instructions"]
        await lines.send(method="notifications/initialized")
        yield lines
        nursery.cancel_scope.cancel()


def refusal_of(answer: Mapping[str, Any]) -> Any:
    return answer["result"]["structuredContent"]["result"]["refusal"]


@pytest.mark.parametrize(
    ("response", "refusal"),
    [
        ({"result": {"action": "accept", "content": {}}}, ""),
        ({"result": {"action": "decline"}}, "it was not confirmed"),
        ({"result": {"action": "cancel"}}, "it was not confirmed"),
        ({"error": {"code": -32603, "message": "no window"}}, "asking for a confirmation raised MCPError"),
        ({"result": {"action": "perhaps"}}, "asking for a confirmation raised ValidationError"),
    ],
)
async def test_the_person_is_asked(response: dict[str, Any], refusal: str) -> None:
    async with connected({"elicitation": {}}) as lines:
        await lines.send(id=7, method="tools/call", params=CALL)
        asked = await lines.receive()
        assert asked["method"] == "elicitation/create"
        assert asked["params"]["requestedSchema"] == {"type": "object", "properties": {}}
        message = asked["params"]["message"]
        assert 'The learned flow "checkout" is about to click button "Pay", on https://' in message
        assert "s3cret" not in message
        assert "pw" not in message
        await lines.send(id=asked["id"], **response)
        assert refusal_of(await lines.receive()) == refusal


@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}])
async def test_a_client_without_elicitation_is_not_asked(capabilities: dict[str, Any]) -> None:
    async with connected(capabilities) as lines:
        await lines.send(id=7, method="tools/call", params=CALL)
        assert refusal_of(await lines.receive()) == "nobody can be asked"


async def test_cancelling_a_call_ends_its_question() -> None:
    async with connected({"elicitation": {}}) as lines:
        await lines.send(id=7, method="tools/call", params=CALL)
        assert (await lines.receive())["method"] == "elicitation/create"
        await lines.send(method="notifications/cancelled", params={"requestId": 7})
        await lines.send(id=8, method="ping")
        with trio.fail_after(20):
            while (await lines.receive()).get("id") != 8:
                pass
        assert person.get() is None


# --- MCP 2026-07-28: the call ends with the question ------------------------------------------------------------

Action = Literal["accept", "decline", "cancel"]


def new_server() -> Server[Any]:
    return ToolServer(perform, McpSettings(capabilities=("cache",), structured=True)).server()


@pytest.mark.parametrize(
    ("action", "refusal"),
    [("accept", ""), ("decline", "it was not confirmed"), ("cancel", "it was not confirmed")],
)
async def test_the_person_is_asked_between_two_calls(action: Action, refusal: str) -> None:
    questions: list[str] = []

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        await trio.lowlevel.checkpoint()
        assert context is not None
        assert isinstance(params, types.ElicitRequestFormParams)
        assert params.requested_schema == {"type": "object", "properties": {}}
        questions.append(params.message)
        return types.ElicitResult(action=action)

    async with Client(new_server(), mode="2026-07-28", elicitation_callback=answer) as client:
        result = await client.call_tool(CALL["name"], CALL["arguments"])
    assert refusal_of({"result": {"structuredContent": result.structured_content}}) == refusal
    (question,) = questions
    assert 'is about to click button "Pay", on https://' in question
    assert not {"s3cret", "pw"} & set(question.replace("/", " ").replace("=", " ").split())


async def test_a_client_of_the_newest_revision_without_elicitation_is_not_asked() -> None:
    async with Client(new_server(), mode="2026-07-28") as client:
        result = await client.call_tool(CALL["name"], CALL["arguments"])
    assert refusal_of({"result": {"structuredContent": result.structured_content}}) == "nobody can be asked"


async def answer_never(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    await trio.sleep_forever()
    raise AssertionError((context, params))


async def test_an_answer_counts_once_and_only_for_its_call() -> None:
    async with Client(new_server(), mode="2026-07-28", elicitation_callback=answer_never) as client:

        async def call(state: str | None, action: Action | None, **arguments: Any) -> Any:
            responses: types.InputResponses = (
                {} if action is None else {"confirm": types.ElicitResult(action=action)}
            )
            return await client.session.call_tool(
                CALL["name"],
                {**CALL["arguments"], **arguments},
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )

        first = await call(None, None)
        second = await call(None, None)
        assert first.result_type == second.result_type == "input_required"
        assert first.request_state != second.request_state
        for state, arguments in (("guessed", {}), (first.request_state, {"scenario": "login"})):
            refused = await call(state, "accept", **arguments)
            assert refused.is_error
            assert "no call waits for this answer" in refused.content[0].text
        done = await call(first.request_state, "accept")
        assert done.structured_content["result"]["refusal"] == ""
        assert (await call(first.request_state, "accept")).is_error
        done = await call(second.request_state, None)  # without an answer
        assert done.structured_content["result"]["refusal"] == "it was not confirmed"


async def test_a_question_without_an_answer_ends_after_its_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with Client(new_server(), mode="2026-07-28", elicitation_callback=answer_never) as client:

        async def call(state: str | None) -> Any:
            return await client.session.call_tool(
                CALL["name"], CALL["arguments"], request_state=state, allow_input_required=True
            )

        asked = await call(None)
        await trio.sleep(31)
        assert (await call(asked.request_state)).is_error
        asked = await call(None)  # the server is still there
        with trio.move_on_after(1) as scope:
            await client.call_tool(CALL["name"], CALL["arguments"])
        assert scope.cancelled_caught
        assert (await call(asked.request_state)).structured_content["result"]["refusal"] != ""


async def test_cancelling_a_call_of_the_newest_revision_ends_its_work() -> None:
    began, ended = trio.Event(), trio.Event()

    async def wait(_request: Mapping[str, Any]) -> ActResponse:
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    server = ToolServer(wait, McpSettings(capabilities=("cache",))).server()
    async with Client(server, mode="2026-07-28", elicitation_callback=answer_never) as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, CALL["name"], CALL["arguments"])
            await began.wait()
            nursery.cancel_scope.cancel()
        with trio.fail_after(20):
            await ended.wait()


async def test_waiting_for_the_person_is_bounded(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def never(_asked: Confirmation) -> bool:
        await trio.sleep_forever()

    asks = Confirming(scenario="checkout", confirm=never)
    assert (
        await asks.refusal("0", "click", "https://a.example/", 1e9) == "no confirmation arrived within 120 s"
    )
    assert await asks.refusal("0", "click", "https://a.example/", 3) == "no confirmation arrived within 3 s"


async def test_the_instructions_have_the_guide_in_words_of_tools() -> None:
    async with connected({}) as lines:
        guide = lines.instructions
    for word in ("cache_replay", "learn", "cache_report", "cache_refresh", "Take a snapshot"):
        assert word in guide
    for word in (
        "executeCached",
        "startLearning",
        '"kind"',
        "{replay}",
        "{learn}",
        "forceRefresh",
    ):
        assert word not in guide
    plain = ToolServer(perform, McpSettings()).server()
    assert "cache" not in str(plain.instructions)
