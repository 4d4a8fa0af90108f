"""The MCP tools. Each tool represents one or several kinds of requests.

Rule: a tool is data: a name, a sentence, its kinds, and the fields that it shows. Models read the whole list in
each conversation, so it is short: it explains each field once and omits fields that no model needs. Tools are
grouped by capability; only "core" is on by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

import attrs

from cdpengine.act import KINDS
from cdpengine.act.schema import request_schema
from cdpengine.errors import InvalidArgumentError

Capability = Literal["core", "more", "scripts", "files", "storage", "wire", "performance", "cache"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


@attrs.frozen(kw_only=True, eq=False)
class Tool:
    """A tool. `kinds` maps values of its field `action` to kinds of requests. With one kind, it has no such field.

    A tool without kinds does not use the browser.

    `fields` are the fields that it shows in addition to the required ones. `acts`: its result is the page's
    changes.
    """

    name: str
    meaning: str
    kinds: Mapping[str, str]
    fields: tuple[str, ...] = ()
    capability: Capability = "core"
    acts: bool = False

    def kind_of(self, arguments: Mapping[str, Any]) -> str:
        """Return the kind of request for a call. Raises InvalidArgumentError."""
        if len(self.kinds) == 1:
            return next(iter(self.kinds.values()))
        action = arguments.get("action", next(iter(self.kinds)))
        if not isinstance(action, str) or action not in self.kinds:
            expected = " or ".join(map(repr, self.kinds))
            raise InvalidArgumentError(what=f"{self.name}.action", given=repr(action)[:40], expected=expected)
        return self.kinds[action]

    def to_request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request for a call. Raises InvalidArgumentError."""
        fields = {
            name: value for name, value in arguments.items() if name != "action" or len(self.kinds) == 1
        }
        return {"kind": self.kind_of(arguments), **fields}


_TARGET = ("ref",)

