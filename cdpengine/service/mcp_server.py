"""The MCP server: a tool call is a request, and its result describes the changes in few words.

Rule: a call is one request through `dispatch`. Actions return their effects and the diff of the snapshot,
within a configurable limit; the whole page is a separate tool. If the client cancels a call, the request and
the page's script stop. The request has a deadline, so a page that hangs blocks neither its call nor the next.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from cdpengine import _json
from cdpengine._pictures.sizes import size_of
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine._version import __version__
from cdpengine.act import ActResponse
from cdpengine.act.response import Effects, reword
from cdpengine.act.tooling.table import Tool
from cdpengine.act.tooling.texts import LARGEST_PICTURE, LONGEST_SIDE, WORDS, describe, describe_failure
from cdpengine.errors import InvalidArgumentError, os_reason
from cdpengine.service.mcp_results import ToolResults, explain_unknown, say, structure, with_effects
from cdpengine.service.mcp_tools import choose_tools, input_schema, parse_reading
from cdpengine.service.mcp_transport.messages import show_arguments
from cdpengine.service.mcp_transport.person import CallRounds, asks_in_rounds, open_calls, person_of_client
from cdpengine.service.mcp_transport.stdio import open_standard_streams
from cdpengine.service.outputs import Outputs

Perform = Callable[[Mapping[str, Any]], Awaitable[ActResponse]]
"""Performs a request and returns its response, which contains any failure."""

CallOutcome = types.CallToolResult | types.InputRequiredResult
"""The result of a tool call, or a question to the client's person before the result."""

OnCall = Callable[[ServerRequestContext[Any], types.CallToolRequestParams], Awaitable[CallOutcome]]

_INSTRUCTIONS = (
    "Drives a browser. Take a snapshot to see the page and the refs of its elements; act on refs. "
    "Results of actions describe the changes."
)
_NO_QUESTION = (
    "no call waits for this answer: it was answered before, it came after 120 s, or its call has ended. Make the "
    "call again without requestState."
)
_PROGRESS_SECONDS = 1.0

_NOTE_TOKENS = 100
"""Estimated length of the lines about a cut snapshot, in tokens."""


@attrs.frozen(kw_only=True)
class McpSettings:
    """The capabilities that a server offers, and the limits of its results in estimated tokens.

    Longer content is written to a file. With `structured`, results also contain the whole response as data, for
    programs that know the requests.
    """

    capabilities: tuple[str, ...] = ()
    max_tokens: int = 2_000
    snapshot_tokens: int = 8_000
    structured: bool = False


