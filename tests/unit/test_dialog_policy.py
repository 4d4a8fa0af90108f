"""Dialog policies and results of handlers, and the answers that they produce."""

from __future__ import annotations

import pytest

from cdpengine._page.dialogs import Dialog, DialogAnswer, DialogPolicy, answer_from, default_answer
from cdpengine.errors import InvalidArgumentError

KINDS = ("alert", "confirm", "prompt", "beforeunload", "newer")


def dialog(kind: str) -> Dialog:
    return Dialog(type=kind, message="hello", url="https://a.example/", default_prompt="there")


@pytest.mark.parametrize("kind", KINDS)
def test_names_give_their_answers(kind: str) -> None:
    default = kind in ("alert", "beforeunload")
    text = "there" if kind == "prompt" else None
    assert DialogPolicy.checked("default").answer(dialog(kind)) == DialogAnswer(default)
    assert DialogPolicy.checked("accept").answer(dialog(kind)) == DialogAnswer(True, text)
    assert DialogPolicy.checked("dismiss").answer(dialog(kind)) == DialogAnswer(False)
    assert DialogPolicy.checked("raise").answer(dialog(kind)) == DialogAnswer(False)
    assert default_answer(dialog(kind)) == DialogAnswer(default)
    given = DialogPolicy.checked("accept", "mine").answer(dialog(kind))
    assert given == DialogAnswer(True, "mine" if kind == "prompt" else None)


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (None, None),
        (True, DialogAnswer(True, "there")),
        (False, DialogAnswer(False)),
        ("", DialogAnswer(True, "")),
        ("text", DialogAnswer(True, "text")),
        (DialogAnswer(True), DialogAnswer(True, "there")),
        (DialogAnswer(False, "unused"), DialogAnswer(False)),
    ],
)
def test_results_of_handlers(result: object, answer: DialogAnswer | None) -> None:
    assert answer_from(result, dialog("prompt")) == answer


@pytest.mark.parametrize("result", [0, 1, b"text", object(), ["yes"]])
def test_invalid_answers_are_refused(result: object) -> None:
    with pytest.raises(TypeError, match="DialogAnswer, bool, str or None"):
        answer_from(result, dialog("prompt"))


@pytest.mark.parametrize("policy", ["ignore", "", None, 3, True])
def test_invalid_policies_are_named(policy: object) -> None:
    with pytest.raises(InvalidArgumentError, match="policy"):
        DialogPolicy.checked(policy)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["dismiss", "raise", "default", print])
def test_an_unused_prompt_text_is_named(policy: object) -> None:
    with pytest.raises(InvalidArgumentError, match="prompt_text") as caught:
        DialogPolicy.checked(policy, "my secret")  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)


def test_typed_text_is_not_shown() -> None:
    answered = Dialog(type="prompt", message="", url="", accepted=True, prompt_text="secret")
    assert "secret" not in repr((answered, DialogAnswer(True, "secret"), DialogPolicy("accept", "secret")))
