"""Vocabulary: what the engine, and PyCDP (the package `cdp`), say and understand of the protocol.

Rule: both are read out of source code, so that no list has to be kept. What the engine sends stands in its calls;
what it decodes is what the structures of `cdpengine/_protocol/domains/` declare, and a table of those elsewhere.
The modules of PyCDP are parsed, not imported: which fields a generated decoder needs is in its code only, which
has one form throughout (`json['x']`, and `'x' in json` where it may be missing).
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
"""Structures that stand beside their decoders: which reply, event or type each decodes; and where it is."""

OWN_FORMATS = frozenset({
    "_input.actionability.inspection:Focus", "_input.actionability.key_guard:KeyReport",
    "_input.actionability.page_library:ProbeReply", "_input.actionability.page_library:Record",
    "_input.actionability.page_library:_Used", "_input.forms.check:_Seen", "_input.forms.filling:Made",
    "_input.forms.filling:_Clipboard", "_input.forms.filling:_Held", "_input.forms.listbox:_Held",
    "_input.forms.listbox:_Seen", "_input.forms.select:_Seen", "_input.forms.slider:_Seen",
    "_input.forms.radios:_Radios", "_input.forms.sections:_Section", "_input.forms.text_entry:_Blurred",
    "_input.forms.upload:_Seen", "_page.finding:_Head",
    "_page.finding:_Seen", "_page.navigation.documents:Report", "_page.navigation.settling:Stillness",
    "_page.scripts.node_lists:SerializedList", "_page.scripts.node_lists:SerializedNode",
    "_page.scripts.node_lists:_Item", "_page.scripts.node_lists:_ShadowRoot",
    "_page.scripts.node_lists:_ShadowRootValue", "_protocol.connection:Attachment",
    "_protocol.messages:Envelope", "_protocol.messages:ErrorBody", "_snapshot.node:Node",
    "_snapshot.readable:_Told", "_snapshot.ref:Entry", "_snapshot.sources.ax:_Found",
    "_snapshot.sources.ax:_Place", "_snapshot.sources.ax:_Places", "_snapshot.sources.columns:Part",
    "_snapshot.sources.columns:Walk", "_snapshot.sources.columns:_Opened",
})  # fmt: skip
"""Structures that decode what the protocol does not describe: messages themselves, answers of our own scripts.
Others decode nothing, and are Structs because thousands of them are made."""

NOT_THE_ENGINE = frozenset({"bench", "cli", "debug", "protocol", "testing"})
"""Folders whose source names methods that the engine does not use: those of others, of tests, of structures."""

NO_METHODS = frozenset({"Info.plist", "Network.webSocket"})
"""Words of the source that look like methods: a file, and how the names of some events begin."""

UNDESCRIBED = frozenset({"Runtime.executionContextCreated.context.auxData"})
"""Objects whose inside the protocol does not describe."""

_METHOD = re.compile(r"[A-Z][A-Za-z]+\.[a-z][A-Za-z]+")
_BY_KEYWORDS = frozenset({"call", "post"})
_BY_A_DICT = frozenset({"request", "create", "_post_shared", "Command"})
"""What takes a method and its parameters: as keywords, or as a dict."""


@attrs.frozen
class Use:
    """A place at which the source names a method. `parameters` are those that it is seen to send."""

    method: str
    where: str
    sent: bool = False
    parameters: tuple[str, ...] = ()
    complete: bool = False
    """Whether `parameters` are all that are sent there."""


@attrs.frozen
class Decoded:
    """A structure's field: its `name` in the protocol, what it `needs`, and what is inside of it."""

    name: str
    needed: bool
    kind: object
    owner: str
    attribute: str


def engine_uses() -> list[Use]:
    """Return every place of the engine's own source that names a method of the protocol."""
    found = [use for name, source in engine_sources() for use in uses_in(source, name)]
    switched = [f"{domain}.{verb}" for domain in sorted(REPORTING_DOMAINS) for verb in ("enable", "disable")]
    return found + [
        Use(method, "_protocol/domains/__init__.py", sent=True, complete=True) for method in switched
    ]


def engine_sources() -> Iterator[tuple[str, str]]:
    """Yield the name ("folder/file.py") and the text of every file of the engine's own source."""
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
    """Return the methods that one file names, docstrings left out."""
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
                given = tuple(str(key.value) for key in keys if isinstance(key, ast.Constant))
                return Use(method, place, True, given, len(given) == len(keys))
            return Use(method, place, True, complete=sender == "Command" and not others)
    return None


# --- structures ----------------------------------------------------------------------------------------------


def structure(path: str) -> type[msgspec.Struct]:
    """Return the structure at "folder.module:Name"."""
    module, _, name = path.partition(":")
    found: type[msgspec.Struct] = getattr(import_module(f"cdpengine.{module}"), name)
    return found


def list_structures() -> list[Description]:
    """Return which structure decodes what, by name: in `cdpengine/_protocol/domains/`, and elsewhere."""
    elsewhere = [Description(name, part, structure(path)) for name, part, path in ELSEWHERE]
    return sorted([*descriptions(), *elsewhere], key=lambda each: (each.name, each.part))


def owner_of(kind: type[msgspec.Struct]) -> str:
    """Return where a structure is, as "folder.module:Name"."""
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
                    types[_fold(module), node.name] = _decoder(node)
    return Vocabulary(commands, events, types)


def module_of(domain: str) -> str:
    """Return what the module of a domain is called, folded: "DOMDebugger" is "domdebugger"."""
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
