"""What PyCDP (the package `cdp`) knows of the protocol, read out of its source. Pure.

Rule: its modules are parsed, not imported: what a generated decoder reads, and which of that it cannot do
without, is in its code only. The code has one form throughout: `json['x']`, and `'x' in json` where it may
be missing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import resources

import attrs

_METHOD = re.compile(r"[A-Z][A-Za-z]+\.[a-z][A-Za-z]+")


@attrs.frozen
class Decoder:
    """What one command, event or type reads and sends: `needed` fields, `optional` ones; an enum's `values`."""

    sent: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()


@attrs.frozen
class Vocabulary:
    """PyCDP's commands and events by whole name; its types by module ("page") and name."""

    commands: Mapping[str, Decoder]
    events: Mapping[str, Decoder]
    types: Mapping[tuple[str, str], Decoder]


def read_pycdp() -> Vocabulary:
    """Read the PyCDP that is installed."""
    package = resources.files("cdp")
    files = sorted((file for file in package.iterdir() if file.name.endswith(".py")), key=lambda f: f.name)
    return read_modules({file.name.removesuffix(".py"): file.read_text("utf-8") for file in files})


def read_modules(sources: Mapping[str, str]) -> Vocabulary:
    """Read modules, by name."""
    commands: dict[str, Decoder] = {}
    events: dict[str, Decoder] = {}
    types: dict[tuple[str, str], Decoder] = {}
    for module, source in sources.items():
        if module in ("__init__", "util"):
            continue
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                for method in _constants(node):
                    if _METHOD.fullmatch(method):
                        commands[method] = _decoder(node)
                        break
            elif isinstance(node, ast.ClassDef):
                event = _event_name(node)
                if event:
                    events[event] = _decoder(node)
                else:
                    types[_folded(module), node.name] = _decoder(node)
    return Vocabulary(commands, events, types)


def module_of(domain: str) -> str:
    """Return what the module of a domain is called, folded: "DOMDebugger" is "domdebugger"."""
    return domain.casefold()


def _folded(module: str) -> str:
    return module.replace("_", "").casefold()


def _event_name(node: ast.ClassDef) -> str:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Name(id="event_class"), args=[ast.Constant(value=str(method))]):
                return method
    return ""


def _constants(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _decoder(node: ast.FunctionDef | ast.ClassDef) -> Decoder:
    read: set[str] = set()
    optional: set[str] = set()
    sent: set[str] = set()
    values: list[str] = []
    scope = next(
        (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "from_json"), node
    )
    for inner in ast.walk(scope):
        match inner:
            case ast.Subscript(value=ast.Name(id="json"), slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                read.add(key)
            case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In()]):
                optional.add(key)
            case ast.Subscript(value=ast.Name(id="params"), slice=ast.Constant(value=str(key))):
                sent.add(key)
    if isinstance(node, ast.ClassDef) and any(getattr(base, "attr", "") == "Enum" for base in node.bases):
        for part in node.body:
            match part:
                case ast.Assign(value=ast.Constant(value=str(value))):
                    values.append(value)
    return Decoder(frozenset(sent), frozenset(read - optional), frozenset(optional), tuple(values))
