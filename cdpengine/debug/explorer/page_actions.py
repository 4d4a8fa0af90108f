"""The console's actions on a page, and their output.

Rule: an action is a verb of the shell, performed on the console's page. Output never contains text that is
typed or filled in.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine import _json
from cdpengine._json_values import to_plain
from cdpengine._snapshot.ref import ref_of_line
from cdpengine.act import ActRequest, TakeSnapshot, parse_request
from cdpengine.act.actor import actor_of
from cdpengine.act.commands.parsing import Typed, parse
from cdpengine.act.performing import Performance, perform
from cdpengine.act.response import describe_effects
from cdpengine.debug.explorer.actions import Action, find_action, rest_of
from cdpengine.debug.explorer.console import first_word, split_words
from cdpengine.errors import (
    EngineError,
    FormError,
    InvalidArgumentError,
    OptionNotFoundError,
    ValueRefusedError,
)
from cdpengine.errors.texts import escape_json, escape_lines

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser, Page


@attrs.frozen
class Output:
    """The output of a line: `text`, and its kind, "json" or "text". It is safe to print.

    `refs` are the refs of a snapshot, and None for other output.
    """

    text: str
    kind: str = "text"
    refs: tuple[str, ...] | None = None


async def act_on_page(browser: Browser, page: Page, name: str, rest: str, timeout: float) -> Output | None:
    """Run the action `name` with `rest`, the words after it.

    Raises the errors of the page's method, and InvalidArgumentError.
    """
    action = find_action(name)
    assert action is not None, name
    if action.verb is not None:
        return await _perform(browser, page, _parse(name, action, rest), timeout)
    words = rest.split()
    if len(words) != len(action.usage.split()) - 1:
        given = f"{len(words)} word{'s' * (len(words) != 1)} after it" if words else "nothing after it"
        raise InvalidArgumentError(what=f"!{name}", given=given, expected=action.usage)
    match name:
        case "tap":
            await page.tap(rest, timeout=timeout)
        case "focus":
            await page.focus(rest, timeout=timeout)
        case "settle":
            await page.settled(timeout=timeout)
    return None


def arguments_of(action: Action, rest: str) -> list[str]:
    """Return the arguments of a verb as in the shell, from the words after its name.

    A text at the end of a line needs no quotes; options stand before it, as --name or --name=value. Raises
    InvalidArgumentError.
    """
    assert action.verb is not None
    at = rest_of(action.verb)
    if at is None:
        return split_words(rest, f"!{action.verb.name}")
    options: list[str] = []
    bare: list[str] = []
    while rest.startswith("--"):
        option, rest = first_word(rest)
        options.append(option)
    while rest and len(bare) < at:
        word, rest = first_word(rest)
        bare.append(word)
    if len(bare) == at and (rest or at):  # without a text, `!fill e3` clears the field
        bare.append(rest)
    return [*options, "--", *bare]


def _parse(name: str, action: Action, rest: str) -> ActRequest:
    """Return the request of a line, which has the language of the shell's commands."""
    assert action.verb is not None
    arguments = arguments_of(action, rest)
    try:
        for each in arguments[: arguments.index("--") if "--" in arguments else None]:
            if each == "--json" or each.startswith("--session"):
                raise InvalidArgumentError(action.verb.name, f"the option {each[:40]}", "another option")
        command = parse(Typed(arguments=[action.verb.name, *arguments], folder=str(Path.cwd())))
    except InvalidArgumentError as error:
        what = f"!{name}{error.what.removeprefix(action.verb.name)}"
        raise InvalidArgumentError(what, error.given, error.expected) from None
    assert command.request is not None
    return parse_request(command.request)


async def _perform(browser: Browser, page: Page, request: ActRequest, timeout: float) -> Output | None:
    performance = Performance(actor_of(browser), page, trio.current_time() + timeout)
    try:
        result = to_plain(await perform(performance, request))
    except (FormError, ValueRefusedError, OptionNotFoundError) as error:
        raise _without_text(error) from None
    lines = request.text_lines(result)
    if lines is None and (result is not None or request.runs_script):
        return json_output(result)
    notes = (*request.notes(result), *describe_effects(performance.effects))
    shown = "\n".join(map(escape_lines, (*(lines or ()), *notes)))
    refs = None
    if isinstance(request, TakeSnapshot):
        refs = tuple(ref for line in shown.split("\n") if (ref := ref_of_line(line)))
    return Output(shown, refs=refs) if shown else None


def _without_text(error: EngineError) -> EngineError:
    """Return an error without the text to fill in, which may be a password in any field."""
    match error:
        case FormError(failed=[only]):
            return _without_text(only.error)
        case ValueRefusedError():
            return ValueRefusedError(
                action=error.action, target=error.target, reason=error.reason, steps=error.steps
            )
        case OptionNotFoundError():
            return OptionNotFoundError(
                action=error.action,
                target=error.target,
                reason="it has no such option",
                options=error.options,
            )
    return error


def as_json(value: object) -> Output:
    """Convert an action's result, attrs classes included, to JSON output."""
    return json_output(_plain(value))


def json_output(value: object) -> Output:
    """Format a JSON value as output."""
    return Output(escape_json(_json.encode_text(value, indent=2)), "json")


def _plain(value: object) -> object:
    """Convert an action's result to JSON types."""
    kind = type(value)
    if attrs.has(kind):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in attrs.fields(kind)
            if not field.name.startswith("_")
        }
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
