"""The MCP server: tools are requests, and an answer says what changed, in few words.

Rule: a call is one request through `dispatch`. What acts is answered with its effects and the diff of the
snapshot, within a limit that can be set; the whole page is a tool of its own. A call that the client cancels ends
its request: the page's script is stopped. Time is bounded by the request, so a page that hangs holds up neither
its call nor the next.
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
from cdpengine.errors import InvalidArgumentError, os_reason
from cdpengine.service.mcp_answers import (
    LARGEST_PICTURE,
    LONGEST_SIDE,
    WORDS,
    Answers,
    describe,
    describe_failure,
    say,
    structure,
    with_effects,
)
from cdpengine.service.mcp_tools import Tool, choose_tools, input_schema, parse_reading
from cdpengine.service.mcp_transport.messages import show_arguments
from cdpengine.service.mcp_transport.person import person_of_client
from cdpengine.service.mcp_transport.stdio import open_standard_streams
from cdpengine.service.outputs import Outputs

Perform = Callable[[Mapping[str, Any]], Awaitable[ActResponse]]
"""Does a request, and returns its answer; what goes wrong is in it."""

OnCall = Callable[[ServerRequestContext[Any], types.CallToolRequestParams], Awaitable[types.CallToolResult]]

_INSTRUCTIONS = (
    "Drives a browser. Take a snapshot to see the page and the refs of its elements; act on refs. "
    "Answers of actions say what changed."
)
_PROGRESS_SECONDS = 1.0

_NOTE_TOKENS = 100
"""What the lines about a snapshot that was cut take, about."""


@attrs.frozen(kw_only=True)
class McpSettings:
    """What is offered, and how long answers may be, in estimated tokens.

    What is longer goes to a file. With `structured`, answers hold the whole response as data, too: for programs
    that know requests, in their words.
    """

    capabilities: tuple[str, ...] = ()
    max_tokens: int = 2_000
    snapshot_tokens: int = 8_000
    structured: bool = False


@attrs.define(eq=False)
class ToolServer:
    """The tools, and what does their requests. `outputs` is where goes what is too long for an answer."""

    _perform: Perform
    _settings: McpSettings
    _outputs: Outputs | None = None
    _answers: Answers = attrs.field(init=False)
    _tools: dict[str, Tool] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._answers = Answers(self._outputs)
        self._tools = {
            tool.name: tool
            for tool in choose_tools(self._settings.capabilities)
            if tool.kinds or self._outputs is not None
        }

    def server(self, on_call: OnCall | None = None) -> Server[Any]:
        """Return the server, to be run on any transport. `on_call` does the calls in place of `handle_call`."""
        return Server(
            "cdpengine",
            version=__version__,
            instructions=self._instructions(),
            on_list_tools=self._list,
            on_call_tool=on_call or self.handle_call,
        )

    def _instructions(self) -> str:
        """Return what a model is to know first; where there is a cache, its guide too."""
        if "cache" not in self._settings.capabilities:
            return _INSTRUCTIONS
        from cdpengine.cache.acting.guide import read_guide  # the cache needs packages of its own

        return f"{_INSTRUCTIONS}\n\n{read_guide('mcp')}"

    def list_tools(self) -> list[types.Tool]:
        """Return the tools as clients see them."""
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
    ) -> types.CallToolResult:
        """Do a call, and tell its progress meanwhile."""
        answers: list[types.CallToolResult] = []
        async with trio.open_nursery() as nursery:

            async def report() -> None:
                began = trio.current_time()
                while True:
                    await trio.sleep(_PROGRESS_SECONDS)
                    await context.session.report_progress(
                        trio.current_time() - began, None, f"{params.name} goes on"
                    )

            nursery.start_soon(report)
            with person_of_client(context):
                answers.append(await self.call(params.name, show_arguments(params.arguments or {})))
            nursery.cancel_scope.cancel()
        return answers[0]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Do a call, and return its answer; what goes wrong is in it, in words for a model."""
        tool = self._tools.get(name)
        if tool is None:
            return say(f"there is no tool {name[:40]!r}; there are {', '.join(self._tools)}", failed=True)
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
        """Do a request. What goes wrong is in the response, in words of tools."""
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
        """Return a picture; one that is too large for a model is taken again, smaller, and kept as a file."""
        is_heavy = full["bytes"] > LARGEST_PICTURE
        if not is_heavy and max(size_of(base64.b64decode(full["base64"]))) <= LONGEST_SIDE:
            return await self._answers.show(full)
        image_format = "jpeg" if is_heavy and full["format"] == "png" else full["format"]
        smaller = await self._ask({**request, "maxSide": LONGEST_SIDE, "format": image_format})
        if smaller.error is not None:
            return say(describe_failure(smaller), failed=True)
        return await self._answers.show(full, smaller.result)

    async def _answer_snapshot(self, request: Mapping[str, Any], text: str) -> types.CallToolResult:
        """Return a snapshot: all of it, or where that is too long, what is in and near the viewport, and a file.

        One whose size the caller set is answered as it is.
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
        """Return a part of a file that an answer named, or where in it something stands."""
        assert self._outputs is not None
        try:
            asked = parse_reading(arguments, self._settings.max_tokens)
            if asked.find is None:
                part, size = await self._outputs.read(asked.file, offset=asked.offset, chars=asked.chars)
                end = asked.offset + len(part)
                more = f"; the next begins at {end}" if end < size else ""
                return say(f"{part}\n... characters {asked.offset} to {end} of {size}{more}")
            found, count = await self._outputs.find(asked.file, asked.find)
        except InvalidArgumentError as error:
            return say(f"{error}", failed=True)
        except OSError as error:
            return say(f"the file could not be read: {os_reason(error)}", failed=True)
        lines = [f"at {place}: {text}" for place, text in found]
        return await self._answers.say(
            "found", "\n".join([f"{count} found", *lines]), self._settings.max_tokens
        )


async def run_on_stdio(perform: Perform, settings: McpSettings, outputs: Outputs | None = None) -> None:
    """Serve one client over standard input and output, until it closes its end, or this is cancelled."""
    server = ToolServer(perform, settings, outputs).server()
    async with open_standard_streams() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
