"""The console's actions on a page: what each has the page do, and what is shown of it.

Rule: an action is one call of the page's own method; nothing of a text that was typed or filled in is shown.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from cdpengine import _json
from cdpengine.debug.explorer.console import ACTIONS, first_word, split_words
from cdpengine.errors import InvalidArgumentError, OptionNotFoundError, ValueRefusedError
from cdpengine.errors.texts import escape_json, escape_lines

if TYPE_CHECKING:
    from cdpengine._api.page.page import Page


@attrs.frozen
class Output:
    """What a line gave: `text`, and whether it is "json" or plain text. It is safe to print.

    `refs` are those of a snapshot, None for everything else.
    """

    text: str
    kind: str = "text"
    refs: tuple[str, ...] | None = None


async def act_on_page(page: Page, name: str, rest: str, timeout: float) -> Output | None:
    """Do the action `name` with what follows it in the line.

    Raises as the page's method, and InvalidArgumentError.
    """
    usage = ACTIONS[name].usage
    first, after = first_word(rest)
    _check_words(name, rest)
    match name:
        case "goto":
            return as_json(await page.goto(first, timeout=timeout))
        case "reload":
            return as_json(await page.reload(timeout=timeout))
        case "back":
            return as_json(await page.go_back(timeout=timeout))
        case "forward":
            return as_json(await page.go_forward(timeout=timeout))
        case "snapshot":
            if rest not in ("", "interactive"):
                raise InvalidArgumentError(what="!snapshot", given=rest, expected=usage)
            taken = await page.snapshot(interactive=rest == "interactive", timeout=timeout)
            return Output(escape_lines(taken.text), refs=tuple(taken.refs))
        case "text":
            return Output(escape_lines(await page.extract_text(timeout=timeout)))
        case "click":
            await page.click(first, timeout=timeout)
        case "double_click":
            await page.double_click(first, timeout=timeout)
        case "tap":
            await page.tap(first, timeout=timeout)
        case "hover":
            await page.hover(first, timeout=timeout)
        case "drag":
            await page.drag(first, after, timeout=timeout)
        case "scroll":
            await page.scroll_into_view(first, timeout=timeout)
        case "focus":
            await page.focus(first, timeout=timeout)
        case "fill":
            await _fill(page, first, after, timeout)
        case "type":
            await page.type(first, after, timeout=timeout)
        case "press":
            await page.press(first, after or None, timeout=timeout)
        case "select":
            await page.select(first, *split_words(after, "!select"), timeout=timeout)
        case "check":
            await page.check(first, timeout=timeout)
        case "uncheck":
            await page.uncheck(first, timeout=timeout)
        case "evaluate":
            return as_json(await page.evaluate(rest, timeout=timeout))
        case "settle":
            await page.settled(timeout=timeout)
    return None


def _check_words(name: str, rest: str) -> None:
    """Raise InvalidArgumentError where words are missing, or more than the action takes.

    It repeats none of them.
    """
    usage = ACTIONS[name].usage
    needed = usage.partition("[")[0].split()[1:]
    least = len(needed) - (name in ("fill", "type"))  # without a text, `!fill e3` clears the field
    count = len(rest.split())
    open_ended = usage.endswith(("TEXT", "JAVASCRIPT", "...", "]"))
    if count < least or (count > len(needed) and not open_ended):
        given = f"{count} word{'s' * (count != 1)} after it" if count else "nothing after it"
        raise InvalidArgumentError(what=f"!{name}", given=given, expected=usage)


async def _fill(page: Page, target: str, text: str, timeout: float) -> None:
    """Fill a field. An error repeats nothing of the text, which may be a password whatever the field is."""
    try:
        await page.fill(target, text, timeout=timeout)
    except ValueRefusedError as error:
        raise ValueRefusedError(
            action=error.action, target=error.target, reason=error.reason, steps=error.steps
        ) from None
    except OptionNotFoundError as error:
        raise OptionNotFoundError(
            action=error.action, target=error.target, reason="it has no such option", options=error.options
        ) from None


def as_json(value: object) -> Output:
    """Return what an action gave, attrs classes included, as JSON to be shown."""
    return json_output(_plain(value))


def json_output(value: object) -> Output:
    """Return a JSON value to be shown."""
    return Output(escape_json(_json.encode_text(value, indent=2)), "json")


def _plain(value: object) -> object:
    """Return what an action gave as what JSON has."""
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
