"""Action scripts are run: each action is a request, and what came of it is returned.

Rule: nothing is kept outside of what is returned. A step tells the page that is current after it and what the
action was answered with; the script goes on from there, and ends at its first failure, at `stop`, or at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.act.actor import Actor, actor_of
from cdpengine.act.dispatch import dispatch
from cdpengine.act.requests import ActRequest, Wait
from cdpengine.act.response import ActResponse, Failure, describe_failure, describe_url
from cdpengine.act.script_language import Action, Nothing, Stop, extract_action, parse_action, parse_script
from cdpengine.errors import ActionSyntaxError, EngineError

if TYPE_CHECKING:
    from cdpengine import Browser

_READING_MS = 5_000
"""How long a document that an action led to may take until it has been read, before the next action."""


@attrs.frozen(kw_only=True)
class ScriptStep:
    """One action that was done.

    `target_id` and `url` are those of the page that is current after it, None where none is open. `response` is
    None for an action that asks nothing of the browser.
    """

    line: int
    action: Action
    response: ActResponse | None
    target_id: str | None
    url: str | None


@attrs.frozen(kw_only=True)
class ScriptRun:
    """What came of a script. `answer` is what it stopped with, None where it did not say stop."""

    steps: Sequence[ScriptStep]
    answer: str | None = None
    error: Failure | None = None

    @property
    def ok(self) -> bool:
        """Whether all of it was done."""
        return self.error is None


async def run_action(browser: Browser | Actor, action: Action | str, *, line: int = 1) -> ScriptStep:
    """Do one action: what `parse_action` gives, or its text. Failures are in the step's response.

    Where the action leads to another document, it is read before this returns. Raises ActionSyntaxError for a text
    that is not an action.
    """
    actor = actor_of(browser)
    parsed = parse_action(action, line=line) if isinstance(action, str) else action
    response = None
    if isinstance(parsed, ActRequest):
        response = await dispatch(actor, parsed)
        if response.ok and response.effects.navigation is not None:
            waited = await dispatch(actor, Wait(load_state="domcontentloaded", timeout_ms=_READING_MS))
            response = _with_dialogs_of(waited, response)
    else:
        await trio.lowlevel.checkpoint()
    current = actor.current
    return ScriptStep(
        line=line,
        action=parsed,
        response=response,
        target_id=None if current is None else current.target_id,
        url=None if current is None else describe_url(current.url),
    )


def _with_dialogs_of(later: ActResponse, response: ActResponse) -> ActResponse:
    """Return a response with the dialogs that a later one reports, too."""
    dialogs = response.effects.dialogs + later.effects.dialogs
    omitted = response.effects.dialogs_omitted + later.effects.dialogs_omitted
    effects = attrs.evolve(response.effects, dialogs=dialogs, dialogs_omitted=omitted)
    return attrs.evolve(response, effects=effects)


async def run_reply(browser: Browser | Actor, reply: str) -> ScriptStep:
    """Do the action in a model's reply, which `extract_action` finds. Raises ActionSyntaxError."""
    return await run_action(browser, extract_action(reply))


async def run_script(browser: Browser | Actor, text: str) -> ScriptRun:
    """Do the actions of a script, one a line. All of it is read before the first is done.

    It ends at the first action that fails; the steps before it are in the result. The numbers in it are those of a
    snapshot in the mode numbered, which is taken where nobody has seen the document yet.
    """
    try:
        actions = list(parse_script(text))
    except ActionSyntaxError as error:
        return ScriptRun(steps=(), error=describe_failure(error))
    steps: list[ScriptStep] = []
    actor = actor_of(browser)
    for line, action in actions:
        if isinstance(action, Stop):
            return ScriptRun(steps=tuple(steps), answer=action.answer)
        if isinstance(action, Nothing):
            continue
        await _see(actor, action)
        step = await run_action(actor, action, line=line)
        steps.append(step)
        if step.response is not None and step.response.error is not None:
            return ScriptRun(steps=tuple(steps), error=step.response.error)
    return ScriptRun(steps=tuple(steps))


async def _see(actor: Actor, action: Action) -> None:
    """Take a snapshot before an action on an element of a document that nobody has seen, to have numbers."""
    page = actor.current
    if page is not None and getattr(action, "ref", None) is not None:
        with suppress(EngineError):  # the action itself says what is wrong with the page
            await actor.look_before(page, _READING_MS / 1000)
