"""Write the stub of `cdpengine.asyncio` and its table of classes, from the annotations of the engine's classes.

Usage: python scripts/write_asyncio.py

A class is live if its objects work with a browser: a public method is a coroutine or a block, or a public member
has a live class. For each live class, `cdpengine.asyncio` has one whose methods are awaited in asyncio.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic

import attrs

ROOT = Path(__file__).resolve().parent.parent
STARTS = ("cdpengine._api.opening:launch", "cdpengine._api.connecting:connect")
ASSERTIONS = ("LocatorAssertions", "PageAssertions")
HIDDEN = {"internals", "object", "remote", "feed", "domains"}
SESSION = {
    "call",
    "execute",
    "subscribe",
    "wait_for",
    "enabled",
    "target_id",
    "target_type",
    "id",
    "ended",
    "crashed",
}
"""The members of a session that its facade has. The others are the engine's own."""

INSTEAD = {
    "BaseLocator": "AsyncioLocator", "PageLocating": "AsyncioPage", "FrameView": "AsyncioFrame",
    "cdpengine._page.frames:Frame": "AsyncioFrame",
}  # fmt: skip
"""Facades for base classes that annotations use."""

BOUNDARY = {
    "cdpengine._activity.collector", "cdpengine._budget", "cdpengine._evaluate.handles:Holding", "cdpengine._page",
    "cdpengine._protocol", "cdpengine._api.page.core", "cdpengine._api.page.locators:PageLocating",
    "cdpengine._api.page.forms:Field",
}  # fmt: skip
"""Modules and classes whose objects are passed on as they are, except for those of PUBLIC."""

PUBLIC = {
    "Dialog", "Download", "EventStream", "FileChooser", "Session", "Stream",
}  # fmt: skip

GENERIC = {"BoundedHistory", "Expected", "PopupEvent"}
"""Classes that contain a live object of their parameter."""


@attrs.frozen
class Name:
    """A name of a module: a class, an alias or a type variable."""

    module: str
    name: str

    def load(self) -> Any:
        """Return the object."""
        return getattr(importlib.import_module(self.module), self.name, None)


def is_passed_on(name: Name) -> bool:
    """Return whether objects of a class have no facade."""
    if name.name in PUBLIC:
        return False
    return any(
        f"{name.module}:{name.name}" == each or f"{name.module}.".startswith(f"{each}.") for each in BOUNDARY
    )


@functools.cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    source = inspect.getsource(importlib.import_module(module))
    return ast.parse(source)


