"""The function-calling formats of models: definitions of tools, calls in a reply, and messages with the results.

Rule: the formats differ only here. A call is recognized by its shape, so a reply can be a response of an official
package, its message, a list of its blocks, or one call, as an object or as JSON data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from cdpengine import _json
from cdpengine.act.tooling.table import Tool, input_schema
from cdpengine.errors import InvalidArgumentError

ToolFormat = Literal["openai-chat", "openai-responses", "anthropic", "mcp"]


@attrs.frozen(kw_only=True)
class ToolCall:
    """A call in a model's reply. `arguments` is JSON data, or its string."""

    format: ToolFormat
    id: str
    name: str
    arguments: Any

    def read_arguments(self) -> Mapping[str, Any]:
        """Return the arguments as an object. Raises InvalidArgumentError."""
        value = self.arguments
        if isinstance(value, str):
            try:
                value = _json.decode_leniently(value) if value.strip() else {}
            except ValueError as error:
                raise InvalidArgumentError(f"the arguments of {self.name}", str(error), "JSON") from None
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise InvalidArgumentError(f"the arguments of {self.name}", "another value", "a JSON object")
        return value


@attrs.frozen(kw_only=True)
class ToolResult:
    """The result of a call: a text, and for a screenshot the picture in base64 and its media type."""

    call: ToolCall
    text: str
    failed: bool = False
    picture: str = ""
    media_type: str = ""

    @property
    def data_url(self) -> str:
        """The picture as a URL."""
        return f"data:{self.media_type};base64,{self.picture}"


# --- definitions -------------------------------------------------------------------------------------------------


def define(tool: Tool, tool_format: ToolFormat) -> dict[str, Any]:
    """Return the definition of a tool."""
    return _DEFINITIONS[tool_format](tool, _typed(input_schema(tool)))


_DEFINITIONS: Mapping[ToolFormat, Callable[[Tool, dict[str, Any]], dict[str, Any]]] = {
    "openai-chat": lambda tool, schema: {
        "type": "function",
        "function": {"name": tool.name, "description": tool.meaning, "parameters": schema},
    },
    "openai-responses": lambda tool, schema: {
        "type": "function",
        "name": tool.name,
        "description": tool.meaning,
        "parameters": schema,
        "strict": False,  # strict functions have no optional arguments
    },
    "anthropic": lambda tool, schema: {
        "name": tool.name,
        "description": tool.meaning,
        "input_schema": schema,
    },
    "mcp": lambda tool, schema: {
        "name": tool.name,
        "description": tool.meaning,
        "inputSchema": schema,
    },
}

FORMATS: Sequence[ToolFormat] = tuple(_DEFINITIONS)


def _typed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in which enumerations of strings have a type, which some models need."""
    made = {
        name: _typed(value)
        if isinstance(value, Mapping)
        else [_typed(each) if isinstance(each, Mapping) else each for each in value]
        if isinstance(value, list)
        else value
        for name, value in schema.items()
    }
    choices = schema.get("enum")
    if isinstance(choices, list) and "type" not in schema and all(isinstance(each, str) for each in choices):
        made = {"type": "string", **made}
    return made


# --- calls -------------------------------------------------------------------------------------------------------


def find_calls(reply: object) -> Iterator[ToolCall]:
    """Yield the calls in a model's reply."""
    match _plain(reply):
        case {"type": "tool_use", "id": str(id_), "name": str(name), "input": arguments}:
            yield ToolCall(format="anthropic", id=id_, name=name, arguments=arguments)
        case {"type": "function_call", "call_id": str(id_), "name": str(name), "arguments": arguments}:
            yield ToolCall(format="openai-responses", id=id_, name=name, arguments=arguments)
        case {"id": str(id_), "function": {"name": str(name), "arguments": arguments}}:
            yield ToolCall(format="openai-chat", id=id_, name=name, arguments=arguments)
        case {"method": "tools/call", "params": parameters}:
            yield from find_calls(parameters)
        case {"choices": [{"message": message}, *_]}:
            yield from find_calls(message)
        case {"tool_calls": list(inner)} | {"output": list(inner)} | {"content": list(inner)}:
            yield from find_calls(inner)
        case {"name": str(name), **rest} if rest.keys() <= {"arguments", "_meta", "meta", "task"}:
            yield ToolCall(format="mcp", id="", name=name, arguments=rest.get("arguments"))
        case list(items) | tuple(items):
            for each in items:
                yield from find_calls(each)


def _plain(value: object) -> object:
    """Return an object of an official package as JSON data."""
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


# --- results -----------------------------------------------------------------------------------------------------


def to_messages(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """Return the messages with the results, in the format of their calls."""
    made = list(results)
    return _MESSAGES[made[0].call.format](made) if made else []


def _chat_messages(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """Return a message for each result, and one with the pictures, because the others have text only."""
    messages: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": each.call.id, "content": each.text} for each in results
    ]
    pictures = [each for each in results if each.picture]
    if pictures:
        parts: list[dict[str, Any]] = []
        for each in pictures:
            parts.append({"type": "text", "text": f"The picture of the call {each.call.id}:"})
            parts.append({"type": "image_url", "image_url": {"url": each.data_url}})
        messages.append({"role": "user", "content": parts})
    return messages


def _responses_items(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    return [
        {"type": "function_call_output", "call_id": each.call.id, "output": _responses_output(each)}
        for each in results
    ]


def _responses_output(result: ToolResult) -> str | list[dict[str, Any]]:
    if not result.picture:
        return result.text
    return [
        {"type": "input_text", "text": result.text},
        {"type": "input_image", "image_url": result.data_url, "detail": "auto"},
    ]


def _anthropic_message(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    blocks = []
    for each in results:
        content: list[dict[str, Any]] = [{"type": "text", "text": each.text}]
        if each.picture:
            source = {"type": "base64", "media_type": each.media_type, "data": each.picture}
            content.append({"type": "image", "source": source})
        block = {"type": "tool_result", "tool_use_id": each.call.id, "content": content}
        blocks.append({**block, "is_error": True} if each.failed else block)
    return [{"role": "user", "content": blocks}]


def _mcp_results(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    made = []
    for each in results:
        content: list[dict[str, Any]] = [{"type": "text", "text": each.text}]
        if each.picture:
            content.append({"type": "image", "data": each.picture, "mimeType": each.media_type})
        made.append({"content": content, "isError": each.failed})
    return made


_MESSAGES: Mapping[ToolFormat, Callable[[Sequence[ToolResult]], list[dict[str, Any]]]] = {
    "openai-chat": _chat_messages,
    "openai-responses": _responses_items,
    "anthropic": _anthropic_message,
    "mcp": _mcp_results,
}
