"""Dialogs: what is known of alert, confirm, prompt and beforeunload, and the answers that a policy gives.

Rule: pure; it knows of no session. An answer is always there: what a handler leaves open, and what is not known
here, is answered by the default. Who says yes to a prompt without a text says the text that stands in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import attrs

from cdpengine.errors import InvalidArgumentError


@attrs.frozen
class Dialog:
    """A dialog that opened, and how it was answered.

    `type` is "alert", "confirm", "prompt", "beforeunload", or newer; `message` is the page's text, `url` and
    `frame_id` tell whose it is, and `page` is the Page that shows it, so that one handler can serve many pages.
    `default_prompt` is what stood in a prompt's field. `accepted` says whether it was answered with OK, None while
    it is open; `prompt_text` is the text that a prompt was given.

    `answered_by`: "policy"; "handler"; "expectation" (`page.expect_dialog`); "default" where a handler left it to
    the default; "elsewhere" where another client, a person or a recovery was faster, or the page went away; ""
    while it is open. `failure` tells how the handler failed ("ValueError: ...", or that it took too long); ""
    where it did not.
    """

    type: str
    message: str
    url: str
    accepted: bool | None = None
    default_prompt: str = ""
    prompt_text: str | None = attrs.field(default=None, repr=False)
    frame_id: str = ""
    answered_by: str = ""
    failure: str = ""
    page: Any = attrs.field(default=None, repr=False, eq=False)


@attrs.frozen
class DialogAnswer:
    """OK or Cancel; `prompt_text` is for a prompt that is accepted (None: what stands in its field)."""

    accept: bool
    prompt_text: str | None = attrs.field(default=None, repr=False)


HandlerResult = DialogAnswer | bool | str | None
"""What a handler may return: an answer, OK or Cancel, the text of a prompt, None for the default answer."""

DialogHandler = Callable[[Dialog], HandlerResult | Awaitable[HandlerResult]]

PolicyName = Literal["default", "accept", "dismiss", "raise"]

_NAMES = ("default", "accept", "dismiss", "raise")

_DEFAULTS: Mapping[str, bool] = {"alert": True, "confirm": False, "prompt": False, "beforeunload": True}
"""Whether a dialog of a type is accepted by default. A question that nobody answers is a no; leaving a page is a
yes, because whoever navigates means it. A type not known here is dismissed."""


@attrs.frozen
class DialogPolicy:
    """How a page's dialogs are answered: a name or a handler, and the text for accepted prompts."""

    choice: PolicyName | DialogHandler = "default"
    prompt_text: str | None = attrs.field(default=None, repr=False)

    @classmethod
    def checked(cls, choice: PolicyName | DialogHandler, prompt_text: str | None = None) -> DialogPolicy:
        """Return the policy.

        Raises InvalidArgumentError for a choice that is none and for a text without a use.
        """
        if not callable(choice) and choice not in _NAMES:
            names = ", ".join(f'"{name}"' for name in _NAMES)
            raise InvalidArgumentError(
                what="policy", given=repr(choice)[:80], expected=f"{names}, or a function that takes a Dialog"
            )
        if prompt_text is not None and (choice != "accept" or not isinstance(prompt_text, str)):
            raise InvalidArgumentError(
                what="prompt_text",
                given=f"a {type(prompt_text).__name__} with another policy or of another type",
                expected='a str, with the policy "accept"; a handler returns its text',
            )
        return cls(choice, prompt_text)

    @property
    def handler(self) -> DialogHandler | None:
        """The handler, if the policy is one."""
        return self.choice if callable(self.choice) else None

    @property
    def raises(self) -> bool:
        """Whether the action during which a dialog opens fails with DialogOpenedError."""
        return self.choice == "raise"

    def answer(self, dialog: Dialog) -> DialogAnswer:
        """Return what is answered at once; a handler's policy gives the default."""
        if self.choice == "accept":
            return filled_in(DialogAnswer(accept=True, prompt_text=self.prompt_text), dialog)
        if self.choice in ("dismiss", "raise"):
            return DialogAnswer(accept=False)
        return default_answer(dialog)


def default_answer(dialog: Dialog) -> DialogAnswer:
    """Return what a dialog is answered where nobody said otherwise."""
    return DialogAnswer(accept=_DEFAULTS.get(dialog.type, False))


def answer_from(result: object, dialog: Dialog) -> DialogAnswer | None:
    """Turn what a handler returned into an answer; None where it left that to the default.

    Raises TypeError for what is no answer.
    """
    if result is None:
        return None
    if isinstance(result, bool):
        return filled_in(DialogAnswer(accept=result), dialog)
    if isinstance(result, str):
        return DialogAnswer(accept=True, prompt_text=result)
    if isinstance(result, DialogAnswer):
        return filled_in(result, dialog)
    raise TypeError(f"it returned a {type(result).__name__}, not a DialogAnswer, bool, str or None")


def filled_in(answer: DialogAnswer, dialog: Dialog) -> DialogAnswer:
    """Give an accepted prompt its own default text where none is given: Chrome would take an empty one."""
    if dialog.type != "prompt" or not answer.accept:
        return DialogAnswer(accept=answer.accept)
    if answer.prompt_text is None:
        return DialogAnswer(accept=True, prompt_text=dialog.default_prompt)
    return answer