@functools.cache
def names_of(module: str) -> dict[str, Name | ast.expr]:
    """Return the names of a module: where they are imported from, and the values of its own aliases."""
    found: dict[str, Name | ast.expr] = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                found[each.asname or each.name] = Name(node.module, each.name)
        elif isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name] = Name(each.name, "")
    for node in tree_of(module).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = Name(module, node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found[node.target.id] = node.value
    return found


def resolve(name: str, modules: Sequence[str]) -> Name | None:
    """Return the origin of a name that one of the modules uses, followed through imports inside the engine."""
    for module in modules:
        found = names_of(module).get(name)
        if isinstance(found, ast.expr):
            return Name(module, name)
        if found is not None:
            if found.module.startswith("cdpengine") and found.module != module:
                return resolve(found.name, [found.module]) or found
            return found
    return None


@attrs.frozen
class Member:
    """A public member of a class: its annotations, with the modules in which they hold."""

    name: str
    kind: str  # "method", "coroutine", "block", "property", "attribute"
    parameters: tuple[inspect.Parameter, ...]
    returned: ast.expr | None
    modules: tuple[str, ...]
    static: bool = False
    writable: bool = False


def parse(annotation: object) -> ast.expr | None:
    """Return the syntax tree of an annotation."""
    if annotation is inspect.Parameter.empty or annotation is None:
        return None
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return ast.parse(text, mode="eval").body


def chain(function: Any) -> list[Any]:
    """Return a function and those that it wraps."""
    found = [function]
    while (inner := getattr(found[-1], "__wrapped__", None)) is not None:
        found.append(inner)
    return found


def member_of_function(
    name: str, function: Any, cls: type, *, static: bool = False, modules: tuple[str, ...] = ()
) -> Member:
    """Return the member for a method."""
    functions = chain(function)
    innermost = functions[-1]
    signature = inspect.signature(function)
    kind = "method"
    if inspect.isasyncgenfunction(innermost):
        kind = "block" if innermost is not function else "method"
    elif any(map(inspect.iscoroutinefunction, functions)):
        kind = "coroutine"
    parameters = list(signature.parameters.values())
    if not static:
        parameters = parameters[1:]
    modules = modules or (innermost.__module__, function.__module__, cls.__module__, *SHARED)
    return Member(
        name,
        kind,
        tuple(each for each in parameters if not each.name.startswith("_")),
        parse(signature.return_annotation),
        tuple(dict.fromkeys(modules)),
        static=static,
    )


SHARED = ("cdpengine._api.page.finding",)
"""Modules whose functions give methods of other modules their parameters."""


def class_node(cls: type) -> ast.ClassDef:
    """Return the syntax tree of a class."""
    for node in ast.walk(tree_of(cls.__module__)):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return node
    raise LookupError(cls)


def own_members(cls: type) -> Iterator[Member]:
    """Yield the public members that a class itself defines."""
    module = cls.__module__
    if not module.startswith("cdpengine") or module.startswith("cdpengine.errors"):
        return
    seen: set[str] = set()
    for name, value in vars(cls).items():
        if name in HIDDEN or (name.startswith("_") and name not in PROTOCOLS):
            continue
        value = value.__func__ if (static := isinstance(value, staticmethod)) else value
        if isinstance(value, classmethod | type):
            continue
        if isinstance(value, property | functools.cached_property):
            function = value.fget if isinstance(value, property) else value.func
            assert function is not None
            returned = parse(inspect.signature(function).return_annotation)
            yield Member(name, "property", (), returned, (function.__module__, module))
            seen.add(name)
        elif inspect.isfunction(value):
            if name in PROTOCOLS and not value.__module__.startswith("cdpengine"):
                continue
            yield member_of_function(name, value, cls, static=static)
            seen.add(name)
    node = class_node(cls)
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            if not name.startswith("_") and name not in seen | HIDDEN:
                seen.add(name)
                yield Member(name, "attribute", (), statement.annotation, (module,))
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            for name, annotation, place in attributes_set_by(statement, module):
                if not name.startswith("_") and name not in seen | HIDDEN:
                    seen.add(name)
                    yield Member(name, "attribute", (), annotation, (place,))


PROTOCOLS = (
    "__aiter__",
    "__anext__",
    "__await__",
    "__len__",
    "__iter__",
    "__getitem__",
    "__contains__",
    "__bool__",
)


def attributes_set_by(init: ast.FunctionDef, module: str) -> Iterator[tuple[str, ast.expr | None, str]]:
    """Yield the attributes that `__init__` sets, with their annotations where the code shows them, and modules."""
    arguments = {each.arg: each.annotation for each in [*init.args.args, *init.args.kwonlyargs]}
    for node in ast.walk(init):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            yield node.target.attr, node.annotation, module
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
                continue
            match node.value:
                case ast.Call(func=ast.Name(id=name) as made) if name[0].isupper():
                    yield target.attr, made, module
                case ast.Name(id=name) if name in arguments:
                    yield target.attr, arguments[name], module
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in arguments:
                    yield target.attr, *annotation_in(arguments[name], attribute, module)
                case ast.Constant(value=bool()):
                    yield target.attr, ast.Name("bool"), module
                case _:
                    yield target.attr, None, module


def annotation_in(owner: ast.expr | None, name: str, module: str) -> tuple[ast.expr | None, str]:
    """Return the annotation of an attribute of an argument with the annotation `owner`, and its module."""
    owner = owner.value if isinstance(owner, ast.Subscript) else owner
    found = resolve(owner.id, [module]) if isinstance(owner, ast.Name) else None
    cls = None if found is None else found.load()
    if isinstance(cls, type):
        for member, _ in members(cls):
            if member.name == name and member.returned is not None:
                return member.returned, member.modules[0]
    return None, module


def annotations_of(member: Member) -> Iterator[ast.expr]:
    """Yield the annotations of a member."""
    for parameter in member.parameters:
        if (tree := parse(parameter.annotation)) is not None:
            yield tree
    if member.returned is not None:
        yield member.returned


def names_in(tree: ast.expr, modules: Sequence[str], path: tuple[Name, ...] = ()) -> Iterator[Name]:
    """Yield the names in an annotation, and those in the aliases that it uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not inside_literal(tree, node):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                continue
            yield from names_in(inner, modules, path)
        if not isinstance(node, ast.Name) or (name := resolve(node.id, modules)) is None:
            continue
        yield name
        alias = names_of(name.module).get(name.name) if name.module.startswith("cdpengine") else None
        if isinstance(alias, ast.expr) and name not in path:
            yield from names_in(alias, [name.module], (*path, name))


def inside_literal(tree: ast.expr, constant: ast.Constant) -> bool:
    """Return whether a string is a value of `Literal[...]`."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Literal"
        and constant in ast.walk(node)
        for node in ast.walk(tree)
    )


