"""Toolbox: the tools of some capabilities, defined for a model, and the performance of its calls.

Rule: a call is one request through `dispatch`, with its limits. A failure is a result that names the remedy, so a
model can go on. A model can only call tools that the toolbox offers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine import _json
from cdpengine._checks import check_choice, check_count
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine.act.actor import Actor
from cdpengine.act.dispatch import dispatch
from cdpengine.act.notations import Capability
from cdpengine.act.response import ActResponse, reword
from cdpengine.act.tooling.formats import (
    FORMATS,
    ToolCall,
    ToolFormat,
    ToolResult,
    define,
    find_calls,
    to_messages,
)
from cdpengine.act.tooling.table import VERB_TOOLS, Tool, choose_among
from cdpengine.act.tooling.texts import (
    LARGEST_PICTURE,
    LONGEST_SIDE,
    WORDS,
    cut,
    describe,
    describe_failure,
    explain_unknown,
)
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine import Browser

_NOTE_TOKENS = 60
"""Estimated length of the line about a cut text, in tokens."""


@attrs.frozen(kw_only=True)
class Toolbox:
    """The requests as tools of a model. Created by `tools`."""

    _tools: Mapping[str, Tool]
    max_tokens: int
    snapshot_tokens: int

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        return list(self._tools)

    def definitions(self, tool_format: ToolFormat) -> list[dict[str, Any]]:
        """Return the definitions of the tools, as JSON data for a model's API.

        `tool_format` is "openai-chat" (chat completions), "openai-responses", "anthropic" or "mcp". Raises
        InvalidArgumentError for another one.
        """
        check_choice("tool_format", tool_format, FORMATS)
        return [define(tool, tool_format) for tool in self._tools.values()]

    async def run(self, browser: Browser | Actor, reply: object) -> list[dict[str, Any]]:
        """Perform the tool calls of a model's reply, in order, and return the messages with their results.

        `reply` is the response of an official package, its message, output or content, or one call, as an object
        or as JSON data. Its format decides that of the messages: tool messages and, with pictures, a user message
        (chat completions), function call outputs (responses), one user message (Anthropic), or a result for each
        call (MCP). Append them to the conversation. A reply without calls returns [].

        A failed call has a result with the error and its remedy. Raises only trio.Cancelled.
        """
        return to_messages([await self._call(browser, call) for call in find_calls(reply)])

    async def _call(self, browser: Browser | Actor, call: ToolCall) -> ToolResult:
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolResult(call=call, text=explain_unknown(call.name, self._tools, _remedy), failed=True)
        try:
            request = self._limit(tool, tool.to_request(call.read_arguments()))
        except InvalidArgumentError as error:
            return ToolResult(call=call, text=str(error), failed=True)
        response = await dispatch(browser, request)
        if _is_heavy(response):
            response = await dispatch(browser, {**request, "format": "jpeg"})
        return self._show(call, tool, reword(response, WORDS))

    def _limit(self, tool: Tool, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request with the limits for a model."""
        if tool.acts:
            request.setdefault("diff", True)
        if tool.name == "screenshot":
            request.setdefault("maxSide", LONGEST_SIDE)
        if tool.name == "snapshot" and not request.keys() & {"find", "maxChars"}:
            request.setdefault("maxTokens", self.snapshot_tokens)
        return request

    def _show(self, call: ToolCall, tool: Tool, response: ActResponse) -> ToolResult:
        if response.error is not None:
            return ToolResult(call=call, text=_plain(describe_failure(response)), failed=True)
        result = response.result
        if isinstance(result, dict) and "base64" in result:
            rest = {name: value for name, value in result.items() if name != "base64"}
            if tool.name == "screenshot":
                text = _plain(str(rest.get("snapshot") or "the screenshot"))
                media_type = f"image/{result['format']}"
                return ToolResult(call=call, text=text, picture=result["base64"], media_type=media_type)
            response = attrs.evolve(response, result={**rest, "note": "binary content, which is not shown"})
        reads = tool.name in ("snapshot", "extract")
        return ToolResult(
            call=call,
            text=_fit(describe(response), self.snapshot_tokens if reads else self.max_tokens),
        )


def tools(
    *,
    capabilities: Iterable[Capability] = (),
    max_tokens: int = 2_000,
    snapshot_tokens: int = 8_000,
) -> Toolbox:
    """Return the requests as tools for a model's function calls.

    `capabilities` are further groups besides "core": "more", "scripts", "files", "storage", "cache", "wire" and
    "performance". A result is cut at `max_tokens` estimated tokens, a snapshot or the text of a page at
    `snapshot_tokens`. Raises InvalidArgumentError for an unknown capability.
    """
    for name, limit in (("max_tokens", max_tokens), ("snapshot_tokens", snapshot_tokens)):
        check_count(name, limit, least=100, unit="tokens")
    chosen = {tool.name: tool for tool in choose_among(VERB_TOOLS, capabilities)}
    return Toolbox(tools=chosen, max_tokens=max_tokens, snapshot_tokens=snapshot_tokens)


def _remedy(capability: str) -> str:
    return f"The program enables it with tools(capabilities=[{capability!r}])"


def _is_heavy(response: ActResponse) -> bool:
    """Return whether a response has a picture that is too large as a PNG."""
    result = response.result
    return isinstance(result, dict) and result.get("format") == "png" and result["bytes"] > LARGEST_PICTURE


def _fit(text: str, most: int) -> str:
    if estimate_tokens(text) > most:
        note = f"... cut: all of it is {len(text):,} characters. Ask for less"
        text = f"{cut(text, most - _NOTE_TOKENS)}\n{note}"
    return _plain(text)


def _plain(text: str) -> str:
    return _json.replace_unpaired(text)
