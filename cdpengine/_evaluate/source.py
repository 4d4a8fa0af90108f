"""Source: whether a text of JavaScript is exactly one function, which is then called. Pure.

Rule: a text is a function when it is one arrow function or one `function` from its first to its last token. That
is decided by reading the text, never by trying it: a script must not run twice. What is between brackets, quotes and
slashes is passed over in one piece; it matters only before a slash, which begins a regular expression or divides.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_FUNCTION = re.compile(r"(?:async\b\s*)?function\b")
_ASYNC = re.compile(r"async\b(?=\s*[\w$(])")
_NAME = re.compile(r"[\w$]+")
_ARROW = re.compile(r"\s*=>")

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


_LONGEST_KEPT = 100_000
"""Characters of a text of which it is remembered what it is: most are evaluated again and again."""


def is_function(source: str) -> bool:
    """Whether `source` is exactly one function, which is then called; otherwise it is evaluated as it is."""
    return _is_known_function(source) if len(source) <= _LONGEST_KEPT else _is_function(source)


@lru_cache(100)
def _is_known_function(source: str) -> bool:
    return _is_function(source)


def _is_function(source: str) -> bool:
    start = _skip(source, 0)
    if found := _FUNCTION.match(source, start):
        brace = _end_of_parameters(source, found.end())
        end = _find_closing(source, brace) if brace is not None else None
        if end is None:
            return True  # it never ends: V8 says what is wrong with it
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
    """Return where the body's brace opens, after the name and the parameters."""
    parenthesis = source.find("(", start)
    end = _find_closing(source, parenthesis) if parenthesis >= 0 else None
    if end is None:
        return None
    brace = _skip(source, end)
    return brace if source.startswith("{", brace) else None


def _find_closing(source: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, None when there is none."""
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
    """Whether a value ends where this text does, so that a slash behind it divides."""
    begin = len(plain)
    while begin and (plain[begin - 1].isalnum() or plain[begin - 1] in "_$"):
        begin -= 1
    return begin < len(plain) and plain[begin:] not in _REGEX_AFTER_WORD


def _end_of_template(source: str, position: int) -> int | None:
    """Return the index after the backtick that ends the template whose text begins at `position`."""
    while found := _IN_TEMPLATE.search(source, position):
        if found[0] == "`":
            return found.end()
        end = found.end() if found[0] != "${" else _find_closing(source, found.end() - 1)
        if end is None:
            return None
        position = end
    return None


_IN_TEMPLATE = re.compile(r"`|\$\{|\\.", re.DOTALL)
"""What means something in a template: its end, an expression, what is escaped."""
