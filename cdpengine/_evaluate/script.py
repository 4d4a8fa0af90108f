"""A user's script: the expression to evaluate. `replies` decodes its result.

Rule: arguments are literals inside the evaluated source, because only `Runtime.evaluate` honours a timeout, and
`Runtime.callFunctionOn` ignores it. A source is a function if it is exactly one arrow function or one `function`,
from its first to its last token. Reading the source decides this, not a trial run: a script must not run twice.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import attrs

from cdpengine._checks import invalid, wrong_type
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.literals import to_literal
from cdpengine._javascript import with_dom
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    EngineError,
    EvaluationFailedError,
    StaleRefError,
)
from cdpengine.errors.texts import MARK

World = Literal["main", "isolated"]

_DETACHED = "cdpengine: detached node "

_THIS = re.compile(r"\bthis\b|\beval\b")

_SETS_OFF = re.compile(r"\b(?:click|submit|requestSubmit|dispatchEvent|setTimeout|postMessage)\b")
"""Names in a script that can cause a navigation in a later task, after the script has ended."""

_READ_FOR_THAT = 10_000
"""Maximum length of the part of a script that is searched for such names, in characters."""

_PLAIN = re.compile(
    r"""
      (?: (?!(?:new|delete|await|async|yield|import|throw|var|let|const|debugger|function|class)\b) [\w$]++
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
        | [\s.,?:~\[\]] | ===?(?![=>]) | !==?(?!=) | ! | [<>]=?(?![<>=])
        | \+(?![+=]) | -(?![-=]) | \*(?![*=]) | %(?!=) | &&(?!=) | \|\|(?!=)
      )+
    """,
    re.VERBOSE,
)
"""Expressions that only read: without calls, assignments and functions.

A word is matched whole (`++`), so the time is linear: a word in parts has exponentially many matches.
"""

_MAX_PLAIN_LENGTH = 200  # of a plain expression, in characters

_LONG_ENOUGH = 6
"""Minimum length of an argument that is redacted from error messages, in characters."""


@attrs.frozen(eq=False)
class Script:
    """An expression, or a function with its arguments.

    A Node or a JSHandle is passed as its object in the page, also inside of lists and mappings. `nodes` has the
    nodes of other arguments by their `id`. The default `frame` is the first node's frame,
    else the main frame. With `own`, the script belongs to the engine and runs in the engine's world,
    whatever `world` is. Raises InvalidArgumentError on construction.
    """

    source: str
    args: Sequence[object] = ()
    frame: Frame | None = None
    world: World = "main"
    own: bool = False
    nodes: Mapping[int, Node] = attrs.field(factory=dict, repr=False)
    objects: list[Node | JSHandle] = attrs.field(factory=list, init=False, repr=False)
    """The arguments that are objects in the page, in order."""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise wrong_type("expression_or_function", self.source, "JavaScript as a str")
        if self.world not in ("main", "isolated"):
            raise invalid("world", self.world, 'one of "main", "isolated"')
        for arg in self.args:
            to_literal(arg, self._note_object)

    def _note_object(self, value: object) -> str | None:
        """Add an object in the page to `objects`. Return the source of a primitive's handle, or of an object."""
        value = self.nodes.get(id(value), value)
        if isinstance(value, JSHandle):
            value.check_usable()
            if value.remote is None:
                return value.source
        if not isinstance(value, Node | JSHandle):
            return None
        self.objects.append(value)
        return f"arguments[{len(self.objects) - 1}]"

    @property
    def may_set_off(self) -> bool:
        """Whether the script can cause an effect in the page that begins after its end."""
        return not self.own and _may_set_off(self.source[:_READ_FOR_THAT])

    @property
    def is_plain(self) -> bool:
        """Whether the script is an expression that only reads, so it needs no user gesture."""
        return not self.args and len(self.source) <= _MAX_PLAIN_LENGTH and _is_plain(self.source)

    def expression(self) -> str:
        """Return the source as one expression; for a script without nodes."""
        source = with_dom(self.source) if self.own else self.source
        if not self.args and not is_function(self.source):
            return source
        return f"({source}\n)({','.join(to_literal(arg, _source_of_primitive) for arg in self.args)})"

    def function(self) -> str:
        """Return a function of the objects only, which first checks that each node is still in its document."""
        objects = self.objects
        nodes = [number for number, each in enumerate(objects) if isinstance(each, Node)]
        numbers = itertools.count()

        def source_of(value: object) -> str:
            return _source_of_primitive(value) or f"arguments[{next(numbers)}]"

        args = [to_literal(arg, source_of) for arg in self.args]
        # `arguments` instead of a parameter, whose name could hide one of the function's. The last "\n)(" precedes
        # the caller's values, as in `expression`. The page may have replaced iterators and `bind`, which is needed
        # only for the `this` of a function. A form may hide its `isConnected` behind a field of that name.
        checks = "".join(f"if (arguments[{i}].isConnected === false) throw '{_DETACHED}{i}'; " for i in nodes)
        bound = ".bind(this)" if _THIS.search(self.source) else ""
        return f"function() {{ {checks}return (({self.source}\n){bound}\n)({','.join(args)}) }}"

    def explain(self, failed: EvaluationFailedError) -> EngineError:
        """Return the error for the script's failure: StaleRefError if its own check of the nodes threw.

        Redacts string arguments, since they may be secrets and the message is displayed.
        """
        _redact_arguments(failed, self.args)
        found = re.search(rf"{_DETACHED}(\d+)", failed.text)
        objects = self.objects
        if found is None or int(found[1]) >= len(objects):
            return failed
        return StaleRefError(
            ref=objects[int(found[1])].description,
            description="a detached node",
            reason="it is no longer in the document",
        )


