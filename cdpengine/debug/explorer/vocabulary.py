"""Protocol methods and fields that the engine and PyCDP (the package `cdp`) send and decode.

Rule: both vocabularies are extracted from source code, so no list is maintained. The engine's calls contain the
methods that it sends. The structures of `cdpengine/_protocol/domains/`, and those in ELSEWHERE, declare the fields
that it decodes. PyCDP's modules are parsed, not imported, because only the code of a generated decoder shows its
required fields. That code has one form: `json['x']`, and `'x' in json` for optional fields.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from typing import get_type_hints

import attrs
import msgspec

from cdpengine._protocol.domains import REPORTING_DOMAINS, Description, Part, descriptions

ELSEWHERE: tuple[tuple[str, Part, str], ...] = (
    ("DOMDebugger.getEventListeners", "reply", "_snapshot.sources.listeners:_Listeners"),
    ("DOMDebugger.getEventListeners", "reply", "_input.forms.own_listeners:_OwnListeners"),
    ("Runtime.callFunctionOn", "reply", "_evaluate.replies:_ReadReply"),
    ("Runtime.callFunctionOn", "reply", "_snapshot.sources.walk:_TextReply"),
    ("Runtime.callFunctionOn", "reply", "_page.scripts.node_lists:NodesReply"),
    ("Runtime.evaluate", "reply", "_snapshot.sources.walk:_InstalledReply"),
    ("Runtime.executionContextCreated", "event", "_evaluate.evaluation:_ContextCreated"),
)
"""Structures outside `domains/`: the decoded reply, event or type, and the structure's location."""

NOT_THE_ENGINE = frozenset({"bench", "cli", "debug", "protocol", "testing"})
"""Folders whose source names methods that the engine itself does not use."""

NO_METHODS = frozenset({"Actor.cache", "Info.plist", "Network.webSocket"})
"""Words of the source that look like methods: an attribute, a file name, and the prefix of some events."""

UNDESCRIBED = frozenset({"Runtime.executionContextCreated.context.auxData"})
"""Objects whose contents the protocol does not describe."""

_METHOD = re.compile(r"[A-Z][A-Za-z]+\.[a-z][A-Za-z]+")
_BY_KEYWORDS = frozenset({"call", "post"})
_BY_A_DICT = frozenset({"request", "create", "_post_shared", "Command"})
"""Functions that take a method and its parameters, as keywords or as a dict."""


@attrs.frozen
class Use:
    """A place where the source names a method. `parameters` are the names of its recognised parameters."""

    method: str
    where: str
    sent: bool = False
    parameters: tuple[str, ...] = ()
    complete: bool = False
    """Whether `parameters` is complete."""


@attrs.frozen
class Decoded:
    """A field of a structure: its `name` in the protocol, whether it is `needed`, and its type."""

    name: str
    needed: bool
    kind: object
    owner: str
    attribute: str


def engine_uses() -> list[Use]:
    """Return all places where the engine's source names a method of the protocol."""
    found = [use for name, source in engine_sources() for use in uses_in(source, name)]
    switched = [f"{domain}.{verb}" for domain in sorted(REPORTING_DOMAINS) for verb in ("enable", "disable")]
    return found + [
        Use(method, "_protocol/domains/__init__.py", sent=True, complete=True) for method in switched
    ]


def engine_sources() -> Iterator[tuple[str, str]]:
    """Yield the name ("folder/file.py") and the source of each of the engine's files."""
    package = resources.files("cdpengine")
    folders = [each for each in package.iterdir() if each.is_dir() and each.name not in NOT_THE_ENGINE]
    for folder in sorted(folders, key=lambda each: each.name):
        yield from _sources_in(folder, folder.name)


def _sources_in(folder: Traversable, name: str) -> Iterator[tuple[str, str]]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _sources_in(each, f"{name}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{name}/{each.name}", each.read_text("utf-8")


def uses_in(source: str, where: str) -> list[Use]:
    """Return the methods that a file names outside of docstrings."""
    tree = ast.parse(source)
    words = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    uses: list[Use] = []
    sent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (use := _find_sent(node, where)) is not None:
            uses.append(use)
            sent.add(id(node.args[0]))
    named = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in words and id(node) not in sent
    )
    return uses + [
        Use(node.value, f"{where}:{node.lineno}")
        for node in named
        if isinstance(node.value, str) and _METHOD.fullmatch(node.value) and node.value not in NO_METHODS
    ]


def _find_sent(call: ast.Call, where: str) -> Use | None:
    match call:
        case ast.Call(
            func=ast.Attribute(attr=sender) | ast.Name(id=sender),
            args=[ast.Constant(value=str(method)), *others],
            keywords=keywords,
        ) if sender in _BY_KEYWORDS | _BY_A_DICT and _METHOD.fullmatch(method):
            place = f"{where}:{call.lineno}"
            if sender in _BY_KEYWORDS:
                names = tuple(keyword.arg for keyword in keywords if keyword.arg is not None)
                return Use(method, place, True, names, all(keyword.arg for keyword in keywords))
            if others and isinstance(others[0], ast.Dict):
                keys = others[0].keys
                literals = tuple(str(key.value) for key in keys if isinstance(key, ast.Constant))
                return Use(method, place, True, literals, len(literals) == len(keys))
            return Use(method, place, True, complete=sender == "Command" and not others)
    return None


# --- structures ----------------------------------------------------------------------------------------------


def structure(path: str) -> type[msgspec.Struct]:
    """Return the structure at "folder.module:Name"."""
    module, _, name = path.partition(":")
    found: type[msgspec.Struct] = getattr(import_module(f"cdpengine.{module}"), name)
    return found


def list_structures() -> list[Description]:
    """List the structures that decode protocol entries, by name, including those in ELSEWHERE."""
    elsewhere = [Description(name, part, structure(path)) for name, part, path in ELSEWHERE]
    return sorted([*descriptions(), *elsewhere], key=lambda each: (each.name, each.part))


def owner_of(kind: type[msgspec.Struct]) -> str:
    """Return the location of a structure as "folder.module:Name"."""
    return f"{kind.__module__.removeprefix('cdpengine.')}:{kind.__name__}"


def list_fields(kind: type[msgspec.Struct]) -> list[Decoded]:
    """Return the fields of a structure."""
    hints = get_type_hints(kind)
    return [
        Decoded(field.encode_name, field.required, hints[field.name], owner_of(kind), field.name)
        for field in msgspec.structs.fields(kind)
    ]


# --- PyCDP ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Decoder:
    """Fields that a command, event or type sends and reads (`needed` or `optional`), and an enum's `values`."""

    sent: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()


@attrs.frozen
class Vocabulary:
    """PyCDP's commands and events by full name, and its types by module ("page") and name."""

    commands: Mapping[str, Decoder]
    events: Mapping[str, Decoder]
    types: Mapping[tuple[str, str], Decoder]


def read_pycdp() -> Vocabulary:
    """Read the vocabulary of the installed PyCDP."""
    package = resources.files("cdp")
    files = sorted((file for file in package.iterdir() if file.name.endswith(".py")), key=lambda f: f.name)
    return read_modules({file.name.removesuffix(".py"): file.read_text("utf-8") for file in files})


def read_modules(sources: Mapping[str, str]) -> Vocabulary:
    """Read the vocabulary from module sources, by module name."""
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
                    types[_fold(module), node.name] = _decoder(node)
    return Vocabulary(commands, events, types)


def module_of(domain: str) -> str:
    """Return the folded name of a domain's module: "DOMDebugger" is "domdebugger"."""
    return domain.casefold()


def _fold(module: str) -> str:
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