def members(cls: type) -> list[tuple[Member, type]]:
    """Return the public members of a class, also those of its bases, each with the class that defines it."""
    found: dict[str, tuple[Member, type]] = {}
    for base in cls.__mro__:
        for member in own_members(base):
            found.setdefault(member.name, (member, base))
    shown = SESSION if cls.__name__ == "Session" else set(found)
    return [each for name, each in found.items() if name in shown]


def reachable() -> dict[Name, type]:
    """Return the engine's classes that public members lead to, from `launch` and `connect`."""
    waiting = [Name("cdpengine._api.browser", "Browser")]
    waiting += [found for each in ASSERTIONS if (found := resolve(each, ["cdpengine.pages"])) is not None]
    found_classes: dict[Name, type] = {}
    while waiting:
        name = waiting.pop()
        if name in found_classes or not name.module.startswith("cdpengine") or is_passed_on(name):
            continue
        cls = name.load()
        if not isinstance(cls, type) or issubclass(cls, BaseException):
            continue
        found_classes[name] = cls
        for member, _ in members(cls):
            for tree in annotations_of(member):
                waiting += names_in(tree, member.modules)
    return found_classes


def live_classes() -> dict[Name, type]:
    """Return the live classes."""
    classes = reachable()
    uses = {
        name: {
            used
            for member, _ in members(cls)
            for tree in annotations_of(member)
            for used in names_in(tree, member.modules)
        }
        for name, cls in classes.items()
    }
    live = {
        name
        for name, cls in classes.items()
        if name.name in GENERIC
        or any(
            member.kind in ("coroutine", "block") or member.name == "__await__" for member, _ in members(cls)
        )
        or any(used.name == "Awaitable" for used in uses[name])
    }
    while added := {name for name, used in uses.items() if used & live} - live:
        live |= added
    return {name: classes[name] for name in sorted(live, key=lambda name: (name.name, name.module))}


# --- the stub --------------------------------------------------------------------------------------------------

PREFIX = "Asyncio"
VARIABLES = {"TypeVar", "ParamSpec"}

HEAD = "# Written by scripts/write_asyncio.py, do not edit.\n"

FACADE = """
class Facade:
    of: Any
"""

SCOPE = """
class AsyncioAwaitableScope(Awaitable[T_co], AbstractAsyncContextManager[T_co], Generic[T_co]):
    def __await__(self) -> Generator[Any, Any, T_co]: ...
    async def __aenter__(self) -> T_co: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None: ...
    async def aclose(self) -> None: ...
"""

EXPECT = """
@overload
def expect(subject: AsyncioLocator, *, timeout: float = ...) -> AsyncioLocatorAssertions: ...
@overload
def expect(subject: AsyncioPage, *, timeout: float = ...) -> AsyncioPageAssertions: ...
"""

