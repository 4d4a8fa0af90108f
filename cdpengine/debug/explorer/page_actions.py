"""The console's actions on a page, and their output.

Rule: an action is one call of the page's method. Output never contains typed or filled text.
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
    """The output of a line: `text`, and its kind, "json" or "text". It is safe to print.

    `refs` are the refs of a snapshot, and None for other output.
    """

    text: str
    kind: str = "text"
    refs: tuple[str, ...] | None = None


async def act_on_page(page: Page, name: str, rest: str, timeout: float) -> Output | None:
    """Run the action `name` with `rest`, the words after it.

    Raises the errors of the page's method, and InvalidArgumentError.
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
    """Raise InvalidArgumentError if words are missing or too many.

    The error repeats no word.
    """
    usage = ACTIONS[name].usage
    needed = usage.partition("[")[0].split()[1:]
    least = len(needed) - (name in ("fill", "type"))  # without TEXT, `!fill e3` clears the field
    count = len(rest.split())
    open_ended = usage.endswith(("TEXT", "JAVASCRIPT", "...", "]"))
    if count < least or (count > len(needed) and not open_ended):
        given = f"{count} word{'s' * (count != 1)} after it" if count else "nothing after it"
        raise InvalidArgumentError(what=f"!{name}", given=given, expected=usage)


async def _fill(page: Page, target: str, text: str, timeout: float) -> None:
    """Fill a field. An error never contains the text, which may be a password in any field."""
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
