"""Functions by name: "markdown", "mine.py:title", "package.module:title".

Rule: a name without a colon is a ready function. A file is loaded like a script: its folder is searched for its
imports. A function that does not accept a page and an input is refused before anything runs.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.functions import READY
from cdpengine.pool.jobs import JobFunction, JobOptions

_WHAT = "function"
_SHAPE = "`async def name(page, item)`"


@attrs.frozen
class NamedFunction:
    """A function, its `name` without folders, its options, and the `suffix` for files with its values.

    `file` is the module if the function was loaded from a file.
    """

    name: str
    function: JobFunction[Any, Any]
    options: JobOptions = attrs.field(factory=JobOptions)
    suffix: str | None = None
    file: ModuleType | None = None


def find_function(name: str) -> NamedFunction:
    """Find the function with that name. Raises InvalidArgumentError."""
    place, colon, attribute = name.rpartition(":")
    if not colon:
        return _find_ready(name)
    if not place or not attribute:
        raise _refuse(name, "module.py:function or package.module:function")
    is_file = place.endswith(".py")
    module = _load_file(Path(place)) if is_file else _import(place)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            close_names = difflib.get_close_matches(part, _functions_of(found), n=1, cutoff=0.6)
            advice = f"; did you mean {close_names[0]}?" if close_names else f": {_SHAPE}"
            raise _refuse(name, f"a function that {place} has{advice}")
        found = getattr(found, part)
    _check(name, found)
    where, file = (Path(place).name, module) if is_file else (place, None)
    return NamedFunction(f"{where}:{attribute}", found, file=file)


def _find_ready(name: str) -> NamedFunction:
    ready = READY.get(name)
    if ready is None:
        close_names = difflib.get_close_matches(name, READY, n=1, cutoff=0.6)
        advice = f"{close_names[0]}?" if close_names else f"one of {', '.join(READY)}"
        raise _refuse(name, f"{advice} Your own function is module.py:function")
    return NamedFunction(name, ready.function, ready.options, ready.suffix)


def _functions_of(module: object) -> list[str]:
    return [name for name, each in vars(module).items() if callable(each)]


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise _refuse(str(path), "a file that exists")
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if known is not None or path.stem in sys.stdlib_module_names:
        raise _refuse(str(path), f"another name: a module {path.stem} already exists")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(path.parent))
    sys.modules[path.stem] = module  # so that other processes find its functions by name
    with _errors_named(str(path)):
        specification.loader.exec_module(module)
    return module


def _import(name: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # like `python -m`
    with _errors_named(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
        beside = f"{name}.py"
        advice = (
            f"; did you mean {beside}?" if Path(beside).is_file() else ", found from this folder or installed"
        )
        raise _refuse(name, f"an existing module{advice}")


@contextmanager
def _errors_named(place: str) -> Iterator[None]:
    """Name the module in errors that its code raises."""
    try:
        yield
    except InvalidArgumentError:
        raise
    except Exception as error:
        sys.modules.pop(Path(place).stem, None)
        frames = traceback.extract_tb(error.__traceback__)
        at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        failed = f"{place}, which fails to load: {type(error).__name__}: {str(error)[:80]}{at}"
        raise InvalidArgumentError(what=_WHAT, given=failed, expected="an importable module") from error


def _check(name: str, found: object) -> None:
    if not callable(found):
        raise _refuse(name, f"a function, not a {type(found).__name__}: {_SHAPE}")
    if not any(map(inspect.iscoroutinefunction, (found, getattr(found, "__call__", None)))):  # noqa: B004
        kind = "an asynchronous generator" if inspect.isasyncgenfunction(found) else "not asynchronous"
        raise _refuse(f"{name}, which is {kind}", _SHAPE)
    try:
        signature = inspect.signature(found)
        signature.bind(None, None)
    except TypeError:
        raise _refuse(f"{name}{signature}", f"two parameters: {_SHAPE}") from None


def _refuse(given: str, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(what=_WHAT, given=given, expected=expected)
