"""Chrome's answers to an evaluation, as Python values and errors."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from cdpengine._evaluate.replies import explain_refusal, to_python
from cdpengine._protocol.domains.runtime import EvaluateReply
from cdpengine.errors import EngineError, EvaluationFailedError, EvaluationTerminatedError, RemoteError


def reply(**fields: Any) -> EvaluateReply:
    return msgspec.convert(fields, EvaluateReply)


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ({"type": "number", "value": 2, "description": "2"}, 2),
        ({"type": "string", "value": "a"}, "a"),
        ({"type": "undefined"}, None),
        ({"type": "object", "subtype": "null", "value": None}, None),
        ({"type": "object", "value": {"a": [1]}}, {"a": [1]}),
        ({"type": "number", "unserializableValue": "Infinity"}, math.inf),
        ({"type": "number", "unserializableValue": "-Infinity"}, -math.inf),
        ({"type": "bigint", "unserializableValue": "123n"}, 123),
        ({"type": "newer", "unserializableValue": "something new"}, "something new"),
    ],
)
def test_values(result: dict[str, Any], value: object) -> None:
    assert to_python(reply(result=result)) == value


def test_not_a_number_and_negative_zero() -> None:
    assert math.isnan(to_python(reply(result={"type": "number", "unserializableValue": "NaN"})))
    zero = to_python(reply(result={"type": "number", "unserializableValue": "-0"}))
    assert zero == 0
    assert math.copysign(1, zero) == -1


def test_a_thrown_error_has_separate_message_and_stack() -> None:
    details = {
        "text": "Uncaught",
        "lineNumber": 3,
        "columnNumber": 7,
        "exception": {
            "type": "object",
            "subtype": "error",
            "description": "TypeError: no\nsecond line\n    at f (x.js:1:2)\n    at g (x.js:3:4)",
        },
    }
    with pytest.raises(EvaluationFailedError) as caught:
        to_python(reply(result={"type": "object"}, exceptionDetails=details))
    assert caught.value.text == "TypeError: no\nsecond line"
    assert caught.value.stack == "    at f (x.js:1:2)\n    at g (x.js:3:4)"
    assert (caught.value.line, caught.value.column) == (3, 7)


@pytest.mark.parametrize(
    ("exception", "text"),
    [
        ({"type": "number", "value": 5}, "Uncaught 5"),
        ({"type": "undefined"}, "Uncaught undefined"),
        ({"type": "number", "unserializableValue": "NaN"}, "Uncaught NaN"),
    ],
)
def test_a_thrown_value_other_than_an_error(exception: dict[str, Any], text: str) -> None:
    details = {
        "text": "Uncaught",
        "exception": exception,
        "stackTrace": {
            "callFrames": [{"functionName": "", "url": "x.js", "lineNumber": 0, "columnNumber": 4}]
        },
    }
    with pytest.raises(EvaluationFailedError) as caught:
        to_python(reply(result={"type": "object"}, exceptionDetails=details))
    assert caught.value.text == text
    assert caught.value.stack == "    at <anonymous> (x.js:1:5)"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Internal error", EvaluationTerminatedError),
        ("Execution was terminated", EvaluationTerminatedError),
        ("Inspected target navigated or closed", EvaluationTerminatedError),
        ("Object reference chain is too long", EvaluationFailedError),
        ("Object couldn't be returned by value", EvaluationFailedError),
        ("Something newer", RemoteError),
    ],
)
def test_refusals_are_explained(message: str, kind: type[EngineError]) -> None:
    assert type(explain_refusal(RemoteError(code=-32000, message=message, method="Runtime.evaluate"))) is kind


@pytest.mark.parametrize("digits", [5_000, 601, 600, 1])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_bigint_of_any_size_is_an_int(digits: int, sign: str) -> None:
    answer = reply(result={"type": "bigint", "unserializableValue": f"{sign}{'7' * digits}n"})
    magnitude = 7 * (10**digits - 1) // 9
    assert to_python(answer) == (-magnitude if sign else magnitude)


def test_a_collected_promise_is_a_failure_of_the_script() -> None:
    error = RemoteError(code=-32000, message="Promise was collected", method="Runtime.evaluate")
    assert isinstance(explain_refusal(error), EvaluationFailedError)
