"""Sliders of a page (role slider), set by the arrow keys.

Rule: the first key reveals the size of a step, which determines the number of further keys. The value is read back
after each batch of keys. A value between two steps raises ValueRefusedError with the slider's value.
"""

from __future__ import annotations

import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import InvalidArgumentError, NotInteractableError, ValueRefusedError

_MOST_KEYS = 200
"""Maximum number of arrow keys in one batch."""

_MOST_BATCHES = 6
"""Maximum number of batches. A slider with steps of different sizes takes several."""

_CHANGE_TIMEOUT = 0.5
"""Maximum time for a slider to show its new value, in seconds."""

_SMALLEST = 1e-9


class _State(msgspec.Struct):
    """The result of slider.js."""

    value: float | None
    least: float | None
    most: float | None
    focused: bool


async def set_slider(
    node: Node, text: str, inspection: Inspection, *, context: ActionContext
) -> ActionOutcome:
    """Move the slider to the number in `text`.

    Raises InvalidArgumentError if `text` is not a number. Raises NotInteractableError if the slider does not
    take the focus. Raises ValueRefusedError if the keys do not move it to the value.
    """
    try:
        target = float(text)
    except ValueError:
        raise InvalidArgumentError(
            what="value", given="a string that is not a number", expected="a number, for a slider"
        ) from None
    state = await _ask(inspection, focus=True)
    if state.value is None or not state.focused:
        reason = (
            "it does not take the keyboard focus" if state.value is not None else "it has no aria-valuenow"
        )
        raise NotInteractableError(action="fill", target=node.description, reason=reason)
    keyboard, dialog = context.keyboard.on(node.session), False
    step = 0.0
    for _ in range(_MOST_BATCHES):
        before = state.value
        if before is None or dialog or abs(target - before) < _SMALLEST:
            break
        up = target > before
        count = 1 if not step else min(_MOST_KEYS, max(1, round(abs(target - before) / step)))
        dialog = await keyboard.press_each(*["ArrowRight" if up else "ArrowLeft"] * count)
        state = await _ask(inspection, unlike=before)
        if state.value is None or state.value == before:
            break
        step = abs(state.value - before) / count
    if state.value is None or abs(target - state.value) >= _SMALLEST:
        raise ValueRefusedError(
            action="fill",
            target=node.description,
            reason="the arrow keys did not move it to that value",
            took="" if state.value is None else f"{state.value:g}",
        )
    return ActionOutcome("fill", node.description, dialog_opened=dialog)


async def _ask(inspection: Inspection, *, focus: bool = False, unlike: float | None = None) -> _State:
    request = {"focus": focus, "unlike": unlike, "wait": round(_CHANGE_TIMEOUT * 1000)}
    return await inspection.run(own(script("_input/forms/slider")), request, _State)
