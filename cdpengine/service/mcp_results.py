"""Results of MCP tools as text: a short version of a response for a model, and the handling of long content.

Rule: a result has a token limit. Longer content is written to a file; the result has its beginning, the file's
name and size, and how to read a part of it. Pictures are images, up to a size.
"""

from __future__ import annotations

import base64
import difflib
import mimetypes
from collections.abc import Collection, Mapping
from typing import Any

import attrs
import mcp_types as types

from cdpengine import _json, errors
from cdpengine._json_values import to_plain
from cdpengine._pictures.sizes import size_of
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine.act import KINDS, ActResponse
from cdpengine.act.response import describe_cached, describe_effects, shorten_diff
from cdpengine.act.words.advice import ADVICE, NOT_INSTALLED
from cdpengine.act.words.wording import Words
from cdpengine.errors import os_reason
from cdpengine.service.mcp_tools import TOOLS
from cdpengine.service.outputs import Outputs

LONGEST_SIDE = 1568
"""Maximum length of a picture's longer side, in pixels. Models scale larger ones down, or refuse them (8,000)."""

LARGEST_PICTURE = 1_000_000
"""Maximum size of a PNG in a result, in bytes. A larger picture is sent as a JPEG."""

_NOTE_TOKENS = 60
"""Estimated length of the line about a file, in tokens."""


@attrs.frozen
class ToolResults:
    """Makes results. Without `outputs`, long content is cut, and the result reports that."""

    outputs: Outputs | None

    async def say(self, what: str, text: str, most: int) -> types.CallToolResult:
        """Return a text as a result of at most `most` tokens. `what` begins the name of a file."""
        if estimate_tokens(text) <= most:
            return say(text)
        beginning = cut(text, most - _NOTE_TOKENS)
        return say(f"{beginning}\n... {await self.keep_text(what, text)}")

    async def keep_text(self, what: str, text: str) -> str:
        """Write a text to a file, and return the note about it for a result."""
        suffix = ".json" if text[:1] in "{[" else ".txt"
        return await self._keep(what, suffix, _json.replace_unpaired(text).encode(), len(text))

    async def show(
        self, full: Mapping[str, Any], smaller: Mapping[str, Any] | None = None
    ) -> types.CallToolResult:
        """Return a screenshot as an image: `full`, or `smaller` and a file with `full`."""
        picture = smaller or full
        content: list[types.ContentBlock] = []
        if "snapshot" in picture:
            content.append(_text(picture["snapshot"]))
        content.append(types.ImageContent(data=picture["base64"], mime_type=f"image/{picture['format']}"))
        if smaller is not None:
            data = base64.b64decode(full["base64"])
            width, height = size_of(data)
            note = await self._keep("screenshot", f".{full['format']}", data)
            content.append(_text(f"made smaller, from {width} x {height} pixels: {note}"))
        return types.CallToolResult(content=content)

    async def print(self, result: Mapping[str, Any], most: int) -> types.CallToolResult:
        """Return a PDF as a file."""
        if self.outputs is None:
            return await self.say("page", _json.encode_ascii(result), most)
        return say(await self._keep("page", ".pdf", base64.b64decode(result["base64"])))

    async def hand_over(self, result: Mapping[str, Any], most: int) -> types.CallToolResult:
        """Return a binary body as a file, with its description."""
        if self.outputs is None:
            return await self.say("body", _json.encode_ascii(result), most)
        suffix = mimetypes.guess_extension(str(result["type"])) or ".bin"
        note = await self._keep("body", suffix, base64.b64decode(result["base64"]))
        return say(f"{_describe_navigation(result)} {result['type']}\n{note}")

    async def _keep(self, what: str, suffix: str, content: bytes, chars: int | None = None) -> str:
        """Write a file, and return the note about it."""
        size = f"{len(content):,} bytes" if chars is None else f"{chars:,} characters"
        if self.outputs is None:
            return f"cut: all of it is {size}. Ask for less"
        try:
            path = await self.outputs.write(what, suffix, content)
        except OSError as error:
            return f"cut: all of it is {size}, which could not be written to a file: {os_reason(error)}"
        how = "" if chars is None else f'; the tool output reads a part: {{"file": "{path.name}"}}'
        return f"all of it, {size}, is in {path}{how}"


def say(words: str, *, failed: bool = False) -> types.CallToolResult:
    """Return a string as a result."""
    return types.CallToolResult(content=[_text(words)], is_error=failed)


def _text(words: str) -> types.TextContent:
    # The SDK cannot write unpaired surrogates. In JSON within a text they are already escapes.
    return types.TextContent(text=_json.replace_unpaired(words))


_MOST_LEVELS = 200
"""Maximum nesting of structured data. The SDK writes about 250 levels; beyond, it reports an internal error."""


def with_effects(result: types.CallToolResult, response: ActResponse) -> types.CallToolResult:
    """Return a result that is not text, with the effects of the action as text in front of it."""
    if lines := describe_effects(response.effects):
        result.content.insert(0, _text("\n".join(lines)))
    return result


def structure(response: ActResponse) -> dict[str, Any]:
    """Return the whole response as data.

    A result that is nested too deeply for the SDK becomes a string of JSON.
    """
    document = response.to_json()
    level: list[Any] = [document]
    levels = 0
    while level and levels <= _MOST_LEVELS:
        levels += 1
        level = [
            inside
            for each in level
            for inside in (each.values() if isinstance(each, dict) else each)
            if isinstance(inside, dict | list)
        ]
    if level:
        document["result"] = _json.encode_text(document["result"])
    return document


