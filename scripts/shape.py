"""The shape of the code as figures: sizes of modules, functions and folders, import cycles, public names.

Rule: the source is parsed, never imported, so the figures need no browser and no optional package. A module is a
Python file of the package. A cycle is a strongly connected set of at least two modules. "Import cycles" counts
only the imports that run at load time; "with late imports" adds those within functions and for type checkers.

Usage: python scripts/shape.py [PACKAGE_FOLDER]
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import attrs

PACKAGE = Path(__file__).resolve().parent.parent / "cdpengine"
FACES = (
    "", "actions", "debug", "emulation", "errors", "measure", "network", "pages", "protocol", "storage", "testing",
    "values",
)  # fmt: skip
"""Packages whose `__all__` is public, by their names below the top one."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@attrs.frozen
class Module:
    """A Python file: its dotted name, path below the package's parent, lines, and syntax tree."""

    name: str
    path: Path
    lines: int
    tree: ast.Module = attrs.field(repr=False)
    stub: ast.Module | None = attrs.field(default=None, repr=False)
    """Syntax tree of its `.pyi` file, whose relative imports are the package's lazy names."""

    @property
    def package(self) -> str:
        """Dotted name of the package to which its relative imports refer."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


@attrs.frozen
class FunctionShape:
    """A function or method: its location, length in lines, and parameters without `self` and `cls`."""

    name: str
    """As "package.module:Class.method"."""
    lines: int
    parameters: int
    is_public_method: bool
    """Whether code outside of the package calls it: a method of a public class, a public function, a command."""


@attrs.frozen
class Shape:
    """The figures of a package."""

    modules: int
    median_lines: float
    largest_module: tuple[str, int]
    longest_function: FunctionShape
    widest_function: FunctionShape
    """The longest parameter list among functions that are not called from outside."""
    cycles: tuple[tuple[str, ...], ...]
    late_cycles: tuple[tuple[str, ...], ...]
    """Cycles by all imports: at load time, within functions, and for type checkers."""
    fullest_folder: tuple[str, int]
    public_names: int


def read_modules(package: Path) -> list[Module]:
    """Parse all Python files below a package's folder, sorted by name."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package.parent)
        parts = inside.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        beside = path.with_suffix(".pyi")
        stub = ast.parse(beside.read_text("utf-8")) if beside.exists() else None
        found.append(Module(name, inside, text.count("\n"), ast.parse(text), stub))
    return found


def measure_shape(modules: Sequence[Module]) -> Shape:
    """Compute all figures. `modules` must contain at least one function."""
    callables = list(find_callables(modules))
    inner = [each for each in callables if not each.is_public_method]
    largest = max(modules, key=lambda module: module.lines)
    return Shape(
        modules=len(modules),
        median_lines=median(module.lines for module in modules),
        largest_module=(largest.path.as_posix(), largest.lines),
        longest_function=max(callables, key=lambda each: each.lines),
        widest_function=max(inner or callables, key=lambda each: each.parameters),
        cycles=tuple(find_cycles(import_graph(modules))),
        late_cycles=tuple(find_cycles(import_graph(modules, late=True))),
        fullest_folder=count_files(modules).most_common(1)[0],
        public_names=len({name for names in public_names(modules).values() for name in names}),
    )


def count_files(modules: Sequence[Module]) -> Counter[str]:
    """Count the Python files directly in each folder."""
    return Counter(module.path.parent.as_posix() for module in modules)


# --- public names -------------------------------------------------------------------------------------------


