"""Fingerprints of entered strings: their form, the information they reveal, and their use in a replay."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cdpengine._protocol.instruments import Traffic
from cdpengine.debug.reading.recording import open_recording
from cdpengine.debug.recording.fingerprints import (
    SHORTEST,
    EnteredTexts,
    Fingerprints,
    Typing,
    find_typed,
    find_withheld_texts,
    fingerprints,
)
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording_format import Header, Line
from cdpengine.debug.replaying.playback import Playback

SALT = b"0123456789abcdef"


def message(method: str, number: int = 1, session: str = "S", **params: Any) -> bytes:
    return json.dumps({"id": number, "method": method, "params": params, "sessionId": session}).encode()


def test_a_fingerprint_is_salted_and_leaves_most_of_a_text_open() -> None:
    by = Fingerprints(SALT)
    assert by.of("c4nary-pass") == Fingerprints(SALT).of("c4nary-pass")
    assert by.of("c4nary-pass") != by.of("c4nary-pasS")
    assert by.of("c4nary-pass") != Fingerprints(b"another salt....").of("c4nary-pass")
    for text in ("12", "123", "1234", "123456", "c4nary-pass", "x" * 40, "x" * 500):
        # At most two bits for each character: a digit has more than three, a letter more than four.
        assert len(by.of(text)) * 4 <= min(64, 2 * len(text))
    assert all(by.of("x" * length) == "" for length in range(SHORTEST))


def test_the_number_of_fingerprints_is_limited() -> None:
    by = Fingerprints(SALT, most=1)
    assert by.of("first text")
    assert by.of("second text") == ""
    assert by.of("first text")


def test_the_fingerprints_of_a_call_follow_the_order_of_its_redacted_texts() -> None:
    by = Fingerprints(SALT)
    before = {"a": {"password": "c4nary-pass"}, "b": ["plain", {"token": "c4nary-token"}], "c": "pin=123"}
    after = {
        "a": {"password": "[redacted]"},
        "b": ["plain", {"token": "[redacted]"}],
        "c": "pin=[redacted]",
        "d": "[redacted]",
    }
    assert list(find_withheld_texts(before, after)) == [
        ("c4nary-pass", 11),
        ("c4nary-token", 12),
        ("pin=123", 3),
        ("", 0),
    ]
    prints = fingerprints(before, after, by)
    assert prints[:2] == [by.of("c4nary-pass"), by.of("c4nary-token")]
    # Parts that are visible in the recording get no further bits: these are two bits for each of three
    # characters.
    assert len(prints[2]) == 1
    assert by.matches("pin=123", prints[2])
    assert prints[3] == ""
    assert fingerprints(before, before, by) == []


def test_generated_names_within_a_withheld_text_make_no_difference() -> None:
    by = Fingerprints(SALT)
    tags = (f"--set--content--{digits * 2}--" for digits in ("5f96c40e97dea20b", "3c892dcd20a54b81"))
    assert len({by.of_value(tag) for tag in tags}) == 1
    assert by.of_value("5f96c40e97dea20b") != by.of_value(
        "3c892dcd20a54b81"
    )  # a single key is the entered text


@pytest.mark.parametrize(
    ("method", "params", "typed"),
    [
        ("Input.insertText", {"text": "abc"}, "abc"),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "a", "text": "a"}, "a"),
        ("Input.dispatchKeyEvent", {"type": "char", "text": "ä"}, "ä"),
        ("Input.dispatchKeyEvent", {"type": "keyUp", "key": "a", "text": "a"}, ""),
        ("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Tab"}, "<Tab>"),
        ("Input.dispatchKeyEvent", {"type": "keyDown"}, ""),
        ("Input.imeSetComposition", {"text": "n"}, ""),
        ("Runtime.evaluate", {"text": "n"}, ""),
        ("Input.insertText", None, ""),
    ],
)
def test_the_text_that_a_call_types(method: str, params: Any, typed: str) -> None:
    assert find_typed(method, params) == typed


class Taped:
    """The lines that a recorder writes for a program's calls. Each call is answered immediately."""

    def __init__(self, *, redacted: bool = True, prints: bool = True) -> None:
        self.salt = SALT if redacted and prints else b""
        self.entered = EnteredTexts(SALT) if self.salt else None
        redactor = Redactor() if redacted else None
        self.maker = LineMaker(began=0.0, limit=0, redactor=redactor, entered=self.entered)
        self.raw: list[bytes] = []
        self.redacted = redacted
        self.number = 0

    def call(self, method: str, session: str = "S", **params: Any) -> Taped:
        self.number += 1
        reply = json.dumps({"id": self.number, "result": {}, "sessionId": session}).encode()
        asked = Traffic(0.0, "sent", "c", message(method, self.number, session, **params))
        self.raw += self.maker.lines(asked, Traffic(0.0, "received", "c", reply))
        return self

    def type(self, text: str, session: str = "S") -> Taped:
        for letter in text:
            self.call("Input.dispatchKeyEvent", session, type="keyDown", key=letter, text=letter)
            self.call("Input.dispatchKeyEvent", session, type="keyUp", key=letter)
        return self

    def press(self, key: str) -> Taped:
        return self.call("Input.dispatchKeyEvent", type="rawKeyDown", key=key)

    def written(self) -> bytes:
        if self.entered is not None:
            self.raw += [self.maker.entered(0.0, each) for each in self.entered.end()]
        header = Header(redacted=self.redacted, salt=self.salt.hex())
        return header.encoded() + b"".join(self.raw)

    def play(self, folder: Path, *, strict: bool = True) -> Playback:
        path = folder / "tape.jsonl"
        path.write_bytes(self.written())
        with open_recording(path) as recording:
            return Playback("tape", recording, header=recording.header, strict=strict)