def describe(response: ActResponse) -> str:
    """Return a response in few words: the action's effects, the result, the page's changes."""
    lines = describe_effects(response.effects)
    result = to_plain(response.result)
    match result:
        case None:
            pass
        case {"snapshot": str(text)}:
            lines.append(f"{response.url}\n{text}")
        case {"title": _, "diff": str(text)}:
            lines.append(shorten_diff(text))
        case {"url": str(), "status": _} if result.keys() <= _NAVIGATION_FIELDS:
            lines.append(_describe_navigation(result))
        case {"responsive": _, "report": str(text)}:
            lines.append(text)
        case str():
            lines.append(result)
        case _:
            lines.append(_json.encode_text(result, compact=True))
    if response.diff is not None:
        lines.append(shorten_diff(response.diff))
    lines += describe_cached(response.cached)
    return "\n".join(lines) or "done"


_NAVIGATION_FIELDS = {"url", "status", "redirects", "sameDocument"}


def _describe_navigation(navigation: Mapping[str, Any]) -> str:
    status = "no status" if navigation["status"] is None else f"status {navigation['status']}"
    kind = "the same document" if navigation.get("sameDocument") else status
    redirected = [f"redirected from {each}" for each in navigation.get("redirects", ())]
    return "\n".join([f"{navigation['url']} ({kind})", *redirected])


def describe_failure(response: ActResponse) -> str:
    """Return the error, the covering element, and the hint."""
    error = response.error
    assert error is not None
    covering = f" ({error.covered_by_ref})" if error.covered_by_ref else ""
    covered = f"\nit is covered by {error.covered_by}{covering}" if error.covered_by else ""
    suggestions = f"\nperhaps meant: {', '.join(error.alternatives)}" if error.alternatives else ""
    effects = "".join(f"\n{line}" for line in describe_effects(response.effects))
    return f"{error.kind}: {error.message}{covered}{suggestions}\n{error.hint}{effects}"


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` estimated tokens, up to the end of a line.

    If the first line is longer, return its beginning.
    """
    if estimate_tokens(text) <= most:
        return text
    lines: list[str] = []
    left = most
    for line in text.splitlines():
        needed = estimate_tokens(line) + 1
        if needed > left:
            if not lines:
                lines.append(_cut_line(line, left))
            break
        left -= needed
        lines.append(line)
    return "\n".join(lines)


def _cut_line(line: str, most: int) -> str:
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(line[:middle]) <= most else (low, middle - 1)
    return line[:low]


# --- the words of errors ------------------------------------------------------------------------------------

_TOOLS: Mapping[str, tuple[str, str]] = {
    kind: (tool.name, "" if place == 0 else action)
    for tool in TOOLS
    for place, (action, kind) in enumerate(tool.kinds.items())
}
"""Names by kind of request: the tool, and its action if that is not the default."""


def _name_request(kind: str, field: str, value: str) -> str:
    name, action = _TOOLS[kind]
    details = [f'action "{action}"'] if action else []
    details += [f"{field} {_json.encode_text(value)}"] if field else []
    return f"the tool {name}{' with ' if details else ''}{' and '.join(details)}"


def _name_place(kind: str, field: str) -> str:
    name, _ = _TOOLS[kind]
    return f"{name}.{field}" if field else name


WORDS = Words(
    kinds=tuple(KINDS),
    name_request=_name_request,
    name_place=_name_place,
    name_field=str,
    hints={
        ADVICE[errors.InvalidArgumentError].hint: "Correct the arguments as the message says.",
        ADVICE[errors.ConnectionLostError].hint: "The browser has ended. The tool navigate starts a new one.",
        ADVICE[errors.LaunchFailedError].hint: "Ask the user to run cdpengine doctor to find the fault.",
        NOT_INSTALLED.hint: "Ask the user to install Chrome or Chromium.",
        ADVICE[
            errors.PackageMissingError
        ].hint: "Ask the user to install the package that the message names.",
    },
)
"""The words of errors and hints for MCP: they name tools instead of requests."""


def explain_unknown(name: str, offered: Collection[str]) -> str:
    """Return why no tool `name` is `offered`: it needs a capability, or has another name."""
    plain = name.removeprefix("browser_").replace("-", "_").lower()[:40]
    kind = {each.lower(): each for each in _TOOLS}.get(plain.replace("_", ""))
    names = {tool.name: tool for tool in TOOLS}
    near = _TOOLS[kind][0] if kind else next(iter(difflib.get_close_matches(plain, names, 1, 0.7)), "")
    missing = f"no tool {name[:40]!r}"
    if near in offered:
        suggestion = _name_request(kind, "", "") if kind else f"the tool {near}"
        return f"{missing}; did you mean {suggestion}? The tools are {', '.join(offered)}"
    if near and names[near].kinds:
        needed = names[near].capability
        return (
            f"{missing} here: the tool {near} needs the capability {needed!r}. Ask the user to start the server "
            f"with cdpengine mcp --caps {needed}, or with cdpengine serve --mcp-capabilities {needed}"
        )
    return f"{missing}; the tools are {', '.join(offered)}"