@attrs.define(eq=False)
class ToolServer:
    """The tools, and the function that performs their requests. `outputs` is the folder for long content."""

    _perform: Perform
    _settings: McpSettings
    _outputs: Outputs | None = None
    _answers: ToolResults = attrs.field(init=False)
    _tools: dict[str, Tool] = attrs.field(init=False)
    _rounds: CallRounds = attrs.field(factory=CallRounds, init=False)

    def __attrs_post_init__(self) -> None:
        self._answers = ToolResults(self._outputs)
        self._tools = {
            tool.name: tool
            for tool in choose_tools(self._settings.capabilities)
            if tool.kinds or self._outputs is not None
        }

    def server(self, on_call: OnCall | None = None) -> Server[Any]:
        """Return the server, for any transport. `on_call` replaces `handle_call`."""
        return Server(
            "cdpengine",
            version=__version__,
            instructions=self._instructions(),
            on_list_tools=self._list,
            on_call_tool=on_call or self.handle_call,
            lifespan=open_calls,
        )

    def _instructions(self) -> str:
        """Return the introduction for models; if there is a cache, with its guide."""
        if "cache" not in self._settings.capabilities:
            return _INSTRUCTIONS
        from cdpengine.cache.acting.guide import read_guide  # the cache needs packages of another extra

        return f"{_INSTRUCTIONS}\n\n{read_guide('mcp')}"

    def list_tools(self) -> list[types.Tool]:
        """Return the tools in the form for clients."""
        return [
            types.Tool(name=tool.name, description=tool.meaning, input_schema=input_schema(tool))
            for tool in self._tools.values()
        ]

    async def _list(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        await trio.lowlevel.checkpoint()
        return types.ListToolsResult(tools=self.list_tools())

    async def handle_call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> CallOutcome:
        """Perform a call, and report its progress meanwhile."""
        answers: list[CallOutcome] = []
        async with trio.open_nursery() as nursery:

            async def report() -> None:
                began = trio.current_time()
                while True:
                    await trio.sleep(_PROGRESS_SECONDS)
                    await context.session.report_progress(
                        trio.current_time() - began, None, f"{params.name} is running"
                    )

            nursery.start_soon(report)
            answers.append(await self._perform_call(context, params))
            nursery.cancel_scope.cancel()
        return answers[0]

    async def _perform_call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> CallOutcome:
        """Perform a call. The client's person can confirm its critical steps, if the client supports that."""

        async def work() -> types.CallToolResult:
            return await self.call(params.name, show_arguments(params.arguments or {}))

        if params.request_state is None and not asks_in_rounds(context):
            with person_of_client(context):
                return await work()
        outcome = await self._rounds.perform(context, params, work)
        return say(_NO_QUESTION, failed=True) if outcome is None else outcome

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Perform a call, and return its result; a failure is described for a model."""
        tool = self._tools.get(name)
        if tool is None:
            return say(explain_unknown(name, self._tools), failed=True)
        if not tool.kinds:
            return await self._read_output(arguments)
        try:
            request = tool.to_request(arguments)
        except InvalidArgumentError as error:
            return say(f"{error}", failed=True)
        if tool.acts:
            request.setdefault("diff", True)
        response = await self._perform(request)
        result = await self._answer(tool, request, reword(response, WORDS))
        if self._settings.structured:
            result.structured_content = _json.replace_all_unpaired(structure(response))
        return result

    async def _ask(self, request: Mapping[str, Any]) -> ActResponse:
        """Perform a request. Failures are in the response, described in terms of tools."""
        return reword(await self._perform(request), WORDS)

    async def _answer(
        self, tool: Tool, request: Mapping[str, Any], response: ActResponse
    ) -> types.CallToolResult:
        if response.error is not None:
            return say(describe_failure(response), failed=True)
        if isinstance(response.result, dict) and "base64" in response.result:
            if tool.name == "screenshot":
                return with_effects(await self._show(request, response.result), response)
            if tool.name == "pdf":
                return with_effects(
                    await self._answers.print(response.result, self._settings.max_tokens), response
                )
            if tool.name == "response_body":
                return with_effects(
                    await self._answers.hand_over(response.result, self._settings.max_tokens), response
                )
        if tool.name == "snapshot":
            text = describe(attrs.evolve(response, effects=Effects()))
            return with_effects(await self._answer_snapshot(request, text), response)
        text = describe(response)
        reads = tool.name == "extract"
        return await self._answers.say(
            tool.name, text, self._settings.snapshot_tokens if reads else self._settings.max_tokens
        )

    async def _show(self, request: Mapping[str, Any], full: Mapping[str, Any]) -> types.CallToolResult:
        """Return a picture.

        If the picture is too large for a model, it is written to a file, and a smaller one is taken for the
        result.
        """
        is_heavy = full["bytes"] > LARGEST_PICTURE
        if not is_heavy and max(size_of(base64.b64decode(full["base64"]))) <= LONGEST_SIDE:
            return await self._answers.show(full)
        image_format = "jpeg" if is_heavy and full["format"] == "png" else full["format"]
        smaller = await self._ask({**request, "maxSide": LONGEST_SIDE, "format": image_format})
        if smaller.error is not None:
            return say(describe_failure(smaller), failed=True)
        return await self._answers.show(full, smaller.result)

    async def _answer_snapshot(self, request: Mapping[str, Any], text: str) -> types.CallToolResult:
        """Return a snapshot: all of it or, if that is too long, the part in and near the viewport, and a file.

        If the caller chose a size, the snapshot is returned unchanged.
        """
        most = self._settings.snapshot_tokens
        if estimate_tokens(text) <= most or "maxTokens" in request or "maxChars" in request:
            return say(text)
        if "find" in request:
            return await self._answers.say("snapshot", text, most)
        nearest = await self._ask({**request, "maxTokens": most - _NOTE_TOKENS})
        if nearest.error is not None:
            return say(describe_failure(nearest), failed=True)
        note = await self._answers.keep_text("snapshot", text)
        return say(f"{describe(nearest)}\n# {note}")

    async def _read_output(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Return a part of a file that a result named, or the matches of some words in it."""
        assert self._outputs is not None
        try:
            reading = parse_reading(arguments, self._settings.max_tokens)
            if reading.find is None:
                part, size = await self._outputs.read(
                    reading.file, offset=reading.offset, chars=reading.chars
                )
                end = reading.offset + len(part)
                more = f"; the next part begins at {end}" if end < size else ""
                return say(f"{part}\n... characters {reading.offset} to {end} of {size}{more}")
            found, count = await self._outputs.find(reading.file, reading.find)
        except InvalidArgumentError as error:
            return say(f"{error}", failed=True)
        except OSError as error:
            return say(f"the file could not be read: {os_reason(error)}", failed=True)
        lines = [f"at {place}: {text}" for place, text in found]
        return await self._answers.say(
            "found", "\n".join([f"{count} found", *lines]), self._settings.max_tokens
        )


async def run_on_stdio(perform: Perform, settings: McpSettings, outputs: Outputs | None = None) -> None:
    """Serve one client over standard input and output, until it closes the input or this is cancelled."""
    server = ToolServer(perform, settings, outputs).server()
    async with open_standard_streams() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
