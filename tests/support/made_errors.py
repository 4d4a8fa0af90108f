"""An error of each class, made with given strings, for tests that read every error message."""

from __future__ import annotations

import inspect
from typing import cast

import attrs

from cdpengine import errors
from cdpengine.errors import EngineError, RecoveryReport, RecoveryStep

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, EngineError) and kind.__module__.startswith(errors.__name__)
]

VALUES: dict[str, object] = {
    "int": 7,
    "int | None": 7,
    "float": 1.5,
    "float | None": 1.5,
    "bool": True,
    "bytes": b'{"typed":"secret-payload"}',
}


def make(kind: type[EngineError], text: str = "a word") -> EngineError:
    if not attrs.has(kind):
        return kind(text)
    values = VALUES | {
        "str": text,
        "str | None": text,
        "object": text,
        "Sequence[FailedField]": (errors.FailedField(text, errors.SessionGoneError(text, text)),),
        "Sequence[str]": (text, text),
        "Sequence[tuple[str, str]]": (("click", text),),
        "Became": text,
        "UnreadyState": text,
        "tuple[Any, ...]": (text, Foreign(text)),
        "RecoveryReport": RecoveryReport(sent=True, steps=(RecoveryStep("close", False, text, 2.0),)),
    }
    return cast("EngineError", kind(**{field.name: values[str(field.type)] for field in attrs.fields(kind)}))


@attrs.frozen
class Foreign:
    """An error argument that is not a string and contains words of the page."""

    text: str

    def __str__(self) -> str:
        return self.text
