"""Script: what a user has evaluated: its text, a function or an expression, and its arguments as literals. Pure.

Rule: an argument arrives in the page as exactly the value that it is, or is refused by name. Arguments travel as
literals inside the evaluated source, because `Runtime.evaluate` alone honours a timeout; `Runtime.callFunctionOn`
ignores it. A text is a function when it is one arrow function or one `function` from its first to its last token.
That is decided by reading the text, never by trying it: a script must not run twice.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import attrs

from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.session import Session
from cdpengine.errors import EngineError, EvaluationFailedError, InvalidArgumentError, StaleRefError
from cdpengine.errors.texts import MARK

World = Literal["main", "isolated"]

_DETACHED = "cdpengine: detached node "

_LONG_ENOUGH = 6
"""Characters from which on a text that a script was given is taken out of what it throws."""


@attrs.frozen(eq=False)
class JSHandle:
    """A value that stays in the page. `description` is Chrome's own, such as "Array(3)" or "HTMLDivElement"."""

    session: Session = attrs.field(repr=False)
    object_id: str = attrs.field(repr=False)
    description: str


@attrs.frozen(eq=False)
class Script:
    """What is to be evaluated: an expression, or a function and its arguments.

    A Node or a JSHandle among the arguments is passed as what it is in the page. `frame` None is the frame of the
    first node, else the main frame. Checked when made: raises InvalidArgumentError.
    """

    source: str
    args: Sequence[object] = ()
    frame: Frame | None = None
    world: World = "main"

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise InvalidArgumentError(
                what="expression_or_function",
                given=f"a {type(self.source).__name__}",
                expected="JavaScript as a str",
            )
        if self.world not in ("main", "isolated"):
            raise InvalidArgumentError(what="world", given=repr(self.world), expected='"main" or "isolated"')
        for arg in self.args:
            if not isinstance(arg, (Node, JSHandle)):
                to_literal(arg)

    @property
    def objects(self) -> list[Node | JSHandle]:
        """The arguments that are objects in the page."""
        return [arg for arg in self.args if isinstance(arg, (Node, JSHandle))]

    def expression(self) -> str:
        """Return the source as one expression; for a script without nodes."""
        if not self.args and not is_function(self.source):
            return self.source
        return f"({self.source}\n)({','.join(to_literal(arg) for arg in self.args)})"

    def function(self) -> str:
        """Return a function of the objects alone, which first sees that each node is still in its document."""
        objects = self.objects
        nodes = [number for number, each in enumerate(objects) if isinstance(each, Node)]
        numbers = itertools.count()
        args = [
            f"arguments[{next(numbers)}]" if isinstance(arg, (Node, JSHandle)) else to_literal(arg)
            for arg in self.args
        ]
        # `arguments` and not a parameter: a name of ours must not hide one that the function means. What the
        # caller passes stands behind the last "\n)(", as in `expression`.
        return (
            f"function() {{ for (const i of {nodes}) if (!arguments[i].isConnected) throw '{_DETACHED}' + i; "
            f"return (({self.source}\n).bind(this)\n)({','.join(args)}) }}"
        )

    def explain(self, failed: EvaluationFailedError) -> EngineError:
        """Return what the script's failure means: StaleRefError where its own check of the nodes threw.

        Texts that the script was given are taken out: they may be secrets, and the message is shown.
        """
        _hide_given(failed, self.args)
        found = re.search(rf"{_DETACHED}(\d+)", failed.text)
        objects = self.objects
        if found is None or int(found[1]) >= len(objects):
            return failed
        return StaleRefError(
            ref=objects[int(found[1])].description,
            description="a detached node",
            reason="it is no longer in the document",
        )


_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_FUNCTION = re.compile(r"(?:async\b\s*)?function\b")
_ASYNC = re.compile(r"async\b(?=\s*[\w$(])")
_NAME = re.compile(r"[\w$]+")
_ARROW = re.compile(r"\s*=>")