def public_names(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Return the names that each public package lists in its `__all__` or imports in its stub."""
    top = modules[0].name.partition(".")[0]
    faces = {f"{top}.{face}" if face else top for face in FACES}
    return {
        module.name: declared_names(module.tree) if module.stub is None else imported_names(module.stub)
        for module in modules
        if module.name in faces
    }


def imported_names(stub: ast.Module) -> list[str]:
    """Return the names that a stub imports from its package, sorted."""
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom) and node.level)
    return sorted({each.asname or each.name for node in imports for each in node.names})


def declared_names(tree: ast.Module) -> list[str]:
    """Return the strings in a module's `__all__`, or none without such a list."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == "__all__" for each in node.targets):
            constants = (each for each in ast.walk(node.value) if isinstance(each, ast.Constant))
            return [each.value for each in constants if isinstance(each.value, str)]
    return []


# --- functions ----------------------------------------------------------------------------------------------


def find_callables(modules: Sequence[Module]) -> Iterator[FunctionShape]:
    """Yield every function and method, including nested ones."""
    public = _with_bases(modules, {name for names in public_names(modules).values() for name in names})
    for module in modules:
        for names, node in _functions(module.tree, ()):
            yield FunctionShape(
                f"{module.name}:{'.'.join((*names, node.name))}",
                (node.end_lineno or node.lineno) - node.lineno + 1,
                _count_parameters(node, is_method=bool(names) and names[-1].lstrip("_")[:1].isupper()),
                _is_public(names, node, public),
            )


def _is_public(names: tuple[str, ...], node: Function, public: set[str]) -> bool:
    if any(".command(" in ast.unparse(each) for each in node.decorator_list):
        return True
    if not names:
        return node.name in public
    special = node.name.startswith("__") and node.name.endswith("__")
    return len(names) == 1 and names[0] in public and (special or not node.name.startswith("_"))


def _with_bases(modules: Sequence[Module], public: set[str]) -> set[str]:
    """Return the names together with those of all base classes of public classes."""
    bases: dict[str, set[str]] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                named = (ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases)
                bases.setdefault(node.name, set()).update(named)
    found, left = set[str](), list(public)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(bases.get(name, ()))
    return found


def _functions(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield names, child
        inside = (*names, child.name) if isinstance(child, Function | ast.ClassDef) else names
        yield from _functions(child, inside)


def _count_parameters(node: Function, *, is_method: bool) -> int:
    given = node.args
    count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
    count += bool(given.vararg) + bool(given.kwarg)
    is_static = any(ast.unparse(each) == "staticmethod" for each in node.decorator_list)
    return count - (is_method and not is_static)


# --- imports ------------------------------------------------------------------------------------------------


def import_graph(modules: Sequence[Module], *, late: bool = False) -> dict[str, set[str]]:
    """Return the package's modules that each module imports at load time or, with `late`, at all."""
    known = {module.name for module in modules}
    return {
        module.name: {name for name in _imported(module, module.tree, known, late) if name != module.name}
        for module in modules
    }


def _imported(module: Module, node: ast.AST, known: set[str], late: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda) and not late:
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING") and not late:
            for other in child.orelse:
                yield from _imported(module, other, known, late)
            continue
        if isinstance(child, ast.Import):
            yield from (each.name for each in child.names if each.name in known)
        elif isinstance(child, ast.ImportFrom):
            origin = _origin(module, child)
            for each in child.names:
                name = f"{origin}.{each.name}"
                if name in known or origin in known:
                    yield name if name in known else origin
        else:
            yield from _imported(module, child, known, late)


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def find_cycles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Return the sets of modules that import each other, directly or indirectly, by Tarjan (1972)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        path.append(name)
        for other in sorted(graph[name]):
            if other not in order:
                visit(other)
            if other in path:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == order[name]:
            together = [path.pop()]
            while together[-1] != name:
                together.append(path.pop())
            if len(together) > 1:
                found.append(tuple(sorted(together)))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10 * len(graph)))
    for name in sorted(graph):
        if name not in order:
            visit(name)
    return sorted(found)


# --- the command --------------------------------------------------------------------------------------------


def shape_lines(shape: Shape) -> Iterator[str]:
    """Yield the figures as lines of text."""
    longest, widest = shape.longest_function, shape.widest_function
    rows = {
        "modules": f"{shape.modules}",
        "median lines": f"{shape.median_lines:g}",
        "largest module": f"{shape.largest_module[1]} lines, {shape.largest_module[0]}",
        "longest function": f"{longest.lines} lines, {longest.name}",
        "most parameters": f"{widest.parameters}, {widest.name} (below the public methods)",
        "fullest folder": f"{shape.fullest_folder[1]} files, {shape.fullest_folder[0]}/",
        "public names": f"{shape.public_names}",
        "import cycles": f"{len(shape.cycles)}",
    }
    for name, value in rows.items():
        yield f"{name:18}{value}"
    for cycle in shape.cycles:
        yield f"{'':18}{', '.join(cycle)}"
    yield f"{'with late imports':18}{len(shape.late_cycles)}"
    for cycle in shape.late_cycles:
        yield f"{'':18}{', '.join(cycle)}"


def main(arguments: Sequence[str]) -> None:
    """Print the shape of the package in the given folder; default: cdpengine."""
    package = Path(arguments[0]).resolve() if arguments else PACKAGE
    print("\n".join(shape_lines(measure_shape(read_modules(package)))))


if __name__ == "__main__":
    main(sys.argv[1:])
