"""An agent: a model calls the browser's tools, reads their results, and answers.

Without a key the model is scripted, so that the program needs no network and always does the same. With
ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment, a real model does the task. It needs the package
`anthropic` or `openai`. AGENT_MODEL names the model.

Run: python examples/agent_loop.py
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import attrs
import trio
from pages import serve

import cdpengine
from cdpengine.act import Actor, NewTab, Toolbox, dispatch, tools

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

TASK = "The open page sells tickets. Book 2 tickets for Ada, and say the number of the order."

MOST_STEPS = 20

Message = Mapping[str, Any]


# --- the loop --------------------------------------------------------------------------------------------------


class GaveUpError(Exception):
    """The model did not finish."""


@attrs.frozen
class Reply:
    """A model's reply: the messages that continue the conversation, and the text."""

    messages: Sequence[Any]
    text: str


class Model(Protocol):
    """A model that calls tools."""

    async def reply(self, conversation: Sequence[Any]) -> Reply:
        """Return the reply to a conversation."""


async def run_agent(actor: Actor, toolbox: Toolbox, model: Model, task: str) -> str:
    """Perform the model's calls until it makes none, and return its answer. Raises GaveUpError."""
    conversation: list[Any] = [{"role": "user", "content": task}]
    for _ in range(MOST_STEPS):
        reply = await model.reply(conversation)
        conversation += reply.messages
        results = await toolbox.run(actor, reply.messages)
        if not results:
            return reply.text
        conversation += results
    raise GaveUpError(f"no answer within {MOST_STEPS} steps")


# --- the models ------------------------------------------------------------------------------------------------


@attrs.define
class AnthropicModel:
    """A model of Anthropic."""

    toolbox: Toolbox

    async def reply(self, conversation: Sequence[Any]) -> Reply:
        """Return the reply to a conversation."""
        client = import_module("anthropic").AsyncAnthropic()
        response = await client.messages.create(
            model=os.environ.get("AGENT_MODEL", "claude-sonnet-4-5"),
            max_tokens=2_000,
            messages=conversation,
            tools=self.toolbox.definitions("anthropic"),
        )
        text = "".join(block.text for block in response.content if block.type == "text")
        return Reply([{"role": "assistant", "content": response.content}], text)


@attrs.define
class OpenAIModel:
    """A model of OpenAI."""

    toolbox: Toolbox

    async def reply(self, conversation: Sequence[Any]) -> Reply:
        """Return the reply to a conversation."""
        client = import_module("openai").AsyncOpenAI()
        response = await client.responses.create(
            model=os.environ.get("AGENT_MODEL", "gpt-5"),
            input=conversation,
            tools=self.toolbox.definitions("openai-responses"),
        )
        return Reply(response.output, response.output_text)


SCRIPT: Sequence[tuple[str, str, Mapping[str, Any]]] = (
    ("I look at the page.", "snapshot", {}),
    ("Everything is there, so I book.", "click", {"ref": 'button "Book" [ref=', "timeoutMs": 1000}),
    ("The cookies are in the way.", "clik", {"ref": 'button "Accept" [ref='}),
    ("I meant this.", "click", {"ref": 'button "Accept" [ref='}),
    ("Now the name.", "type", {"ref": 'textbox "Name" [ref=', "text": "Ada"}),
    ("And how many.", "type", {"ref": 'spinbutton "How many" [ref=', "text": "2"}),
    ("Now I book.", "click", {"ref": 'button "Book" [ref='}),
    ("A picture for the customer.", "screenshot", {}),
)
"""The scripted replies: words, a tool, and its arguments. The value of `ref` precedes the ref in a snapshot."""


@attrs.define
class ScriptedModel:
    """A scripted model, whose replies have Anthropic's format."""

    step: int = 0

    async def reply(self, conversation: Sequence[Any]) -> Reply:
        """Return the next reply of the script, or the answer."""
        await trio.lowlevel.checkpoint()
        print(shorten(conversation[-1]))
        if self.step == len(SCRIPT):
            number = re.findall(r"order (\d+)", json.dumps(conversation))[-1]
            return Reply([{"role": "assistant", "content": []}], f"The order has the number {number}.")
        words, tool, arguments = SCRIPT[self.step]
        self.step += 1
        seen = json.dumps(conversation)
        call = {name: find_ref(seen, value) if name == "ref" else value for name, value in arguments.items()}
        print(f"   -> {words} {tool} {json.dumps(call)}")
        block = {"type": "tool_use", "id": f"call_{self.step}", "name": tool, "input": call}
        return Reply([{"role": "assistant", "content": [{"type": "text", "text": words}, block]}], words)


def find_ref(seen: str, before: str) -> str:
    """Return the ref that follows a string in the JSON of a conversation."""
    found = re.findall(re.escape(json.dumps(before)[1:-1]) + r"(e\d+)", seen)
    return str(found[-1])


def shorten(message: Message) -> str:
    """Return the text of a message, with a note for each picture."""
    content = message["content"]
    if isinstance(content, str):
        return content
    parts = [part for block in content for part in block.get("content", ())]
    return "\n".join(part.get("text", "(a picture)") for part in parts)


def choose_model(toolbox: Toolbox) -> Model:
    """Return the model for which the environment has a key, or the scripted one."""
    if os.environ.get("ANTHROPIC_API_KEY"):
        return AnthropicModel(toolbox)
    if os.environ.get("OPENAI_API_KEY"):
        return OpenAIModel(toolbox)
    return ScriptedModel()


async def main() -> None:
    """Serve the page, let the agent work on it, and print its answer."""
    toolbox = tools()
    with serve({"/": PAGE}) as address:
        async with cdpengine.launch() as browser, browser.new_context() as context:
            actor = Actor(browser, context, evaluate_enabled=False, files=None, commands_enabled=False)
            await dispatch(actor, NewTab(url=f"{address}/"))
            answer = await run_agent(actor, toolbox, choose_model(toolbox), TASK)
    print(f"The answer: {answer}")


if __name__ == "__main__":
    trio.run(main)
