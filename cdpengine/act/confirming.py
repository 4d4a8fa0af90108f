"""Confirmations: questions to a person before an irreversible step.

Rule: the code that can ask is above the request, so a context variable provides it: a server that can reach its
client's person sets `person` around a call. Without it, the step needs no confirmation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeAlias

import attrs


@attrs.frozen(kw_only=True)
class Confirmation:
    """A step that a person is to confirm. It contains no value of a variable.

    scenario: the scenario of the step.
    place: the position of the step, such as "2", or "2.1" in a group.
    what: a description, such as 'click button "Pay"'.
    url: the URL of the page, without secrets.
    """

    scenario: str
    place: str
    what: str
    url: str

    def __str__(self) -> str:
        return f"{self.scenario}, step {self.place}: {self.what}, on {self.url}"


Confirm: TypeAlias = Callable[[Confirmation], "Awaitable[bool] | bool"]
"""Asks a person, and returns True only if the person agrees. A function that is not async runs in a thread."""

person: ContextVar[Confirm | None] = ContextVar("the function that asks the person of a call", default=None)
"""The function that asks the person for whom this task runs a request."""