def _source_of_primitive(value: object) -> str | None:
    return value.source if isinstance(value, JSHandle) and value.remote is None else None


def find_objects(args: Sequence[object]) -> list[object]:
    """Return the values inside of lists and mappings that JSON does not have, such as handles and elements.

    Raises InvalidArgumentError for cycles.
    """
    found: list[object] = []

    def note(value: object) -> str:
        found.append(value)
        return ""

    for arg in args:
        if isinstance(arg, Mapping | Sequence) and not isinstance(arg, str):
            to_literal(arg, note)
    return found


@lru_cache(maxsize=256)
def _may_set_off(source: str) -> bool:
    return _SETS_OFF.search(source) is not None


@lru_cache(maxsize=256)
def _is_plain(source: str) -> bool:
    return _PLAIN.fullmatch(source) is not None


# --- recognizing functions -----------------------------------------------------------------------------------

_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_FUNCTION = re.compile(r"(?:async\b\s*)?function\b")
_ASYNC = re.compile(r"async\b(?=\s*[\w$(])")
_NAME = re.compile(r"[\w$]+")
_ARROW = re.compile(r"\s*=>")

# The content of brackets, quotes and slashes is skipped in one piece. It matters only before a slash, which begins
# a regular expression or divides.
_TOKEN = re.compile(
    r"""
      (?P<plain>[^"'`(){}\[\]/]+)
    | (?P<open>[({\[])
    | (?P<close>[)}\]])
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<template>`)
    | (?P<slash>/)
    | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_REGEX_AFTER_WORD = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "yield", "await"}
)


_MAX_CACHED_LENGTH = 100_000
"""Maximum length of a script whose classification is cached, in characters.

Most scripts are evaluated repeatedly.
"""


def is_function(source: str) -> bool:
    """Return whether `source` is exactly one function, which is then called instead of evaluated."""
    return _is_known_function(source) if len(source) <= _MAX_CACHED_LENGTH else _is_function(source)


@lru_cache(100)
def _is_known_function(source: str) -> bool:
    return _is_function(source)


def _is_function(source: str) -> bool:
    start = _skip(source, 0)
    if found := _FUNCTION.match(source, start):
        brace = _end_of_parameters(source, found.end())
        end = _find_closing(source, brace) if brace is not None else None
        if end is None:
            return True  # unterminated: let V8 report the syntax error
        return _skip(source, end) == len(source)
    return _is_arrow(source, start)


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
    """Return the index of the body's brace, after the name and the parameters."""
    parenthesis = source.find("(", start)
    end = _find_closing(source, parenthesis) if parenthesis >= 0 else None
    if end is None:
        return None
    brace = _skip(source, end)
    return brace if source.startswith("{", brace) else None


def _find_closing(source: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, or None."""
    depth, position, value_before, plain = 0, start, False, ""
    while found := _TOKEN.match(source, position):
        position = found.end()
        match found.lastgroup:
            case "plain":
                plain = found[0].rstrip() or plain
                continue
            case "comment":
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
                divides = _ends_value(plain) if plain else value_before
                regex = None if divides else _REGEX.match(source, found.start())
                position, value_before = (regex.end(), True) if regex else (position, False)
            case kind:
                value_before = kind == "string"
        plain = ""
    return None


def _ends_value(plain: str) -> bool:
    """Return whether a value ends at the end of `plain`, so that a following slash divides."""
    begin = len(plain)
    while begin and (plain[begin - 1].isalnum() or plain[begin - 1] in "_$"):
        begin -= 1
    return begin < len(plain) and plain[begin:] not in _REGEX_AFTER_WORD


def _end_of_template(source: str, position: int) -> int | None:
    """Return the index after the backtick that ends the template whose content begins at `position`."""
    while found := _IN_TEMPLATE.search(source, position):
        if found[0] == "`":
            return found.end()
        end = found.end() if found[0] != "${" else _find_closing(source, found.end() - 1)
        if end is None:
            return None
        position = end
    return None


_IN_TEMPLATE = re.compile(r"`|\$\{|\\.", re.DOTALL)
"""Significant parts of a template: its end, an expression, an escape sequence."""


# --- redaction of arguments in exceptions --------------------------------------------------------------------


def _redact_arguments(failed: EvaluationFailedError, argument: object) -> None:
    if isinstance(argument, str):
        if len(argument) >= _LONG_ENOUGH:
            failed.text = failed.text.replace(argument, MARK)
            failed.stack = failed.stack.replace(argument, MARK)
    elif isinstance(argument, Mapping):
        for each in argument.values():
            _redact_arguments(failed, each)
    elif isinstance(argument, Sequence) and not isinstance(argument, bytes | bytearray | memoryview):
        for each in argument:
            _redact_arguments(failed, each)