STARS: Mapping[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
SCOPE_NAME = Name("cdpengine._api.scopes.awaitable_scope", "AwaitableScope")


class StubWriter:
    """The parts of the stub: classes, aliases, type variables and imports."""

    def __init__(self, live: Mapping[Name, type]) -> None:
        self._live = live
        self._imports: dict[str, str] = {
            each: f"from {module} import {each}"
            for module, names in {
                "collections.abc": ("Awaitable", "Generator"),
                "contextlib": ("AbstractAsyncContextManager",),
                "types": ("TracebackType",),
                "typing": ("Any", "Generic", "TypeAlias", "TypeVar", "overload"),
            }.items()
            for each in names
        }
        self._variables: dict[str, str] = {"T_co": 'T_co = TypeVar("T_co", covariant=True)'}
        self._aliases: dict[Name, tuple[str, str]] = {}

    def write(self) -> str:
        """Return the stub."""
        classes = [self._write_class(cls) for name, cls in self._live.items() if name != SCOPE_NAME]
        functions = [self._write_function(start) for start in STARTS]
        aliases = [f"{name}: TypeAlias = {value}" for name, value in self._aliases.values()]
        parts = [HEAD, *sorted(self._imports.values()), *sorted(self._variables.values())]
        parts += [FACADE, SCOPE, *classes, *aliases, *functions, EXPECT]
        return "\n".join(parts)

    def _write_class(self, cls: type) -> str:
        lines = []
        for member, definer in members(cls):
            self.substituted = substitutions(cls, definer, self)
            lines += self._write_member(member)
        self.substituted = {}
        free = type_variables(cls)
        for each in free:
            self._keep_variable(each, cls.__module__)
        bases = ["Facade", *([f"Generic[{', '.join(free)}]"] if free else [])]
        body = "\n".join(f"    {line}" for line in lines) or "    ..."
        return f"\nclass {PREFIX}{cls.__name__}({', '.join(bases)}):\n{body}"

    def _write_function(self, start: str) -> str:
        module, _, name = start.partition(":")
        member = member_of_function(name, Name(module, name).load(), object, static=True, modules=(module,))
        (line,) = self._write_member(member, method=False)
        return line

    def _write_member(self, member: Member, *, method: bool = True) -> list[str]:
        returned = "Any" if member.returned is None else self.transform(member.returned, member.modules)
        if member.kind == "attribute":
            return ["@property", f"def {member.name}(self) -> {returned}: ..."]
        if member.kind == "property":
            return ["@property", f"def {member.name}(self) -> {returned}: ..."]
        if member.kind == "block":
            inner = member.returned.slice if isinstance(member.returned, ast.Subscript) else None
            value = "Any" if inner is None else self.transform(inner, member.modules)
            returned = f"AbstractAsyncContextManager[{value}]"
        if member.name == "__aiter__":
            returned = "Self"
            self._imports["Self"] = "from typing import Self"
        head = "async def" if member.kind == "coroutine" else "def"
        parameters = self._write_parameters(member, method=method)
        lines = ["@staticmethod"] if member.static and method else []
        return [*lines, f"{head} {member.name}({parameters}) -> {returned}: ..."]

    def _write_parameters(self, member: Member, *, method: bool) -> str:
        parts = ["self"] if method and not member.static else []
        marked = False
        for parameter in member.parameters:
            tree = parse(parameter.annotation)
            annotation = "Any" if tree is None else self.transform(tree, member.modules)
            default = "" if parameter.default is inspect.Parameter.empty else " = ..."
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not marked:
                parts.append("*")
            marked |= parameter.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
            parts.append(f"{STARS.get(parameter.kind, '')}{parameter.name}: {annotation}{default}")
        if any(each.kind is inspect.Parameter.POSITIONAL_ONLY for each in member.parameters):
            only = sum(each.kind is inspect.Parameter.POSITIONAL_ONLY for each in member.parameters)
            parts.insert(only + (parts[:1] == ["self"]), "/")
        return ", ".join(parts)

    def transform(self, tree: ast.expr, modules: Sequence[str]) -> str:
        """Return an annotation for the stub, with facades for live classes."""
        return ast.unparse(_Transformer(self, modules).visit(copy.deepcopy(tree)))

    def name_for(self, name: str, modules: Sequence[str]) -> str:
        """Return the name in the stub for a name in an annotation, and keep what it needs."""
        if (given := self.substituted.get(name)) is not None:
            return given
        found = resolve(name, modules)
        if found is None:
            return name
        if found in self._live:
            return PREFIX + found.name
        if (facade := INSTEAD.get(found.name) or INSTEAD.get(f"{found.module}:{found.name}")) is not None:
            return facade
        value = names_of(found.module).get(found.name) if found.module.startswith("cdpengine") else None
        if isinstance(value, ast.expr):
            if isinstance(value, ast.Call) and ast.unparse(value.func) in VARIABLES:
                return self._keep_variable(found.name, found.module)
            if set(names_in(value, [found.module])) & set(self._live):
                return self._keep_alias(found, value)
        return self._keep_import(found)

    def _keep_variable(self, name: str, module: str) -> str:
        value = names_of(module)[name]
        if isinstance(value, Name):
            return self._keep_variable(value.name, value.module)
        kind = ast.unparse(value).partition("(")[0]
        self._imports[kind] = f"from typing import {kind}"
        text = self.transform(value, [module])
        unique = (
            name
            if self._variables.get(name, f"{name} = {text}") == f"{name} = {text}"
            else f"{name}_{len(text)}"
        )
        self._variables[unique] = f"{unique} = {text.replace(repr(name), repr(unique))}"
        return unique

    def _keep_alias(self, name: Name, value: ast.expr) -> str:
        if name not in self._aliases:
            self._aliases[name] = f"_{name.name}", ""
            outer, self.substituted = self.substituted, {}
            self._aliases[name] = f"_{name.name}", self.transform(value, [name.module])
            self.substituted = outer
        return self._aliases[name][0]

    def _keep_import(self, name: Name) -> str:
        shown = name.name
        line = f"from {name.module} import {name.name}"
        if not name.name:
            shown, line = name.module, f"import {name.module}"
        elif self._imports.get(shown, line) != line:
            shown = f"_{name.module.rpartition('.')[2]}_{name.name}"
            line = f"{line} as {shown}"
        self._imports[shown] = line
        return shown

    substituted: Mapping[str, str] = {}


class _Transformer(ast.NodeTransformer):
    """Replaces the names in an annotation."""

    def __init__(self, writer: StubWriter, modules: Sequence[str]) -> None:
        self._writer = writer
        self._modules = modules

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.parse(self._writer.name_for(node.id, self._modules), mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            self._writer.name_for("Literal", self._modules)
            return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)  # type: ignore[no-any-return]
        return node


def type_variables(cls: type) -> list[str]:
    """Return the names of a class's own type variables."""
    return [each.__name__ for each in getattr(cls, "__parameters__", ())]


def substitutions(cls: type, definer: type, writer: StubWriter) -> dict[str, str]:
    """Return the values of a base class's type variables in a class."""
    if cls is definer:
        return {}
    for node, base in zip(class_node(cls).bases, getattr(cls, "__orig_bases__", cls.__bases__), strict=True):
        origin = getattr(base, "__origin__", base)
        if not (isinstance(origin, type) and issubclass(origin, definer)):
            continue
        if origin is Generic or not isinstance(node, ast.Subscript):
            return substitutions(origin, definer, writer) if isinstance(node, ast.Name) else {}
        writer.substituted = {}
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        given = [writer.transform(item, [cls.__module__]) for item in items]
        return dict(zip(type_variables(origin), given, strict=True))
    return {}


def write_stub() -> str:
    """Return the stub of `cdpengine.asyncio`."""
    text = StubWriter(live_classes()).write()
    return run_ruff(run_ruff(text, STUB, "check", "--fix-only", "--select=I,F401"), STUB, "format")


def write_classes() -> str:
    """Return the module with the table of live classes."""
    table: dict[str, list[str]] = {}
    for name in live_classes():
        if name != SCOPE_NAME:
            table.setdefault(name.module, []).append(name.name)
    lines = [
        '"""The engine\'s classes that have facades. Written by scripts/write_asyncio.py, do not edit."""',
        "",
        "CLASSES: dict[str, tuple[str, ...]] = {",
        *(f"    {module!r}: {tuple(names)!r}," for module, names in sorted(table.items())),
        "}",
        '"""Names of classes by module."""',
        "",
    ]
    return run_ruff("\n".join(lines), TABLE, "format")


def run_ruff(text: str, name: str, *command: str) -> str:
    """Return a file's text as ruff changes it."""
    ruff = str(Path(sys.executable).parent / "ruff")
    arguments = [ruff, *command, "-q", f"--stdin-filename={name}", "-"]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


STUB, TABLE = "cdpengine/asyncio/__init__.pyi", "cdpengine/asyncio/classes.py"
FILES: Mapping[str, Callable[[], str]] = {STUB: write_stub, TABLE: write_classes}
"""The files, and the functions that return their text."""

if __name__ == "__main__":
    for path, write in FILES.items():
        new = write()
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != new:
            (ROOT / path).write_text(new, encoding="utf-8")
            print(f"wrote {path}")