TOOLS: Sequence[Tool] = (
    Tool(
        name="navigate",
        meaning="Go to a URL, or through the history. recover stops the script of a page that hangs.",
        kinds={
            "go": "navigate",
            "back": "back",
            "forward": "forward",
            "reload": "reload",
            "recover": "recover",
        },
        fields=("url", "diff", "allow"),
    ),
    Tool(
        name="snapshot",
        meaning="Read the page as text. Elements have refs such as e12, which the other tools take.",
        kinds={"": "snapshot"},
        fields=("interactive", "root", "find", "maxTokens"),
    ),
    Tool(
        name="find",
        meaning="Find elements by role, name or text; returns their refs.",
        kinds={"": "find"},
        fields=("role", "name", "text"),
    ),
    Tool(
        name="click",
        meaning="Click an element.",
        kinds={"": "click"},
        fields=(*_TARGET, "doubleClick", "button", "modifiers"),
        acts=True,
    ),
    Tool(
        name="type",
        meaning="Type text into an element, after its present text.",
        kinds={"": "type"},
        fields=(*_TARGET, "submit"),
        acts=True,
    ),
    Tool(
        name="press",
        meaning="Press a key, such as Enter or Control+A.",
        kinds={"": "press"},
        fields=_TARGET,
        acts=True,
    ),
    Tool(name="fill", meaning="Fill in the fields of a form.", kinds={"": "fill"}, acts=True),
    Tool(name="select", meaning="Choose options of a list.", kinds={"": "select"}, fields=_TARGET, acts=True),
    Tool(
        name="hover",
        meaning="Move the mouse onto an element.",
        kinds={"": "hover"},
        fields=_TARGET,
        acts=True,
    ),
    Tool(name="drag", meaning="Drag an element onto another one.", kinds={"": "drag"}, acts=True),
    Tool(
        name="scroll",
        meaning="Scroll the page, or an element.",
        kinds={"": "scroll"},
        fields=(*_TARGET, "direction"),
        acts=True,
    ),
    Tool(
        name="wait",
        meaning="Wait until all given conditions hold.",
        kinds={"": "wait"},
        fields=("text", "textGone", "url", "loadState", "timeMs", "timeoutMs"),
    ),
    Tool(
        name="extract",
        meaning="Read the page's text as Markdown.",
        kinds={"": "extract"},
        fields=(*_TARGET, "mainOnly", "maxChars"),
    ),
    Tool(
        name="screenshot",
        meaning="Take a picture of the page or an element.",
        kinds={"": "screenshot"},
        fields=(*_TARGET, "fullPage", "labels"),
    ),
    Tool(
        name="tabs",
        meaning="List, open, change to or close tabs.",
        kinds={"list": "tabs", "new": "newTab", "focus": "focusTab", "close": "close"},
        fields=("index", "url"),
    ),
    Tool(
        name="dialog",
        meaning="Set the answer to the next dialog, before the action that opens it.",
        kinds={"": "dialog"},
        fields=("promptText",),
    ),
    Tool(
        name="console",
        meaning="Read the console and errors.",
        kinds={"": "console"},
        fields=("level", "limit"),
    ),
    Tool(
        name="requests",
        meaning="List network requests.",
        kinds={"": "requests"},
        fields=("url", "failed", "limit"),
    ),
    Tool(name="search", meaning="Search the web.", kinds={"": "search"}),
    Tool(
        name="output",
        meaning="Read a part of a file with a long result, or search in it.",
        kinds={},
    ),
    Tool(
        name="check",
        meaning="Check or uncheck a box.",
        kinds={"": "check"},
        fields=(*_TARGET, "checked"),
        capability="more",
        acts=True,
    ),
    Tool(
        name="scroll_into_view",
        meaning="Scroll to an element.",
        kinds={"": "scrollIntoView"},
        fields=_TARGET,
        capability="more",
        acts=True,
    ),
    Tool(
        name="highlight",
        meaning="Highlight an element for a person at the screen.",
        kinds={"": "highlight"},
        fields=_TARGET,
        capability="more",
    ),
    Tool(name="resize", meaning="Resize the viewport.", kinds={"": "resize"}, capability="more", acts=True),
    Tool(
        name="evaluate",
        meaning="Run a script in the page; with a ref, the function gets that element.",
        kinds={"": "evaluate"},
        fields=(*_TARGET, "timeoutMs"),
        capability="scripts",
    ),
    Tool(
        name="upload",
        meaning="Choose files in an input.",
        kinds={"": "upload"},
        fields=_TARGET,
        capability="files",
        acts=True,
    ),
    Tool(
        name="file_chooser",
        meaning="Set the files for the next file chooser.",
        kinds={"": "fileChooser"},
        capability="files",
    ),
    Tool(
        name="download",
        meaning="Click an element and wait for its download.",
        kinds={"": "download"},
        fields=_TARGET,
        capability="files",
    ),
    Tool(
        name="pdf",
        meaning="Print the page to a file.",
        kinds={"": "pdf"},
        fields=("path",),
        capability="files",
    ),
    Tool(
        name="cookies",
        meaning="Read, set or clear cookies.",
        kinds={"get": "cookies", "set": "setCookies", "clear": "clearCookies"},
        fields=("cookies",),
        capability="storage",
    ),
    Tool(
        name="storage",
        meaning="Read, set or clear local or session storage.",
        kinds={"get": "storage", "set": "setStorage", "clear": "clearStorage"},
        fields=("area", "items", "keys"),
        capability="storage",
    ),
    Tool(
        name="cache_replay",
        meaning="Replay a known scenario; stops at an element that is not surely the same.",
        kinds={"": "executeCached"},
        fields=("scenario", "entry", "variables", "fromIndex", "toIndex", "dryRun", "force", "variant"),
        capability="cache",
    ),
    Tool(
        name="learn",
        meaning="Learn a scenario from the actions between start and stop; values become variables.",
        kinds={"start": "startLearning", "stop": "stopLearning"},
        fields=("variables", "keep", "variant"),
        capability="cache",
    ),
    Tool(
        name="cache_lookup",
        meaning="Find the scenario that a sentence is about, and its entries for this page.",
        kinds={"": "cacheLookup"},
        fields=("variant",),
        capability="cache",
    ),
    Tool(
        name="cache_list",
        meaning="List the entries of known scenarios.",
        kinds={"": "cacheList"},
        fields=("scenario", "limit", "offset"),
        capability="cache",
    ),
    Tool(
        name="cache_scenarios",
        meaning="List known scenarios with their variables.",
        kinds={"": "scenarioList"},
        capability="cache",
    ),
    Tool(name="cache_stats", meaning="What was saved.", kinds={"": "cacheStats"}, capability="cache"),
    Tool(
        name="cache_clear",
        meaning="Forget all entries, or those of a scenario.",
        kinds={"": "cacheClear"},
        fields=("scenario",),
        capability="cache",
    ),
    Tool(
        name="cache_delete",
        meaning="Forget one entry.",
        kinds={"": "cacheDelete"},
        capability="cache",
    ),
    Tool(
        name="cache_show",
        meaning="Show an entry, how its runs ended, and when it is not used any more.",
        kinds={"": "cacheShow"},
        capability="cache",
    ),
    Tool(
        name="cache_versions",
        meaning="List the versions of an entry.",
        kinds={"": "cacheVersions"},
        capability="cache",
    ),
    Tool(
        name="cache_restore",
        meaning="Restore an older version of an entry.",
        kinds={"": "cacheRestore"},
        capability="cache",
    ),
    Tool(
        name="cache_refresh",
        meaning="Have an entry learned again.",
        kinds={"": "forceRefresh"},
        capability="cache",
    ),
    Tool(
        name="cache_report",
        meaning="Report that a replay did something wrong.",
        kinds={"": "reportError"},
        capability="cache",
    ),
    Tool(
        name="command",
        meaning="Send a command of the Chrome DevTools Protocol.",
        kinds={"": "command"},
        fields=("params", "browser"),
        capability="wire",
    ),
    Tool(
        name="messages",
        meaning="Read the newest messages of the protocol; kept from the first call on.",
        kinds={"": "messages"},
        fields=("method", "limit", "stop"),
        capability="wire",
    ),
    Tool(
        name="recording",
        meaning="Record the browser's traffic to a file, until it is stopped.",
        kinds={"start": "startRecording", "stop": "stopRecording"},
        capability="wire",
    ),
    Tool(
        name="response_body",
        meaning="Read the body of a response of the page.",
        kinds={"": "responseBody"},
        capability="wire",
    ),
    Tool(
        name="measure",
        meaning="Begin a trace, a CPU profile, or a count of unused code; stop it to get its result or file.",
        kinds={"start": "startMeasurement", "stop": "stopMeasurement"},
        capability="performance",
    ),
    Tool(
        name="metrics",
        meaning="Read the page's counters: nodes, listeners, heap, time spent.",
        kinds={"": "metrics"},
        capability="performance",
    ),
    Tool(
        name="heap_snapshot",
        meaning="Write the heap of the page's scripts to a file.",
        kinds={"": "heapSnapshot"},
        capability="performance",
    ),
)


