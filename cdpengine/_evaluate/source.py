"""What a text of JavaScript is: one function to be called, or an expression to be evaluated. Pure.

Rule: decided by reading the text, never by trying it: a script must not run twice. A text is a function when
it is one arrow function or one `function` from its first to its last token.
"""

from __future__ import annotations

import re

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
        end = _balanced(source, brace) if brace is not None else None
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
        end = _balanced(source, start)
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
    end = _balanced(source, parenthesis) if parenthesis >= 0 else None
    if end is None:
        return None
    brace = _skip(source, end)
    return brace if source.startswith("{", brace) else None


def _balanced(source: str, start: int) -> int | None:
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
            end = _balanced(source, position + 1)
            if end is None:
                return None
            position = end
        else:
            position += 1
    return None
