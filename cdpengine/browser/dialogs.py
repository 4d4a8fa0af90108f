"""Dialogs: what is known of alert, confirm, prompt and beforeunload, and how they are answered.

Rule: nothing waits for a human. A page's script stands still while its dialog is open, and with it every call
that needs the page, so a dialog is answered as soon as Chrome tells of it, by the page's policy, and recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import msgspec


class DialogOpening(msgspec.Struct, rename="camel"):
    """`Page.javascriptDialogOpening`."""

    type: str = "alert"
    message: str = ""
    url: str = ""
    default_prompt: str = ""


@attrs.frozen
class Dialog:
    """A dialog that opened and how it was answered.

    `type` is "alert", "confirm", "prompt", "beforeunload", or newer; `message` is the page's text; `accepted` says
    whether it was answered with OK.
    """

    type: str
    message: str
    url: str
    accepted: bool


DEFAULT_POLICY: Mapping[str, bool] = {"alert": True, "confirm": False, "prompt": False, "beforeunload": True}
"""Whether a dialog of a type is accepted. A question that nobody answers is a no; leaving a page is a yes,
because whoever navigates means it."""


def answer(opening: DialogOpening) -> Dialog:
    """Decide how a dialog is answered, by the default policy; a type not known here is dismissed."""
    accepted = DEFAULT_POLICY.get(opening.type, False)
    return Dialog(type=opening.type, message=opening.message, url=opening.url, accepted=accepted)