def choose_tools(capabilities: Iterable[str]) -> list[Tool]:
    """Return the tools of these capabilities and of "core".

    Raises InvalidArgumentError for an unknown capability.
    """
    wanted = {"core", *capabilities}
    for each in wanted:
        if each not in CAPABILITIES:
            expected = ", ".join(map(repr, CAPABILITIES))
            raise InvalidArgumentError(
                what="capabilities", given=repr(each)[:40], expected=f"values among {expected}"
            )
    return [tool for tool in TOOLS if tool.capability in wanted]


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
        if name not in _READING:
            raise InvalidArgumentError(
                what="a field of output", given=repr(name)[:40], expected=f"one of {', '.join(_READING)}"
            )
        kind = _READING[name][0]
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (isinstance(value, int) and value < 0) or value == "":
            expected = "a number, 0 or more" if kind is int else "a string"
            raise InvalidArgumentError(what=f"output.{name}", given=repr(value)[:40], expected=expected)
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


@cache
def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, as short as a model needs."""
    if not tool.kinds:
        properties = {name: schema for name, (_, schema) in _READING.items()}
        return {"type": "object", "properties": properties, "required": ["file"]}
    properties = {}
    required: list[str] = []
    if len(tool.kinds) > 1:
        properties["action"] = {"enum": list(tool.kinds), "default": next(iter(tool.kinds))}
    for kind in tool.kinds.values():
        schema = request_schema(KINDS[kind])
        needed = [name for name in schema["required"] if name != "kind"]
        for name in (*needed, *tool.fields):
            if name in schema["properties"]:
                properties.setdefault(name, _shorten(schema["properties"][name]))
        if len(tool.kinds) == 1:
            required = needed
    made: dict[str, Any] = {"type": "object", "properties": properties}
    return {**made, "required": required} if required else made


_LEFT_OUT = {
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "additionalProperties",
}
_PLAIN = {"ref", "url", "text", "startRef", "endRef", "index", "selector"}
"""Fields with self-explanatory names."""


def _shorten(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without null and without bounds, which the service checks."""
    short = {name: value for name, value in schema.items() if name not in _LEFT_OUT and name != "default"}
    kind = short.get("type")
    if isinstance(kind, list):
        short["type"] = next(each for each in kind if each != "null")
    if "anyOf" in short:
        members = [_shorten(each) for each in short.pop("anyOf") if each != {"type": "null"}]
        short |= members[0] if len(members) == 1 else {"anyOf": members}
    if "items" in short:
        short["items"] = _shorten(short["items"])
    if "properties" in short:
        short["properties"] = {
            name: _without_description(_shorten(each)) if name in _PLAIN else _shorten(each)
            for name, each in short["properties"].items()
        }
        short.pop("description", None)
    return short


def _without_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "description"}