class Again(Taped):
    """The same program, played against a recording. `error` is the cause of the divergence."""

    def __init__(self, playback: Playback) -> None:
        super().__init__()
        self.playback = playback
        self.client = playback.join("/")
        self.seen: list[bytes] = []

    def call(self, method: str, session: str = "S", **params: Any) -> Taped:
        self.number += 1
        assert self.playback.ask(self.client, message(method, self.number, session, **params))
        self.seen += [delivery.message for delivery in self.playback.due()]
        return self

    @property
    def error(self) -> str:
        return str(self.playback.divergence or "")


def program(
    side: Taped, password: str, token: str = "c4nary-token", header: str = "Bearer c4nary-header"
) -> None:
    side.call("Page.navigate", url=f"http://a.example/?token={token}")
    side.type("Ada").press("Tab").type(password).press("Enter")
    side.call("Network.setExtraHTTPHeaders", headers={"Authorization": header, "x-plain": "1"})
    side.call("Input.insertText", text=password)
    side.call("Page.reload")


WAYS: list[tuple[str, dict[str, str]]] = [
    ("typed, another one", {"password": "c4nary-PASS"}),
    ("typed, and longer", {"password": "c4nary-pass2"}),
    ("in a URL", {"password": "c4nary-pass", "token": "c4nary-other"}),
    ("in a header", {"password": "c4nary-pass", "header": "Bearer c4nary-other"}),
]


@pytest.mark.parametrize(("_way", "other"), WAYS, ids=[way for way, _ in WAYS])
def test_another_entered_text_diverges_in_the_strict_mode_and_is_not_shown(
    _way: str, other: dict[str, str], tmp_path: Path
) -> None:
    taped = Taped()
    program(taped, "c4nary-pass")
    assert b"c4nary" not in taped.written()
    same, differing = (Again(taped.play(tmp_path)) for _ in range(2))
    program(same, "c4nary-pass")
    assert same.error == ""
    assert same.playback.passed_over == []
    program(differing, **other)
    longer = r"recorded with other parameters[^~]*- type: 'rawKeyDown'\n  \+ type: 'keyDown'"
    assert re.search(rf"the text (typed up to|entered as)|{longer}", differing.error)
    assert "c4nary" not in differing.error
    assert b"c4nary" not in b"".join(differing.seen)


