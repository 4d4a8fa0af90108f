"""The public errors: the documented tree, pickling, and useful messages without secrets."""

from __future__ import annotations

import copy
import json
import pickle
import unicodedata
from collections.abc import Callable

import attrs
import pytest
from made_errors import CLASSES, make

from cdpengine import errors
from cdpengine._emulation.options import Proxy, check_proxy
from cdpengine._evaluate.literals import to_literal
from cdpengine._input.devices.keyboard import check_text
from cdpengine._input.devices.keys import chord_named, key_named
from cdpengine._input.forms.fill import texts_of
from cdpengine._input.forms.listbox import Option
from cdpengine._launch.endpoint import check_endpoint
from cdpengine._launch.flags import check_arguments
from cdpengine._network.messages import check_headers
from cdpengine._storage.cookies import check_cookie
from cdpengine._urls.origins import check_origin
from cdpengine.cli.output import describe_error
from cdpengine.errors import EngineError
from cdpengine.errors.texts import duration


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
def test_every_error_prints_one_useful_message(kind: type[EngineError]) -> None:
    text = str(make(kind))
    assert any(value in text for value in ("word", "1.5", "7"))
    assert "secret-payload" not in text
    assert len(text) < 420


# --------------------------------------------------------------------------------

HOSTILE = "a\nError: forged\r\x1b]0;x\x07\x9b31m\x85\u2028\u202e\u2066\ufeff\u200b\U000e0041\udc9b\x00b"
SECRETS = {
    "in a URL": "https://user:hunter2@host/p?a=1&token=hunter2#access_token=hunter2",
    "in a word": "password=hunter2",
    "in a header": "Authorization: Bearer hunter2hunter2",
    "in a document": "data:text/html,<input value=hunter2>",
    "in a token": "eyJhbGciOiJIUzI1NiJ9.hunter2.hunter2",
    "in a truncated string": "x " * 9_990 + "https://user:hunter2@host/",
}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_foreign_text_controls_a_terminal_or_begins_a_line(kind: type[EngineError]) -> None:
    benign, hostile = make(kind), make(kind, HOSTILE)
    for text, plain in ((str(hostile), str(benign)), (repr(hostile), repr(benign))):
        assert len(text.splitlines()) == len(plain.splitlines())
        assert not [line for line in text.splitlines() if line.startswith("Error: forged")]
        assert {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {
            "\n"
        }
        text.encode("utf-8")
    if attrs.has(kind):  # fields keep the whole string
        for field in attrs.fields(kind):
            if field.type == "str":
                assert getattr(hostile, field.name) == HOSTILE


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_message_contains_a_secret(kind: type[EngineError]) -> None:
    for form, secret in SECRETS.items():
        error = make(kind, secret)
        assert "hunter2" not in str(error), form
        assert "hunter2" not in repr(error), form
        if form != "in a truncated string":  # fields keep their full length
            assert "hunter2" not in json.dumps(describe_error(error)), form
        if attrs.has(kind):  # fields keep the whole string
            assert {getattr(error, field.name) for field in attrs.fields(kind) if field.type == "str"} <= {
                secret
            }


def test_typed_text_is_in_no_message_and_in_no_json() -> None:
    for error in (
        errors.ValueRefusedError("fill", "e1", "it was changed", took="hunter2"),
        errors.OptionNotFoundError("select from", "e1", "it is not there", wanted=("hunter2",)),
        errors.ProtocolError("shape", "A.b", b"hunter2"),
        errors.FormError(
            [errors.FailedField("e1", errors.ValueRefusedError("fill", "e1", "no", took="hunter2"))]
        ),
    ):
        assert "hunter2" not in str(error)
        assert "hunter2" not in repr(error)
        assert "hunter2" not in json.dumps(describe_error(error))


@pytest.mark.parametrize(
    "call",
    [
        lambda: key_named("hunter2, and what else was to be typed"),
        lambda: chord_named("Control+hunter2"),
        lambda: chord_named("hunter2+A"),
        lambda: chord_named("hunter2 +"),
        lambda: Option(label="hunter2", index=-1),
        lambda: Option(value=["hunter2"]),  # type: ignore[arg-type]
        lambda: check_arguments(["--proxy-server=http://user:hunter2@host\0"]),
        lambda: check_proxy(Proxy("http//user:hunter2@host:80/x")),
        lambda: check_proxy(Proxy("http://user:hunter2@host:80")),
        lambda: check_cookie({"name": "a", "value": "hunter2;", "domain": "host"}, "cookie"),
        lambda: check_cookie({"name": "a", "value": "b", "url": "ftp://user:hunter2@host/"}, "cookie"),
        lambda: check_headers({"authorization": "hunter2\n"}),
        lambda: check_headers({"authorization: Bearer hunter2hunter2": "a"}),
        lambda: check_origin("ftp://user:hunter2@host/"),
        lambda: check_endpoint("http://user:hunter2@host:1?token=hunter2"),
        lambda: check_endpoint("http://host:1?token=hunter2 "),
        lambda: to_literal(["hunter2", {1: "hunter2"}]),
        lambda: texts_of(["hunter2"]),  # type: ignore[arg-type]
        lambda: check_text("hunter2 \ud800"),
    ],
)
def test_an_error_does_not_repeat_its_argument(call: Callable[[], object]) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        call()
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in json.dumps(describe_error(caught.value))


def test_an_error_of_a_program_is_safe_too() -> None:
    @attrs.define(eq=False, slots=False, str=False, repr=False)
    class Own(errors.NodeError):
        what: str
        among: dict[str, str]

        def _describe(self) -> str:
            return f"{self.what}\n  {self.among}"

    assert str(Own("a\nb\x1b", {"a": "\x9b"})) == "a\\nb\\x1b\n  {'a': '\\x9b'}"
    assert str(EngineError("a\nb", "c\x1b")) == r"('a\\nb', 'c\\x1b')"
    assert str(EngineError()) == ""
    noted = errors.NavigationFailedError("https://u:p@h/", "no")
    noted.add_note("a note")
    assert "a note" not in str(noted)


def test_alternating_steps_are_folded_and_the_last_ones_are_shown() -> None:
    steps = ["looking at it", *["covered by #x", "covered by #y"] * 50]
    assert str(errors.DeadlineExceededError("click e1", 1.0, steps)).splitlines()[1:] == [
        "  - looking at it",
        "  - covered by #x (50 times)",
        "  - covered by #y (50 times)",
    ]
    error = errors.DeadlineExceededError(
        "click e1", 1.0, [f"{number} of many steps" for number in range(100)]
    )
    lines = str(error).splitlines()
    assert lines[-1] == "  - 99 of many steps"
    assert lines[1] == f"  ... {100 - len(lines) + 2} more in .steps"
    assert len(error.steps) == 100


def test_errors_of_many_fields_show_the_first() -> None:
    many = errors.FormError(
        [
            errors.FailedField(f"e{number}", errors.SessionGoneError("session", "it ended"))
            for number in range(99)
        ]
    )
    assert len(str(many)) < 2300
    assert str(many).count("it ended") > 40
    assert "more in .failed" in str(many)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a int", "an int"),
        ("'/x', a folder,", "'/x', a folder"),
        ("a str", "a str"),
        ("x" * 500, "x" * 180 + "..."),
    ],
)
def test_an_argument_reads_as_a_sentence(given: str, expected: str) -> None:
    assert (
        str(errors.InvalidArgumentError("path", given, "a file")) == f"path: got {expected}, expected a file"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.34996, "1.35 s"), (2.0, "2 s"), (0.3, "0.3 s"), (0.05, "0.05 s"), (0.00417, "0.0042 s"), (0.0, "0 s"),
        (12.3456, "12.3 s"), (9.999, "10 s"), (30, "30 s"), (99.96, "100 s"), (1234.5, "1234 s"), (-0.1, "0 s"),
        (float("inf"), "inf s"),
    ],
)  # fmt: skip
def test_durations_are_rounded(seconds: float, text: str) -> None:
    assert duration(seconds) == text
    error = errors.DeadlineExceededError("click e1", seconds)
    assert str(error) == f"click e1 did not finish within {text}"


def test_invalid_argument_is_a_value_error() -> None:
    error = errors.InvalidArgumentError(what="timeout", given="-1", expected="0 or more")
    assert isinstance(error, ValueError)
    assert str(error) == "timeout: got -1, expected 0 or more"


def test_undecodable_reply_returns_its_raw_json() -> None:
    error = errors.ProtocolError(method="A.b", reason="shape", raw=b'{"x":1}')
    assert error.result() == {"x": 1}
    assert "7 bytes" in str(error)


def test_every_public_error_shows_where_it_is_imported_from() -> None:
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type):
            assert kind.__module__ == "cdpengine.errors"
            assert pickle.loads(pickle.dumps(kind)) is kind