_TOKEN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>[\w$]+)
    | (?P<template>`)
    | (?P<open>[({\[])
    | (?P<close>[)}\]])
    | (?P<slash>/)
    | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_REGEX_AFTER_WORD = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "yield", "await"}
)


def is_function(source: str) -> bool:
    """Whether `source` is exactly one function, which is then called; otherwise it is evaluated as it is."""
    start = _skip(source, 0)
    if found := _FUNCTION.match(source, start):
        brace = _end_of_parameters(source, found.end())
        end = _find_closing(source, brace) if brace is not None else None
        if end is None:
            return True  # it never ends: V8 says what is wrong with it
        return _skip(source, end) == len(source)
    return _is_arrow(source, start)


_DEEPEST = 200
"""Levels of nesting; V8's parser and Python's own stack both give up on far deeper ones."""

_LARGEST_EXACT = 2**53
"""From here on a JavaScript number cannot hold every integer; such integers travel as BigInt."""


def to_literal(value: object) -> str:
    """Return JavaScript source for None, bool, int, float, str, and lists, tuples and mappings of them.

    None is null; an int outside of ±2^53 is a BigInt; NaN, the infinities and -0.0 are themselves. Raises
    InvalidArgumentError for anything else, and for cycles.
    """
    parts: list[str] = []
    _write(value, parts, "argument", 0)
    return "".join(parts)


def _is_arrow(source: str, start: int) -> bool:
    if found := _ASYNC.match(source, start):
        after = _skip(source, found.end())
        if source.startswith("(", after) or not _ARROW.match(source, found.end()):
            start = after
    if source.startswith("(", start):
        end = _find_closing(source, start)
    else:
        name = _NAME.match(source, start)
        end = name.end() if name else None
    return end is not None and _ARROW.match(source, _skip(source, end)) is not None


def _skip(source: str, start: int) -> int:
    found = _SPACE_AND_COMMENTS.match(source, start)
    return found.end() if found else start


def _end_of_parameters(source: str, start: int) -> int | None:
    """Return where the body's brace opens, after the name and the parameters."""
    parenthesis = source.find("(", start)
    end = _find_closing(source, parenthesis) if parenthesis >= 0 else None
    if end is None:
        return None
    brace = _skip(source, end)
    return brace if source.startswith("{", brace) else None


def _find_closing(source: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, None when there is none."""
    depth, position, value_before = 0, start, False
    while found := _TOKEN.match(source, position):
        position = found.end()
        match found.lastgroup:
            case "skip":
                continue
            case "open":
                depth, value_before = depth + 1, False
            case "close":
                depth, value_before = depth - 1, True
                if depth == 0:
                    return position
            case "template":
                end = _end_of_template(source, position)
                if end is None:
                    return None
                position, value_before = end, True
            case "slash":
                regex = None if value_before else _REGEX.match(source, found.start())
                position, value_before = (regex.end(), True) if regex else (position, False)
            case "word":
                value_before = found[0] not in _REGEX_AFTER_WORD
            case kind:
                value_before = kind == "string"
    return None


def _end_of_template(source: str, position: int) -> int | None:
    """Return the index after the backtick that ends the template whose text begins at `position`."""
    while position < len(source):
        character = source[position]
        if character == "`":
            return position + 1
        if character == "\\":
            position += 2
        elif source.startswith("${", position):
            end = _find_closing(source, position + 1)
            if end is None:
                return None
            position = end
        else:
            position += 1
    return None


def _write(value: object, parts: list[str], where: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise InvalidArgumentError(
            what=where[:80], given="a cycle or deep nesting", expected=f"at most {_DEEPEST} levels"
        )
    if value is None:
        parts.append("null")
    elif value is True or value is False:
        parts.append("true" if value else "false")
    elif isinstance(value, str):
        parts.append(json.dumps(value))
    elif isinstance(value, int):
        # In base 16: Python refuses to write large numbers in base 10.
        parts.append(f"{int(value)}" if -_LARGEST_EXACT <= value <= _LARGEST_EXACT else f"{int(value):#x}n")
    elif isinstance(value, float):
        parts.append(_float(value))
    elif isinstance(value, Mapping):
        _write_mapping(value, parts, where, depth)
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        parts.append("[")
        for index, item in enumerate(value):
            parts.append("," if index else "")
            _write(item, parts, f"{where}[{index}]", depth + 1)
        parts.append("]")
    else:
        raise InvalidArgumentError(
            what=where[:80],
            given=f"a {type(value).__name__}",
            expected="None, bool, int, float, str, list or dict",
        )


def _write_mapping(value: Mapping[object, object], parts: list[str], where: str, depth: int) -> None:
    parts.append("{")
    for index, (key, item) in enumerate(value.items()):
        if not isinstance(key, str):
            raise InvalidArgumentError(
                what=f"a key of {where[:80]}", given=f"a {type(key).__name__}", expected="a str"
            )
        parts.append("," if index else "")
        # A computed key: a plain "__proto__" in an object literal would set the prototype.
        parts.append(f"[{json.dumps(key)}]:")
        _write(item, parts, f"{where}.{key}", depth + 1)
    parts.append("}")


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))


def _hide_given(failed: EvaluationFailedError, given: object) -> None:
    if isinstance(given, str):
        if len(given) >= _LONG_ENOUGH:
            failed.text = failed.text.replace(given, MARK)
            failed.stack = failed.stack.replace(given, MARK)
    elif isinstance(given, Mapping):
        for each in given.values():
            _hide_given(failed, each)
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray | memoryview):
        for each in given:
            _hide_given(failed, each)