def test_without_the_strict_mode_redacted_values_match_everything(tmp_path: Path) -> None:
    taped = Taped()
    program(taped, "c4nary-pass")
    again = Again(taped.play(tmp_path, strict=False))
    program(again, "c4nary-PASS", "another token", "Bearer of-another")
    assert again.error == ""


def test_a_recording_without_fingerprints_is_replayed_with_a_notice(tmp_path: Path) -> None:
    taped = Taped(prints=False)
    program(taped, "c4nary-pass")
    again = Again(taped.play(tmp_path))
    program(again, "c4nary-PASS")
    assert again.error == ""
    assert again.playback.passed_over == ["the comparison of entered text: the recording has no fingerprints"]


def test_an_unredacted_recording_is_compared_by_its_texts(tmp_path: Path) -> None:
    taped = Taped(redacted=False)
    program(taped, "c4nary-pass")
    same, differing = (Again(taped.play(tmp_path)) for _ in range(2))
    program(same, "c4nary-pass")
    assert same.error == ""
    program(differing, "c4nary-PASS")
    assert differing.error
    assert "c4nary" not in differing.error


def test_text_typed_key_by_key_has_one_fingerprint_for_many_keys(tmp_path: Path) -> None:
    taped = Taped().type("Ada").press("Tab").type("c4nary-pass").press("Enter").type("x" * 20).type("end")
    taped.play(tmp_path)
    with open_recording(tmp_path / "tape.jsonl") as recording:
        typed = [line for line in recording if line.k == "entered"]
    # One for each key would reveal it: these cover "Ada<Tab>", the password, and 16 and 7 further characters.
    assert [len(line.typed) for line in typed] == [1, 5, 8, 3]
    assert all(line.h == () for line in typed)


def test_keys_without_characters_reveal_no_more_about_those_with_some() -> None:
    taped = Taped().type("1").press("Enter").press("Enter").type("2")
    assert taped.entered is not None
    (entered,) = taped.entered.end()
    assert len(entered.typed) == 1


def test_typing_in_two_sessions_is_kept_apart(tmp_path: Path) -> None:
    taped = Taped().type("c4na", "S").type("other", "T").type("ry-pass", "S").type("-text", "T")
    same = Again(taped.play(tmp_path))
    # Another order of the two matches; the same letters in another session do not.
    same.type("other", "T").type("c4na", "S").type("-text", "T").type("ry-pass", "S")
    assert same.error == ""
    differing = Again(taped.play(tmp_path))
    differing.type("c4na", "S").type("othfr", "T").type("ry-pass", "S").type("-text", "T")
    assert "the text typed up to line" in differing.error


def test_text_beyond_the_memory_limit_is_not_compared() -> None:
    entered = EnteredTexts(SALT)
    for number in range(1_500):
        raw = message("Input.insertText", text="c4nary-pass")
        entered.note(number, "c", "S", "Input.insertText", raw, raw)
    assert entered.end() == []  # a part of the typed text is missing, so it cannot be judged


def test_keys_without_a_fingerprint_do_not_disturb_later_ones() -> None:
    entered = EnteredTexts(SALT)
    entered._by = Fingerprints(SALT, most=0)
    raw = message("Input.insertText", text="c4nary-pass-word-long")
    entered.note(1, "c", "S", "Input.insertText", raw, raw)
    (unknown,) = entered.end()
    typing = Typing()
    line = Line(k="entered", typed=unknown.typed)
    assert typing.matches_recording("S", line.typed, Fingerprints(SALT))


def test_calls_without_redaction_are_not_compared() -> None:
    taped = Taped().call("Page.navigate", url="http://a.example/").call("Runtime.evaluate", expression="1")
    assert taped.entered is not None
    assert taped.entered.end() == []
