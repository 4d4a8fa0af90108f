"""Confirming: a person is asked before a step that sends, pays or deletes.

Rule: the step is done only after a clear yes. No answer in time, an error and any other answer are a no. A no is
no failure: nothing was wrong with the step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import attrs
import trio

from cdpengine.act import Click, Press
from cdpengine.act.confirming import Confirm, Confirmation
from cdpengine.cache.entries import Step
from cdpengine.cache.replaying.names import read_meaning
from cdpengine.errors import shown_url

ANSWERING = 120.0
"""Seconds that a person has for an answer."""

_WEIGHTY = frozenset(
    {
        "approve", "buy", "delete", "deposit", "downgrade", "order", "pay", "publish", "refund", "remove",
        "submit", "transfer", "uninstall", "unsubscribe", "withdraw",
    }
)  # fmt: skip
"""What a control does that cannot be taken back: it sends, pays or deletes."""

_LEADS = frozenset({"order", "publish", "submit"})
"""What a link only leads to: "My orders"."""

_ROLES = frozenset({"button", "menuitem", "link"})


def is_weighty(step: Step) -> bool:
    """Return whether a step sends, pays or deletes, by the name of the button, link or menu item."""
    if not isinstance(step.request, (Click, Press)):
        return False
    for target in step.targets.values():
        concepts = read_meaning(target.name).concepts
        if target.role in _ROLES and concepts & (_WEIGHTY - _LEADS if target.role == "link" else _WEIGHTY):
            return True
    return False


@attrs.frozen(kw_only=True)
class Confirming:
    """Asks a person for the steps of a scenario; `confirm` None asks nobody.

    `confirm_if` chooses the steps; without, `is_weighty` does.
    """

    scenario: str
    confirm: Confirm | None = None
    confirm_if: Callable[[Step], bool] | None = None

    def asks(self, step: Step) -> bool:
        """Return whether the person is asked for a step."""
        return self.confirm is not None and (self.confirm_if or is_weighty)(step)

    async def refusal(self, place: str, what: str, url: str, seconds: float) -> str:
        """Ask the person; return why the step is not to be done, "" for a yes.

        seconds: that are left of the run. The person has at most 120 of them.
        """
        assert self.confirm is not None
        asked = Confirmation(scenario=self.scenario, place=place, what=what, url=shown_url(url))
        limit = min(ANSWERING, seconds)
        with trio.move_on_after(limit) as asking:
            try:
                answer = await _call(self.confirm, asked)
            except Exception as error:  # noqa: BLE001 - a caller's own code; the report says so
                return f"asking for a confirmation raised {type(error).__name__}"
        if asking.cancelled_caught:
            return f"nobody confirmed it within {limit:g} s"
        return "" if answer is True else "it was not confirmed"


async def _call(confirm: Confirm, asked: Confirmation) -> object:
    if inspect.iscoroutinefunction(confirm):
        return await confirm(asked)
    # In a list, as trio refuses functions that return coroutines, which callable objects may do.
    (answer,) = await trio.to_thread.run_sync(lambda: [confirm(asked)], abandon_on_cancel=True)
    return await answer if inspect.isawaitable(answer) else answer


NOBODY = Confirming(scenario="")
"""Asks nobody."""
