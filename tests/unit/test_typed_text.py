"""Typed text is assembled from keys and pieces, however a client types them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdpengine.debug import Redactor

WORD = "hunter2"


def key_events(letter: str, style: str) -> list[dict[str, Any]]:
    down = {"type": "keyDown", "key": letter, "code": f"Key{letter.upper()}", "text": letter}
    up = {"type": "keyUp", "key": letter, "code": f"Key{letter.upper()}"}
    if style == "in one":
        return [down, up]
    raw = {**down, "type": "rawKeyDown", "text": ""}
    return [raw, {"type": "char", "text": letter, "key": letter}, up]


class Typing:
    """A redactor that receives commands, and its output for all of them."""

    def __init__(self) -> None:
        self.redactor = Redactor()
        self.written = ""
        self._number = 0

    def send(self, method: str, session: str = "A", **params: Any) -> None:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, "sessionId": session}
        raw = json.dumps(message, separators=(",", ":")).encode()
        self.written += self.redactor.redact_call(raw, method, self._number).decode()

    def type(self, text: str, session: str = "A", style: str = "in one") -> None:
        for letter in text:
            for event in key_events(letter, style):
                self.send("Input.dispatchKeyEvent", session, **event)

    def knows(self, text: str) -> bool:
        return text not in self.redactor.text(f"x {text} y")


@pytest.mark.parametrize("style", ["in one", "in three"])
def test_keys_make_a_word(style: str) -> None:
    typing = Typing()
    typing.type(WORD, style=style)
    assert typing.knows(WORD)
    assert not any(f'"{letter}"' in typing.written for letter in WORD)


def test_each_session_has_its_own_word() -> None:
    typing = Typing()
    for first, second in zip("hunter2", "swordfi", strict=True):
        typing.type(first, "A")
        typing.type(second, "B")
    assert typing.knows("hunter2")
    assert typing.knows("swordfi")
    assert not typing.knows("hsuwno")


def test_deleted_characters_are_not_part_of_the_word() -> None:
    typing = Typing()
    typing.type("hunterx")
    typing.send("Input.dispatchKeyEvent", type="keyDown", key="Backspace", code="Backspace")
    typing.type("2")
    assert typing.knows("hunter2")


def test_inserted_pieces_make_one_text() -> None:
    typing = Typing()
    typing.send("Input.insertText", text="hunt")
    typing.send("Input.insertText", text="er2")
    assert typing.knows(WORD)
    assert "hunt" not in typing.written


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Tab"}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "ArrowLeft"}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "text": "\r"}),
        ("Input.dispatchMouseEvent", {"type": "mousePressed"}),
        ("Page.navigate", {"url": "about:blank"}),
    ],
)
def test_a_word_ends_where_the_caret_moves(method: str, params: dict[str, Any]) -> None:
    typing = Typing()
    typing.type("abcd")
    typing.send(method, **params)
    typing.type("efgh")
    assert not typing.knows("abcdefgh")


def test_a_pointer_that_only_moves_ends_no_word() -> None:
    typing = Typing()
    typing.type("hunt")
    typing.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=2)
    typing.type("er2")
    assert typing.knows(WORD)


@pytest.mark.parametrize("key", ["Enter", "Tab", "ArrowLeft", "Backspace", "Control", "F5"])
def test_keys_without_letters_stay_and_are_not_searched(key: str) -> None:
    typing = Typing()
    typing.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=13)
    assert f'"key":"{key}"' in typing.written
    assert '"windowsVirtualKeyCode":13' in typing.written
    assert not typing.knows(key)


def test_shortcuts_enter_nothing() -> None:
    typing = Typing()
    for letter in "abcdefg":
        typing.send("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter, modifiers=2)
    assert not typing.knows("abcdefg")


def test_a_script_may_move_the_focus() -> None:
    typing = Typing()
    typing.type("hunter2")
    typing.redactor.note_script("A")
    typing.type("swordfish")
    assert typing.knows("hunter2")
    assert typing.knows("swordfish")
    assert not typing.knows("ter2sword")


@pytest.mark.parametrize("more", ["s", "sw", "swo", "swordfish", "sw rd"])
def test_a_script_may_leave_the_focus(more: str) -> None:
    """The text then continues.

    A page that shows the growing text is redacted as one text, with no letter left.
    """
    typing = Typing()
    typing.type("hunter2")
    typing.redactor.note_script("A")
    for number in range(len(more)):
        typing.type(more[number])
        grown = f"hunter2{more[: number + 1]}"
        assert typing.redactor.text(f"/find?q={grown}") == "/find?q=[redacted]"
    assert typing.redactor.text("/find?q=hunter2&a=b") == "/find?q=[redacted]&a=b"


def test_a_click_ends_a_text_even_after_scripts() -> None:
    typing = Typing()
    typing.type("hunter2")
    typing.redactor.note_script("A")
    typing.send("Input.dispatchMouseEvent", type="mousePressed", x=1, y=1)
    typing.type("ab")
    assert typing.redactor.text("hunter2ab") == "[redacted]ab"


def test_a_script_before_each_character_is_a_way_of_typing() -> None:
    typing = Typing()
    typing.type("hunter2")
    for letter in "swordfish":
        typing.redactor.note_script("A")
        typing.type(letter)
    assert typing.knows("swordfish")
