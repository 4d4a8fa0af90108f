"""Confirmation by a person before a step that sends, pays or deletes.

Rule: only a clear yes permits the step. A late answer, an error and any other answer count as no. A no is no
failure of the entry.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import attrs
import trio

from cdpengine.act import Click, Press
from cdpengine.act.confirming import Confirm, Confirmation
from cdpengine.cache.entries import Step
from cdpengine.cache.matching.names import read_meaning
from cdpengine.errors import shown_url
from cdpengine.errors.texts import duration

ANSWERING = 120.0
"""Time limit for an answer, in seconds."""

_WEIGHTY = frozenset(
    {
        "approve", "buy", "delete", "deposit", "downgrade", "order", "pay", "publish", "refund", "remove",
        "submit", "transfer", "uninstall", "unsubscribe", "withdraw",
    }
)  # fmt: skip
"""Functions of controls that are irreversible: they send, pay or delete."""

_LEADS = frozenset({"order", "publish", "submit"})
"""Functions that a link only navigates to: "My orders"."""

_ROLES = frozenset({"button", "menuitem", "link"})


def is_weighty(step: Step) -> bool:
    """Return whether the name of a step's button, link or menu item means sending, paying or deleting."""
    if not isinstance(step.request, (Click, Press)):
        return False
    for target in step.targets.values():
        concepts = read_meaning(target.name).concepts
        if target.role in _ROLES and concepts & (_WEIGHTY - _LEADS if target.role == "link" else _WEIGHTY):
            return True
    return False


@attrs.frozen(kw_only=True)
class Confirming:
    """The confirmation of a scenario's steps. With `confirm` None, no step needs a confirmation.

    `confirm_if` selects the steps; the default is `is_weighty`.
    """

    scenario: str
    confirm: Confirm | None = None
    confirm_if: Callable[[Step], bool] | None = None

    def asks(self, step: Step) -> bool:
        """Return whether a step needs a confirmation."""
        return self.confirm is not None and (self.confirm_if or is_weighty)(step)

    async def refusal(self, place: str, what: str, url: str, seconds: float) -> str:
        """Ask the person. Return the reason of a refusal, or "" for a yes.

        seconds: the remaining time of the run. The person has at most 120 s.
        """
        assert self.confirm is not None
        question = Confirmation(scenario=self.scenario, place=place, what=what, url=shown_url(url))
        limit = min(ANSWERING, seconds)
        with trio.move_on_after(limit) as asking:
            try:
                answer = await _call(self.confirm, question)
            except Exception as error:  # noqa: BLE001 - the caller's code; the report names the error
                return f"asking for a confirmation raised {type(error).__name__}"
        if asking.cancelled_caught:
            return f"no confirmation arrived within {duration(limit)}"
        return "" if answer is True else "it was not confirmed"


async def _call(confirm: Confirm, question: Confirmation) -> object:
    if inspect.iscoroutinefunction(confirm):
        return await confirm(question)
    # The list hides a coroutine from trio, which rejects functions that return one. Callable objects can do so.
    (answer,) = await trio.to_thread.run_sync(lambda: [confirm(question)], abandon_on_cancel=True)
    return await answer if inspect.isawaitable(answer) else answer


NOBODY = Confirming(scenario="")
"""The default: no step needs a confirmation."""
