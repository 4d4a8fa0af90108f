"""Properties, coroutine methods and plain methods of every public class: one rule, checked by introspection.

A value that needs no round trip and cannot fail is a property. A method that asks the browser or waits is a
coroutine (or is entered). A plain method takes arguments, has an effect, or creates something. The tables
below list the exceptions, with reasons.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from public_names import ENGINE

import cdpengine
import cdpengine.cache
import cdpengine.debug
import cdpengine.pool.manners
import cdpengine.testing

MODULES: tuple[ModuleType, ...] = (
    *ENGINE,
    cdpengine.errors,
    cdpengine.cache,
    cdpengine.debug,
    cdpengine.pool.manners,
    cdpengine.testing,
)

MAKE = {
    "Budget.exceeded": "makes an error, for its caller to raise",
    "Budget.scope": "makes a cancel scope, to be entered",
    "Session.posting_early": "makes a context, to be entered",
    "Browser.statistics": "a record of the moment, as trio's own `statistics()` are",
    "Connection.statistics": "a record of the moment",
    "EventStream.statistics": "a record of the moment",
    "PageMeasure.evaluate_statistics": "a record of the moment",
    "Recorder.statistics": "a record of the moment",
    "CacheEntry.all_steps": "traverses a tree on each call",
    "EventStream.receive_nowait": "takes the event out of the stream",
    "Lookup.to_json": "writes the object in another form",
    "Values.reveal": "reveals secrets, so the access is explicit",
    "Event.typed": "decodes on each call, and can fail",
    "InterceptedRequest.json": "decodes on each call, and can fail",
    "UndecodableReplyError.result": "decodes on each call, and can fail",
    "Header.encoded": "writes the object in another form",
    "Ref.describe": "writes the object in another form",
    "Session.describe": "writes the object in another form",
    "ExecutionReport.to_json": "writes the object in another form",
    "ExecutionReport.to_table": "writes the object in another form",
    "Snapshot.to_json": "writes the object in another form",
    "StorageState.to_json": "writes the object in another form",
}
"""Plain methods without arguments that return a value, with the reason why each is not a property."""

CAN_FAIL = {
    "Event.params": "decoded on first access; events with parameters of another shape are read as `raw`",
    "Expected.value": "it exists only after its block has ended",
    "ExpectedFileChooser.value": "it exists only after its block has ended",
    "PageActivity.console": "kept only on request",
    "PageActivity.errors": "kept only on request",
    "PageActivity.requests": "kept only on request",
    "ScriptedPeer.link": "it exists only after a client has connected",
}
"""Properties that can fail, with the times at which each has no value.

An earlier access is a mistake of the program.
"""


def public_classes() -> dict[str, type]:
    found = (getattr(module, name) for module in MODULES for name in module.__all__)
    return {kind.__name__: kind for kind in found if inspect.isclass(kind)}


CLASSES = public_classes()


def members(kind: type) -> Iterator[tuple[str, object]]:
    """Yield the public names of the class that the package defines, with their static values."""
    for name in dir(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if not name.startswith("_") and owner is not None and owner.__module__.startswith("cdpengine"):
            yield name, inspect.getattr_static(kind, name)


def properties() -> Iterator[tuple[str, Callable[..., object]]]:
    for kind in CLASSES.values():
        for name, found in members(kind):
            getter = getattr(found, "fget", None) or getattr(found, "func", None)
            if getter is not None:
                yield f"{kind.__name__}.{name}", getter


def methods() -> Iterator[tuple[str, Callable[..., object]]]:
    for kind in CLASSES.values():
        for name, found in members(kind):
            if inspect.isfunction(found):
                yield f"{kind.__name__}.{name}", inspect.unwrap(found)


def has(function: Callable[..., object], *kinds: type[ast.AST]) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def can_fail(getter: Callable[..., object]) -> bool:
    return has(getter, ast.Raise) or "Raises" in (getter.__doc__ or "")


def only_answers(method: Callable[..., object]) -> bool:
    """Return whether the method is plain, takes no arguments and returns a value."""
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return False
    signature = inspect.signature(method)
    return list(signature.parameters) == ["self"] and signature.return_annotation not in (None, "None")


def test_the_classes_are_found() -> None:
    assert {"Page", "Browser", "BrowserContext", "Session", "Recording", "ScriptedPeer"} <= CLASSES.keys()
    assert len(list(properties())) > 90
    assert len(list(methods())) > 150


def test_a_property_is_not_a_coroutine() -> None:
    assert [name for name, getter in properties() if inspect.iscoroutinefunction(getter)] == []


def test_a_property_cannot_fail() -> None:
    assert {name for name, getter in properties() if can_fail(getter)} == CAN_FAIL.keys()


def test_a_coroutine_method_asks_or_waits() -> None:
    waits = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert [
        name for name, each in methods() if inspect.iscoroutinefunction(each) and not has(each, *waits)
    ] == []


def test_a_plain_method_without_arguments_does_or_makes_something() -> None:
    assert {name for name, each in methods() if only_answers(each)} == MAKE.keys()


class _Wrong:
    @property
    def size(self) -> int:
        """Raises ValueError at times."""
        return 1

    def count(self) -> int:
        return 1

    async def number(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("breaks", "expected"),
    [
        (can_fail(_Wrong.size.fget), True),  # type: ignore[attr-defined]
        (only_answers(_Wrong.count), True),
        (only_answers(_Wrong.number), False),
        (has(_Wrong.number, ast.Await), False),
    ],
)
def test_violations_of_the_rule_are_detected(breaks: bool, expected: bool) -> None:
    assert breaks is expected
