"""Running action scripts: each action is a request; the steps with their responses are returned.

Rule: all state is in the result. A step has the current page after it and the response to the action. The script
ends at its first failure, at `stop`, or at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.act.actor import Actor, actor_of
from cdpengine.act.dispatch import dispatch
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import ActResponse, Failure, describe_failure, describe_url
from cdpengine.act.script_language import Action, Nothing, Stop, extract_action, parse_action, parse_script
from cdpengine.act.verbs.page import Wait
from cdpengine.errors import ActionSyntaxError, EngineError

if TYPE_CHECKING:
    from cdpengine import Browser

_READING_MS = 5_000
"""Maximum time to read the document that an action led to, before the next action, in seconds."""


@attrs.frozen(kw_only=True)
class ScriptStep:
    """One action that has run.

    `target_id` and `url` identify the current page after it; None if no page is open. `response` is None
    for an action that does not use the browser.
    """

    line: int
    action: Action
    response: ActResponse | None
    target_id: str | None
    url: str | None


@attrs.frozen(kw_only=True)
class ScriptRun:
    """The result of a script. `answer` is the answer of `stop`, None without a stop."""

    steps: Sequence[ScriptStep]
    answer: str | None = None
    error: Failure | None = None

    @property
    def ok(self) -> bool:
        """Whether all actions succeeded."""
        return self.error is None


async def run_action(browser: Browser | Actor, action: Action | str, *, line: int = 1) -> ScriptStep:
    """Run one action: a result of `parse_action`, or a string. Failures are in the step's response.

    If the action leads to another document, this returns after the document is read. Raises ActionSyntaxError
    for a string that is not an action.
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
    """Return the response with the dialogs of a later response added."""
    dialogs = response.effects.dialogs + later.effects.dialogs
    omitted = response.effects.dialogs_omitted + later.effects.dialogs_omitted
    effects = attrs.evolve(response.effects, dialogs=dialogs, dialogs_omitted=omitted)
    return attrs.evolve(response, effects=effects)


async def run_reply(browser: Browser | Actor, reply: str) -> ScriptStep:
    """Run the action in a model's reply, which `extract_action` finds. Raises ActionSyntaxError."""
    return await run_action(browser, extract_action(reply))


async def run_script(browser: Browser | Actor, text: str) -> ScriptRun:
    """Run the actions of a script, one a line. The whole script is parsed before the first action.

    It ends at the first failed action; the result has the steps before it. The numbers in it are those of a
    snapshot in the mode numbered, which is taken if the caller has not seen the document yet.
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
    """Take a snapshot, which assigns the numbers, before an action on an element of an unread document."""
    page = actor.current
    if page is not None and _has_ref(action):
        with suppress(EngineError):  # the action reports the fault of the page
            await actor.look_before(page, _READING_MS / 1000)


def _has_ref(action: Action) -> bool:
    """Return whether an action names an element by its number."""
    parts = getattr(action, "fields", (action,))
    names = ("ref", "start_ref", "end_ref")
    return any(getattr(part, name, None) is not None for part in parts for name in names)
