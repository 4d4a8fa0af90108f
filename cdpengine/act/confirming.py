"""Confirmations: what a person is asked before a step that cannot be taken back is done.

Rule: who asks stands above the request that needs the answer, so it is found by the context of the task: a server
that can reach its client's person sets `person` around a call. Without one, nobody is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeAlias

import attrs


@attrs.frozen(kw_only=True)
class Confirmation:
    """A step that a person is to confirm. No value of a variable is in it.

    scenario: what it is a step of. place: such as "2", or "2.1" in a group. what: in words, such as 'click button
    "Pay"'. url: of the page, without secrets.
    """

    scenario: str
    place: str
    what: str
    url: str

    def __str__(self) -> str:
        return f"{self.scenario}, step {self.place}: {self.what}, on {self.url}"


Confirm: TypeAlias = Callable[[Confirmation], "Awaitable[bool] | bool"]
"""Asks a person, and returns True only if the person agrees. One that is not async runs in a thread."""

person: ContextVar[Confirm | None] = ContextVar("how the person of a call is asked", default=None)
"""How the person is asked for whom the request of this task is done."""
