"""The MCP server: tools are requests, and an answer says what changed, in few words.

Rule: a call is one request through `dispatch`. What acts is answered with its effects and the diff of the
snapshot, cut at a limit that can be set; the whole page is a tool of its own. A call that the client cancels ends
its request: the page's script is stopped. Time is bounded by the request, so a page that hangs holds up neither
its call nor the next.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine._version import __version__
from cdpengine.act import ActResponse
from cdpengine.act.plain import to_plain
from cdpengine.errors import InvalidArgumentError
from cdpengine.service.mcp_tools import Tool, choose_tools, input_schema

Perform = Callable[[Mapping[str, Any]], Awaitable[ActResponse]]
"""Does a request, and returns its answer; what goes wrong is in it."""

_INSTRUCTIONS = (
    "Drives a browser. Take a snapshot to see the page and the refs of its elements; act on refs. "
    "Answers of actions say what changed."
)
_PROGRESS_SECONDS = 1.0


@attrs.frozen(kw_only=True)
class McpSettings:
    """What is offered, and how long answers may be, in estimated tokens.

    Larger ones are cut, and say so. With `structured`, answers hold the whole response as data, too: for programs.
    """

    capabilities: tuple[str, ...] = ()
    max_tokens: int = 2_000
    snapshot_tokens: int = 8_000
    structured: bool = False


@attrs.define(eq=False)
class ToolServer:
    """The tools, and what does their requests."""

    _perform: Perform
    _settings: McpSettings
    _tools: dict[str, Tool] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tools = {tool.name: tool for tool in choose_tools(self._settings.capabilities)}

    def server(self) -> Server[Any]:
        """Return the server, to be run on any transport."""
        return Server(
            "cdpengine",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

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

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
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
            answers.append(await self.call(params.name, params.arguments or {}))
            nursery.cancel_scope.cancel()
        return answers[0]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Do a call, and return its answer; what goes wrong is in it, in words for a model."""
        tool = self._tools.get(name)
        if tool is None:
            return _say(f"there is no tool {name[:40]!r}; there are {', '.join(self._tools)}", failed=True)
        request = self._request_of(tool, arguments)
        if isinstance(request, types.CallToolResult):
            return request
        response = await self._perform(request)
        result = self._answer(tool, response)
        if self._settings.structured:
            result.structured_content = response.to_json()
        return result

    def _answer(self, tool: Tool, response: ActResponse) -> types.CallToolResult:
        if response.error is not None:
            return _say(_describe_failure(response), failed=True)
        if isinstance(response.result, dict) and tool.name == "screenshot" and "base64" in response.result:
            return _show_picture(response.result)
        reads = tool.name in ("snapshot", "extract")
        return _say(
            cut(_describe(response), self._settings.snapshot_tokens if reads else self._settings.max_tokens)
        )

    def _request_of(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any] | types.CallToolResult:
        try:
            request = tool.to_request(arguments)
        except InvalidArgumentError as error:
            return _say(f"{error}", failed=True)
        if tool.acts:
            request["diff"] = True
        if tool.name == "snapshot":
            request.setdefault("maxTokens", self._settings.snapshot_tokens)
        return request


async def run_on_stdio(perform: Perform, settings: McpSettings) -> None:
    """Serve one client over standard input and output, until it closes its end."""
    server = ToolServer(perform, settings).server()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


# --- words ---------------------------------------------------------------------------------------------------


def _text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def _say(words: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(words)], is_error=failed)


def _show_picture(result: Mapping[str, Any]) -> types.CallToolResult:
    image = types.ImageContent(data=result["base64"], mime_type=f"image/{result['format']}")
    words = [_text(result["snapshot"])] if "snapshot" in result else []
    return types.CallToolResult(content=[*words, image])


def _describe(response: ActResponse) -> str:
    """Return an answer in few words: the result, what the action set off, and what changed."""
    lines = []
    effects = response.effects
    if effects.navigation is not None:
        lines.append(f"navigation to {effects.navigation.url}")
    if effects.popup is not None:
        lines.append(f"a new tab opened: {effects.popup.url}")
    lines += [
        f"a {each.type} opened ({each.message!r}), answered {'OK' if each.accepted else 'Cancel'}"
        for each in effects.dialogs
    ]
    if effects.download is not None:
        lines.append(f"a download began: {effects.download.suggested_filename}")
    if effects.delivered is False:
        lines.append("the page took the element away in the middle of the action")
    result = to_plain(response.result)
    if isinstance(result, dict) and "snapshot" in result:
        lines.append(f"{response.url}\n{result['snapshot']}")
    elif isinstance(result, str):
        lines.append(result)
    elif result is not None:
        lines.append(json.dumps(result, ensure_ascii=False, separators=(",", ":")))
    if response.diff is not None:
        lines.append(response.diff)
    return "\n".join(lines) or "done"


def _describe_failure(response: ActResponse) -> str:
    error = response.error
    assert error is not None
    covering = f" ({error.covered_by_ref})" if error.covered_by_ref else ""
    covered = f"\nit is covered by {error.covered_by}{covering}" if error.covered_by else ""
    return f"{error.kind}: {error.message}{covered}\n{error.hint}"


def cut(text: str, most: int) -> str:
    """Return a text of at most so many tokens, as they are estimated, cut at a line, with what was left out."""
    if estimate_tokens(text) <= most:
        return text
    lines = text.splitlines()
    kept: list[str] = []
    left = most
    for line in lines:
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*kept, f"... {len(lines) - len(kept)} more lines: take a snapshot"])
