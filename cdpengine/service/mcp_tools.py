"""The MCP tools: those of the verbs, and a tool that reads the files of long results.

Rule: the table of tools derives from the verbs (`act/tooling`). A tool of the server has no kinds of requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from cdpengine._checks import check_choice, check_count, check_string
from cdpengine.act.tooling import table
from cdpengine.act.tooling.table import VERB_TOOLS, Tool, choose_among, rank
from cdpengine.errors import InvalidArgumentError

OUTPUT = Tool(name="output", meaning="Read a part of a file with a long result, or search in it.", kinds={})

TOOLS: Sequence[Tool] = tuple(sorted((OUTPUT, *VERB_TOOLS), key=rank))


def choose_tools(capabilities: Iterable[str]) -> list[Tool]:
    """Return the tools of these capabilities and of "core".

    Raises InvalidArgumentError for an unknown capability.
    """
    return choose_among(TOOLS, capabilities)


def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, as short as a model needs."""
    if tool.kinds:
        return table.input_schema(tool)
    properties = {name: schema for name, (_, schema) in _READING.items()}
    return {"type": "object", "properties": properties, "required": ["file"]}


@attrs.frozen(kw_only=True)
class Reading:
    """The requested part of a file: `chars` characters from `offset`, or the matches of some words."""

    file: str
    offset: int = 0
    chars: int = 0
    find: str | None = None


_READING: Mapping[str, tuple[type, dict[str, Any]]] = {
    "file": (str, {"type": "string"}),
    "offset": (int, {"type": "integer", "description": "The first character."}),
    "chars": (int, {"type": "integer"}),
    "find": (str, {"type": "string", "description": "Return the places of this string."}),
}


def parse_reading(arguments: Mapping[str, Any], max_tokens: int) -> Reading:
    """Return the request of a call of the tool "output". Raises InvalidArgumentError."""
    for name, value in arguments.items():
        check_choice("a field of output", name, _READING)
        if _READING[name][0] is int:
            check_count(f"output.{name}", value)
        else:
            check_string(f"output.{name}", value, empty=False)
    if "file" not in arguments:
        raise InvalidArgumentError(
            what="output.file", given="nothing", expected="a name from an earlier result"
        )
    most = max_tokens * 5 // 2
    chars = min(arguments.get("chars", most), most)
    return Reading(
        file=arguments["file"],
        offset=arguments.get("offset", 0),
        chars=max(chars, 1),
        find=arguments.get("find"),
    )
