"""Verbs of the keyboard: type and press."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.notations import MAYBE_TARGET, TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import LONGEST_TIMEOUT_MS, ElementRequest

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance

_BETWEEN_KEYS = 0.075
"""Pause between two keys for `slowly`, in seconds."""


@attrs.frozen(kw_only=True)
class Type(ElementRequest):
    """Type text into an element, after its present text, by real key events."""

    kind = "type"
    timing = Timing(20_000, LONGEST_TIMEOUT_MS)
    tool = ToolForm(
        meaning="Type text into an element, after its present text.", fields=("ref", "submit"), acts=True
    )
    commands = (
        CommandForm(
            places=(TARGET, Place("TEXT", "text", rest=True)), example='type e5 "blue shoes" --submit'
        ),
    )

    text: str = field("The text.", secret=True)
    submit: bool = field("Press Enter at the end.", False)
    slowly: bool = field("Wait 75 ms between two keys, for pages that react to each key.", False)

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        performance.report(
            await performance.page.type(
                target,
                self.text,
                submit=self.submit,
                delay=_BETWEEN_KEYS if self.slowly else 0,
                heal=self.heal,
                refuse_renamed=True,
                timeout=performance.left,
            )
        )


@attrs.frozen(kw_only=True)
class Press(ElementRequest):
    """Press a key or a chord, on an element or on the focused one."""

    kind = "press"
    needs_element = False
    tool = ToolForm(meaning="Press a key, such as Enter or Control+A.", fields=("ref",), acts=True)
    commands = (CommandForm(places=(Place("KEY", "key"), MAYBE_TARGET), example="press Control+A"),)

    key: str = field('The key or chord: "Enter", "a", "Control+A".', secret=True)

    async def run(self, performance: Performance) -> None:
        target = await performance.find_optional(self.ref, self.selector)
        performance.report(
            await performance.page.press(
                self.key, target, heal=self.heal, refuse_renamed=True, timeout=performance.left
            )
        )
