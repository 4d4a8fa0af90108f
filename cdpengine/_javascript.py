"""The engine's JavaScript: files beside the modules that send them, each one function expression.

Rule: scripts run in an isolated world, and a source that is sent to pages as the engine's own goes through `own`.
Recordings keep what such a script returns, and withhold what all others are given and return: these are the
user's. A page's names hide properties of forms and of the document in isolated worlds, too. So scripts read nodes
that may be one of these through `DOM`, which `with_dom` gives to a source: see _dom.js.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from importlib import resources

from cdpengine.errors import exhausted, shortages_named

_MOST_OWN = 4_000

_COMMENTS_AND_INDENTATION = re.compile(r"^(?:\s*//.*\n)+\s*|^\s+", re.MULTILINE)

_USES_DOM = re.compile(r"\bDOM\.\w+\(")
_WITH_DOM = "((DOM) => "

_own: set[str] = set()


@cache
@shortages_named(partial(exhausted, "read a script of the engine's own"))
def script(name: str) -> str:
    """Return the `compact` source of a file, named by its path in the package, without ".js": "_input/forms/fill".

    Raises FileNotFoundError when there is no such file.
    """
    return compact(resources.files(__package__).joinpath(f"{name}.js").read_text("utf-8"))


@cache
def script_with(name: str, *parts: str, given: str = "request") -> str:
    """Return the source of a function that calls the function `name` with what each of `parts` makes.

    It takes the arguments `given`, passes them on before these, and its `this` with them. It is noted as own.
    """
    made = ", ".join(f"({script(part)})()" for part in parts)
    return own(f"function ({given}) {{ return ({script(name)}).call(this, {given}, {made}); }}")


def compact(source: str) -> str:
    """Return a source without lines that are comments and without indentation: a third less to send and to parse.

    No text between backticks may go over several lines.
    """
    return _COMMENTS_AND_INDENTATION.sub("", source)


def own(source: str) -> str:
    """Return the source of a function or an expression, noted as the engine's own.

    To be given whole, as it is sent. What it returns must hold no value of a secret field: it is recorded.
    """
    source = with_dom(source)
    if len(_own) < _MOST_OWN:
        _own.add(source)
    return source


@lru_cache(_MOST_OWN)
def with_dom(source: str) -> str:
    """Return the source of a function or an expression, in which `DOM` is what _dom.js makes.

    A source that does not use it, or has it already, is returned as it is.
    """
    if not _USES_DOM.search(source) or source.startswith(_WITH_DOM):
        return source
    return f"{_WITH_DOM}{source}\n)({script('_dom')})"


def is_own(source: str) -> bool:
    """Say whether a source was noted as the engine's own."""
    return source in _own
