"""The pages for people who come from other tools (docs/from-*.md): their tables, and the engine's calls in them.

A table has the other tool's names in its first column. The engine's calls are in the other columns, in code font.
`page`, `locator`, `context` and so on stand for an object of the class in `OBJECTS`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_overloads

import attrs
from doc_examples import ROOT
from public_names import ENGINE

import cdpengine

PLAYWRIGHT = ROOT / "docs/from-playwright.md"
COMPARISONS = sorted((ROOT / "docs").glob("from-*.md"))

OBJECTS = {
    "browser": "Browser", "chooser": "ExpectedFileChooser", "context": "BrowserContext", "cookie": "Cookie",
    "dialog": "Dialog", "download": "Download", "error": "PageError", "events": "PageEvents", "expected": "Expected", "frame": "Frame",
    "frame_locator": "FrameLocator", "handle": "JSHandle", "locator": "Locator",
    "message": "ConsoleMessage", "navigation": "Navigation", "node": "FoundNode", "outcome": "ActionOutcome",
    "page": "Page", "reply": "HttpResponse", "request": "Request", "response": "Response", "route": "Route", "session": "Session",
    "snapshot": "Snapshot", "stream": "EventStream", "websocket": "WebSocket", "websocket_route": "WebSocketRoute",
    "worker": "Worker",
}  # fmt: skip
"""Names in the tables' code, and the public class of each."""

OUTSIDE = {"cdpengine", "httpx", "re", "trio", *vars(builtins)}
"""Other names that code in the tables may use as functions or modules."""

_CODE = re.compile(r"`([^`]+)`")


@attrs.frozen
class Row:
    """A row of a table. `section` is the nearest heading above it, `line` its line in the page, from 1."""

    section: str
    line: int
    cells: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The other tool's names: the first word of each code span in the first column, without an object.

        A class stays: "page.on" is "on", and "Page.on" is itself.
        """
        spans = _CODE.findall(self.cells[0])
        return [found[1] for span in spans if (found := re.match(r"(?:[a-z]\w*\.)*([\w$.]+)", span))]

    @property
    def code(self) -> list[str]:
        """The code spans of the other columns."""
        return [span for cell in self.cells[1:] for span in _CODE.findall(cell)]


def rows(page: Path) -> list[Row]:
    """Return the rows of all tables of a page, without their headings."""
    return list(rows_of(page.read_text("utf-8")))


def rows_of(text: str) -> Iterator[Row]:
    """Yield the rows of all tables of a Markdown text, without their headings."""
    section, inside, fenced = "", False, False
    for number, line in enumerate(text.splitlines(), start=1):
        fenced ^= line.startswith("```")
        if fenced:
            continue
        if heading := re.match(r"#+ (.*)", line):
            section = heading[1].replace("`", "")
        if not line.startswith("|"):
            inside = False
        elif re.fullmatch(r"[|\- ]+", line):
            inside = True
        elif inside:
            cells = (cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            yield Row(section, number, tuple(cells))


def faults(code: str) -> list[str]:
    """Return what the engine lacks of a piece of code: attributes, keyword arguments, unknown names of objects."""
    statement = re.sub(r"^async with (.*?)( as \w+)?:?$", r"\1", code)
    try:
        tree = ast.parse(statement, mode="eval")
    except SyntaxError:
        try:
            tree = compile(statement, "", "eval", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            return [f"no Python: {error.msg}"]
    found: list[str] = []
    _visit(tree.body, found)
    return found


def is_checked(code: str) -> bool:
    """Return whether a piece of code is a call or an attribute of the engine: it begins with one of its objects."""
    return _ENGINE_CODE.match(code) is not None


_ENGINE_CODE = re.compile(rf"(async with |await )?(cdpengine\.|expect\(|({'|'.join(OBJECTS)})[.\[])")


# --- classes of expressions -----------------------------------------------------------------------------------


_UNKNOWN = object()
"""A value without a known class. Its attributes are not checked."""


def _visit(node: ast.AST, found: list[str]) -> Any:
    """Check an expression. Return the class of its value, a function, or `_UNKNOWN`."""
    match node:
        case ast.Await():
            return _visit(node.value, found)
        case ast.Name():
            return _named(node.id, found)
        case ast.Attribute():
            return _attribute(_visit(node.value, found), node.attr, ast.unparse(node), found)
        case ast.Call():
            function = _visit(node.func, found)
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                _visit_argument(argument, found)
            return _called(function, node, found)
        case ast.Subscript():
            _visit_argument(node.slice, found)
            kind = _visit(node.value, found)
            return _UNKNOWN if hasattr(kind, "__getitem__") else kind
        case _:
            for child in ast.iter_child_nodes(node):
                _visit_argument(child, found)
            return _UNKNOWN


def _visit_argument(node: ast.AST, found: list[str]) -> None:
    """Check an argument. A plain name there ("url", "target") stands for a value of the caller."""
    if not isinstance(node, ast.Name):
        _visit(node, found)


def _named(name: str, found: list[str]) -> Any:
    if name == "cdpengine":
        return cdpengine
    if name in OBJECTS:
        kind = public_class(OBJECTS[name])
        if kind is None:
            found.append(f"no class {OBJECTS[name]}")
        return kind or _UNKNOWN
    if name == "expect":
        return _attribute(cdpengine, "expect", "cdpengine.expect", found)
    if name not in OUTSIDE:
        found.append(f"unknown object {name!r}")
    return _UNKNOWN


def has_attribute(kind: str, name: str) -> bool:
    """Return whether objects of the public class have a public attribute."""
    found: list[str] = []
    _attribute(public_class(kind), name, name, found)
    return found == []


def public_class(name: str) -> type | None:
    """Return the public class of this name, or None."""
    found = next((getattr(module, name) for module in ENGINE if name in module.__all__), None)
    return found if inspect.isclass(found) else None


def _attribute(owner: Any, name: str, shown: str, found: list[str]) -> Any:
    if owner is _UNKNOWN or inspect.isfunction(owner):
        return _UNKNOWN
    if inspect.ismodule(owner):
        value = getattr(owner, name, None)
        if value is None:
            found.append(f"{shown}: no such name")
        return _UNKNOWN if value is None else value
    static = inspect.getattr_static(owner, name, None)
    if isinstance(static, property):
        return _class_named(inspect.get_annotations(static.fget)["return"], owner)  # type: ignore[arg-type]
    if static is not None and callable(static):
        return static
    annotations = {}
    for base in reversed(owner.__mro__):
        annotations.update(inspect.get_annotations(base))
    if static is not None or name in annotations:
        return _class_named(annotations.get(name, ""), owner)
    for base in owner.__mro__:
        if (kind := _set_by_init(base, name)) is not None:
            return kind
    found.append(f"{shown}: {owner.__name__} has no {name!r}")
    return _UNKNOWN


def _set_by_init(owner: type, name: str) -> Any:
    """Return the class of an attribute that `__init__` sets, or None if it sets none."""
    init = vars(owner).get("__init__")
    if not inspect.isfunction(init) or attrs.has(owner) or not owner.__module__.startswith("cdpengine"):
        return None
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(init)))):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == f"self.{name}":
            made = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
            kind = init.__globals__.get(made.split(".")[0], _UNKNOWN)
            return kind if inspect.isclass(kind) else _UNKNOWN
    return None


def _class_named(annotation: Any, owner: Any) -> Any:
    """Return the engine's class in an annotation, such as Frame in "list[Frame] | None"."""
    if inspect.isclass(annotation):
        return annotation
    text = str(annotation) if not isinstance(annotation, UnionType) else repr(annotation)
    names = vars(inspect.getmodule(owner))
    for name in re.findall(r"\w+", text):
        kind = names.get(name) if inspect.isclass(names.get(name)) else public_class(name)
        if kind is not None and kind.__module__.startswith("cdpengine"):
            return kind
    return _UNKNOWN


