"""The engine's JavaScript: files next to the modules that send them, each one function expression.

Rule: scripts run in an isolated world, and every source that the engine sends to pages passes through `own`.
Recordings keep the results of these scripts, and withhold the arguments and results of all others, which belong to
the user. Names in a page hide properties of forms and of the document, even in isolated worlds. So scripts read
such nodes through `DOM`, which `with_dom` adds to a source: see _dom.js. A string such as "{UNTYPED}" becomes that
table of `cdpengine._secrets`, as an array.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from importlib import resources

from cdpengine._secrets import AUTOCOMPLETE, UNTYPED
from cdpengine.errors import exhausted, shortages_named

_MOST_OWN = 4_000

_COMMENTS_AND_INDENTATION = re.compile(r"^(?:\s*//.*\n)+\s*|^\s+", re.MULTILINE)

_USES_DOM = re.compile(r"\bDOM\.\w+\(")
_WITH_DOM = "((DOM) => "

ENTERED = "entered"
"""Field of a script's arguments that holds the strings to enter. Recordings hide it, whatever its length."""

_TABLES = {'"{AUTOCOMPLETE}"': f"{list(AUTOCOMPLETE)}", '"{UNTYPED}"': f"{list(UNTYPED)}"}

_own: set[str] = set()


@cache
@shortages_named(partial(exhausted, "read a script of the engine"))
def script(name: str) -> str:
    """Return the `compact` source of a file, named by its path in the package, without ".js": "_input/forms/fill".

    Raises FileNotFoundError if the file does not exist.
    """
    source = compact(resources.files(__package__).joinpath(f"{name}.js").read_text("utf-8"))
    for place, table in _TABLES.items():
        source = source.replace(place, table)
    return source


@cache
def script_with(name: str, *parts: str, parameters: str = "request") -> str:
    """Return the source of a function that calls the function `name` with the objects that `parts` create.

    The function takes the parameters `parameters` and passes them on, before the objects of `parts` and with its
    `this`. It is registered with `own`.
    """
    made = ", ".join(f"({script(part)})()" for part in parts)
    return own(f"function ({parameters}) {{ return ({script(name)}).call(this, {parameters}, {made}); }}")


def compact(source: str) -> str:
    """Return a source without comment lines and indentation, which makes it a third shorter to send and parse.

    Template literals must not span lines.
    """
    return _COMMENTS_AND_INDENTATION.sub("", source)


def own(source: str) -> str:
    """Register the source of a function or an expression as a script of the engine, and return it.

    Pass the complete source, as it is sent. Its result must contain no value of a secret field, because it is
    recorded. Its arguments hold strings to enter only in the field ENTERED.
    """
    source = with_dom(source)
    if len(_own) < _MOST_OWN:
        _own.add(source)
    return source


@lru_cache(_MOST_OWN)
def with_dom(source: str) -> str:
    """Return the source of a function or an expression with `DOM`, the object of _dom.js.

    A source that does not use it, or has it already, is returned unchanged.
    """
    if not _USES_DOM.search(source) or source.startswith(_WITH_DOM):
        return source
    return f"{_WITH_DOM}{source}\n)({script('_dom')})"


def is_own(source: str) -> bool:
    """Return whether a source is registered as a script of the engine."""
    return source in _own
