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

from cdpengine import _json
from cdpengine._pictures.sizes import size_of
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine.act import ActResponse
from cdpengine.act.response import describe_effects
from cdpengine.act.tooling import texts
from cdpengine.act.tooling.texts import cut, describe_navigation
from cdpengine.errors import os_reason
from cdpengine.service.mcp_tools import OUTPUT
from cdpengine.service.outputs import Outputs

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
        return say(f"{describe_navigation(result)} {result['type']}\n{note}")

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


def explain_unknown(name: str, offered: Collection[str]) -> str:
    """Return why no tool `name` is `offered`: it needs a capability, or has another name."""
    if OUTPUT.name in offered and difflib.get_close_matches(name.lower()[:40], [OUTPUT.name], 1, 0.7):
        return (
            f"no tool {name[:40]!r}; did you mean the tool {OUTPUT.name}? The tools are {', '.join(offered)}"
        )
    return texts.explain_unknown(name, offered, _remedy)


def _remedy(capability: str) -> str:
    return (
        f"Ask the user to start the server with cdpengine mcp --caps {capability}, or with cdpengine serve "
        f"--mcp-capabilities {capability}"
    )
