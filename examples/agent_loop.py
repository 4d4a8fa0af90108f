"""An agent: a model reads a page as text, replies with an action, and reads the changes, until it stops.

The model here is scripted, so that the program needs no network and always does the same. A real model replaces it
in `Model.reply`: it receives the same observations and returns the same kind of reply.

Run: python examples/agent_loop.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs
import trio
from pages import serve

import cdpengine
from cdpengine.act import (
    ActingRequest,
    Actor,
    ActResponse,
    NewTab,
    Nothing,
    Stop,
    TakeSnapshot,
    dispatch,
    extract_action,
    parse_action,
)
from cdpengine.errors import ActionSyntaxError

PAGE = """<!doctype html><title>Tickets</title>
<h1>Tickets</h1>
<form><label>Name <input id=name></label> <label>How many <input id=count type=number></label>
<button>Book</button></form> <p id=out role=status></p>
<div role=dialog aria-label=Cookies style="position: fixed; inset: 0; background: #eee">
  This site has cookies. <button onclick="this.parentElement.remove()">Accept</button></div>
<script>
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = document.querySelector("#name").value, count = document.querySelector("#count").value;
    document.querySelector("#out").textContent = `Booked: ${count} for ${name}, order 4711`;
  });
</script>"""

TASK = "Book 2 tickets for Ada, and say the number of the order."

MOST_STEPS = 20
STEP_MS = 1_000
"""Timeout of an action, in milliseconds. It is short because a model can handle an obstacle itself."""


# --- the loop --------------------------------------------------------------------------------------------------


class GaveUpError(Exception):
    """The model did not finish."""


async def run_agent(actor: Actor, model: Model, task: str) -> str:
    """Run the model's actions until it stops, and return its answer. Raises GaveUpError."""
    seen = await dispatch(actor, TakeSnapshot(mode="numbered", max_tokens=4_000))
    observation = f"Task: {task}\n{seen.result['snapshot']}"
    for _ in range(MOST_STEPS):
        reply = await model.reply(observation)
        try:
            action = parse_action(extract_action(reply))
        except ActionSyntaxError as error:
            observation = f"That is not an action: {error}"
            continue
        if isinstance(action, Stop):
            return action.answer
        if isinstance(action, Nothing):
            observation = "Nothing was done."
            continue
        if isinstance(action, ActingRequest):
            action = attrs.evolve(action, diff=True, timeout_ms=STEP_MS)
        observation = describe(await dispatch(actor, action))
    raise GaveUpError(f"no answer within {MOST_STEPS} steps")


def describe(response: ActResponse) -> str:
    """Describe a response for the model: the changes, or the error and its remedy."""
    error = response.error
    if error is None:
        return f"Done. The page is {response.url}\n{response.diff or ''}".rstrip()
    return f"{error.message.splitlines()[0]}. {error.hint}"


# --- the model -------------------------------------------------------------------------------------------------

SCRIPT: Sequence[tuple[str, str]] = (
    ("Everything is there, so I book. ```click [{}]```", r'\[(\d+)\] button "Book"'),
    ("The cookies are in the way. ```clik [{}]```", r'\[(\d+)\] button "Accept"'),
    ("I meant: ```click [{}]```", r'\[(\d+)\] button "Accept"'),
    ("Now the name. ```type [{}] [Ada] [0]```", r'\[(\d+)\] textbox "Name"'),
    ("And how many. ```type [{}] [2] [0]```", r'\[(\d+)\] spinbutton "How many"'),
    ("Now I book. ```click [{}]```", r'\[(\d+)\] button "Book"'),
    ("It is done. ```stop [{}]```", r"order (\d+)"),
)
"""The model's replies. Each pattern takes the value for {} from an earlier observation."""


@attrs.define
class Model:
    """A scripted model."""

    script: Sequence[tuple[str, str]]
    told: list[str] = attrs.field(factory=list)

    async def reply(self, observation: str) -> str:
        """Return the reply to an observation. Call a real model here."""
        await trio.lowlevel.checkpoint()
        words, pattern = self.script[len(self.told)]
        self.told.append(observation)
        found = next(match for text in reversed(self.told) if (match := re.search(pattern, text)))
        said = words.format(found[1])
        print(f"{observation}\n   -> {said}")
        return said


async def main() -> None:
    """Serve the page, let the agent work on it, and print its answer."""
    with serve({"/": PAGE}) as address:
        async with cdpengine.launch() as browser, browser.new_context() as context:
            actor = Actor(browser, context, evaluate_enabled=False, files=None, commands_enabled=False)
            await dispatch(actor, NewTab(url=f"{address}/"))
            answer = await run_agent(actor, Model(SCRIPT), TASK)
    print(f"The answer: {answer}")


if __name__ == "__main__":
    trio.run(main)