def _called(function: Any, node: ast.Call, found: list[str]) -> Any:
    """Check the arguments of a call. Return the class of its result."""
    if function is _UNKNOWN or not callable(function):
        return _UNKNOWN
    variants = _overloads(function, node) if inspect.isfunction(function) else []
    plain = inspect.unwrap(function)
    accepted: set[str] = set()
    positional = 0.0
    for each in (plain, *variants, function):
        for parameter in inspect.signature(each).parameters.values():
            accepted.add(parameter.name)
            if parameter.kind is parameter.VAR_KEYWORD:
                accepted |= _options(parameter.annotation, plain)
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional = float("inf")
        positional = max(positional, _count_positional(each))
    wrong = [
        keyword.arg
        for keyword in node.keywords
        if keyword.arg is not None and keyword.arg not in accepted and "*" not in accepted
    ]
    found += [f"{ast.unparse(node)}: no argument {name!r}" for name in wrong]
    # A single "..." stands for any arguments.
    given = [each for each in node.args if not isinstance(each, ast.Starred) and ast.unparse(each) != "..."]
    if len(given) > positional:
        found.append(f"{ast.unparse(node)}: at most {positional:.0f} positional arguments")
    if inspect.isclass(function):
        return function
    found += _wrong_choices(plain, node)
    returned = {
        _class_named(inspect.get_annotations(each).get("return", ""), each) for each in variants or [plain]
    }
    known = returned - {_UNKNOWN}
    return known.pop() if len(known) == 1 else _UNKNOWN


def _wrong_choices(function: Any, node: ast.Call) -> list[str]:
    """Return faults of strings for parameters that accept only some, such as `state="enabled"`."""
    parameters = inspect.signature(function).parameters
    places = [
        each for name, each in parameters.items() if name != "self" and each.kind is not each.KEYWORD_ONLY
    ]
    given = [(places[min(place, len(places) - 1)], value) for place, value in enumerate(node.args) if places]
    given += [
        (parameters[each.arg], each.value) for each in node.keywords if each.arg and each.arg in parameters
    ]
    faults = []
    for parameter, value in given:
        kind = function.__globals__.get(parameter.annotation)
        chosen = value.value if isinstance(value, ast.Constant) else None
        if get_origin(kind) is Literal and isinstance(chosen, str) and chosen not in get_args(kind):
            faults.append(f"{parameter.name}={chosen!r}: no such choice")
    return faults


def _overloads(function: Any, node: ast.Call) -> Sequence[Any]:
    """Return the overloads of a function, or only those for the class of the first argument if it is known."""
    every = get_overloads(function)
    given = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
    kind = OBJECTS.get(given, "no class")
    fitting = [each for each in every if kind in str(next(iter(inspect.get_annotations(each).values()), ""))]
    return fitting or every


def _count_positional(function: Any) -> int:
    found = list(inspect.signature(function).parameters.values())
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds and parameter.name != "self" for parameter in found)


def _options(annotation: Any, function: Any) -> set[str]:
    """Return the names of `**options`: those of its TypedDict, or "*" if any name is accepted."""
    kind = _class_named(annotation, function)
    return {"*"} if kind is _UNKNOWN else set(kind.__annotations__)
