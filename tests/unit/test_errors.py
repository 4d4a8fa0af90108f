"""The public errors: the tree as documented, pickling, and messages that are of use and hold no secrets."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Iterator
from typing import cast

import attrs
import pytest

from cdpengine import errors
from cdpengine.errors import EngineError, RescueReport, RescueStep

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, EngineError) and kind.__module__.startswith(f"{errors.__name__}.")
]

VALUES: dict[str, object] = {
    "str": "a word",
    "str | None": "a word",
    "int": 7,
    "int | None": 7,
    "float": 1.5,
    "object": None,
    "bool": True,
    "Sequence[FailedField]": (errors.FailedField("a word", errors.SessionGone("a page", "closed")),),
    "bytes": b'{"typed":"secret-payload"}',
    "Sequence[str]": ("one", "two"),
    "Became": "removed",
    "tuple[Any, ...]": ("e7",),
    "RescueReport": RescueReport(sent=True, steps=(RescueStep("terminate", True, "", 2.0),), responsive=True),
}


def make(kind: type[EngineError]) -> EngineError:
    if not attrs.has(kind):
        return kind("a word")
    return cast("EngineError", kind(**{field.name: VALUES[str(field.type)] for field in attrs.fields(kind)}))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_can_be_pickled_and_copied(kind: type[EngineError]) -> None:
    error = make(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error)
        if attrs.has(kind):
            for field in attrs.fields(kind):
                assert getattr(again, field.name) == getattr(error, field.name)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_prints_one_useful_text(kind: type[EngineError]) -> None:
    text = str(make(kind))
    assert "word" in text or "1.5" in text
    assert "secret-payload" not in text
    assert len(text) < 400


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_docstring_of_its_own(kind: type[EngineError]) -> None:
    assert kind.__doc__
    assert "__doc__" in vars(kind)


def documented_tree() -> Iterator[tuple[str, str]]:
    """Yield (child, parent) pairs from the module's docstring."""
    listing = (errors.__doc__ or "").split("    EngineError\n", 1)[1].split("\n\n", 1)[0]
    for line in listing.splitlines():
        parent = "EngineError"
        for level in line.strip().split("  ")[0].split(" > "):
            names = [name.strip() for name in level.split(",")]
            for name in names:
                yield name, parent
            parent = names[-1]


def test_the_tree_is_as_the_docstring_draws_it() -> None:
    drawn = dict(documented_tree())
    # In "NodeError > StaleRef, NodeNotFound, NotInteractable > Covered", each name stands under the level before.
    actual = {
        kind.__name__: next(base.__name__ for base in kind.__mro__[1:] if issubclass(base, EngineError))
        for kind in CLASSES
        if kind is not EngineError
    }
    assert drawn == actual


def test_invalid_argument_is_a_value_error() -> None:
    error = errors.InvalidArgument(what="timeout", given="-1", expected="0 or more")
    assert isinstance(error, ValueError)
    assert str(error) == "timeout: -1 will not do; expected 0 or more"


def test_undecodable_reply_gives_its_raw_json_back() -> None:
    error = errors.UndecodableReply(method="A.b", reason="shape", raw=b'{"x":1}')
    assert error.result() == {"x": 1}
    assert "7 bytes" in str(error)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_errors_can_be_raised_and_chained(kind: type[EngineError]) -> None:
    with pytest.raises(kind, match=re.escape(str(make(kind))[:20])):
        raise make(kind)
