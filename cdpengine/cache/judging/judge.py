"""The judge: finds the cause when a step does not reach its condition.

Rule: a page refuses input by an error message, by a mark on a filled field, or by showing the form again.
Only these are refusals. A mark on a field that the entry does not fill is a sign of a changed page. So is a
success message in other words. The judge examines a settled page while the engine waits for the condition.
After a refusal, the engine stops waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.side_effects import SideEffects
from cdpengine.cache.entries import PostCondition, Step, Target
from cdpengine.cache.judging.faults import Fault, enters_values, read_tone
from cdpengine.cache.matching.conditions import seconds_left, wait_for_condition, watch_changes
from cdpengine.cache.matching.names import collapse
from cdpengine.cache.matching.probing import Signs, probe_page
from cdpengine.cache.variables import Values
from cdpengine.errors import DeadlineExceededError, EngineError, shown_url

if TYPE_CHECKING:
    from cdpengine import Page

_DOUBTING = 0.5
"""Time before the judge checks the page for a refusal, in seconds."""

_GRACE = 1.0
"""Time in which a page with a refusal can still reach the condition, for example by a timer. In seconds."""

_SERVER_ERROR = 500

_MOST_SHOWN = 200


@attrs.frozen
class Verdict:
    """The fault and its evidence on the page: a message or a mark."""

    fault: Fault
    message: str


@attrs.define(eq=False)
class Judge:
    """The judge of a run. It keeps the documents that received values, and the signs before each step.

    `latest` are the last signs read. `signs` are the signs before the current step. `entered` contains
    Chrome's ids of the documents that received values. `filled` contains the names of the filled fields.
    """

    page: Page
    values: Values
    latest: Signs = attrs.field(factory=Signs)
    signs: Signs = attrs.field(factory=Signs, init=False)
    entered: set[str] = attrs.field(factory=set)
    filled: set[str] = attrs.field(factory=set)
    _document: str = ""
    _effects: SideEffects | None = None
    _shown: int = 0

    @property
    def _main(self) -> tuple[str, str]:
        main = self.page.internals.target.frames.main
        return main.loader_id, main.unreachable_url

    @property
    def unreachable(self) -> str:
        """The URL that failed to load, if the page shows Chrome's error page for it."""
        return self._main[1]

    async def begin(self, step: Step) -> None:
        """Prepare for a step: read the signs before it."""
        self._document = self._main[0]
        self._shown = 0 if self._effects is None else len(self._effects.tracked_dialogs)
        if step.after is not None and self.latest.document != self._document:
            self.latest = await self.read()
        self.signs = self.latest
        if enters_values(step):
            self.entered.add(self._document)
        if step.request.kind in _ENTERING:
            self.filled |= {collapse(self.values.fill(each.name)) for each in step.targets.values()}

    @contextmanager
    def following(self) -> Iterator[None]:
        """Collect the dialogs that the page opens."""
        with self.page.internals.target.running.record() as self._effects:
            yield

    @property
    def _alerts(self) -> list[str]:
        """The messages of the JavaScript alerts since the last step began."""
        dialogs = () if self._effects is None else self._effects.dialogs[self._shown :]
        return [each.message for each in dialogs if each.type == "alert"]

    async def lead(
        self, condition: PostCondition, still_there: Callable[[], Awaitable[bool]], seconds: float
    ) -> tuple[Fault, str] | None:
        """Wait for the condition of a step. Return None, or the fault and the reason if it is not reached.

        still_there: returns whether the page has the elements of the step.

        Raises the errors of `wait_for_condition` except DeadlineExceededError.
        """
        verdicts: list[Verdict] = []
        late = ""

        async def doubt() -> None:
            with suppress(EngineError):  # if the page is gone, the wait itself fails
                verdicts.append(await self._watch(still_there))
                waiting.cancel()

        with trio.CancelScope() as waiting:
            async with open_body_nursery() as nursery:
                nursery.start_soon(doubt, name="watch for a refusal")
                try:
                    await wait_for_condition(self.page, condition, self.values, seconds)
                except DeadlineExceededError as error:
                    late = str(error)
        if late:
            last = await self.judge(still_there, at_end=True)
            verdicts.append(last or Verdict("changed", late))
        if not verdicts:
            return None
        verdict = verdicts[-1]
        refused = "the page refused it: " if verdict.fault == "rejected" else ""
        waited = describe_condition(condition, self.values)
        return verdict.fault, f"{refused}{verdict.message}; waited for {waited}"

    async def _watch(self, still_there: Callable[[], Awaitable[bool]]) -> Verdict:
        """Return the verdict when the page refuses the step and no longer changes."""
        target = self.page.internals.target
        with trio.move_on_after(_DOUBTING):
            await target.wait_for(lambda: bool(self.unreachable))
        before: Verdict | None = None
        async with watch_changes(self.page) as changes:
            while True:
                with suppress(DeadlineExceededError):
                    await self.page.settled(timeout=seconds_left())
                verdict = await self.judge(still_there)
                if verdict is None:
                    await changes.next()
                elif verdict.fault == "unreachable" or verdict == before:
                    return verdict
                else:
                    await trio.sleep(_GRACE)
                before = verdict

    async def judge(
        self, still_there: Callable[[], Awaitable[bool]], *, at_end: bool = False
    ) -> Verdict | None:
        """Return the verdict on the last step, or None for a different page or one that can still continue.

        still_there: returns whether the page has the elements of the step.
        at_end: whether the wait for the condition is over.
        """
        if self.unreachable:
            return Verdict("unreachable", f"{shown_url(self.unreachable)} did not load")
        signs = await self.read()
        is_new = signs.document != self._document
        if is_new and signs.status >= _SERVER_ERROR:
            return Verdict("unreachable", f"the server answered with status {signs.status}")
        known = set() if is_new else {_letters(text) for _, text in self.signs.messages}
        messages = [(kind, text) for kind, text in signs.messages if _letters(text) not in known]
        messages += [("alert", text) for text in self._alerts]
        invalid = [name for name in signs.invalid if is_new or name not in self.signs.invalid]
        if any(name not in self.filled for name in invalid):
            return None
        errors = [text for _, text in messages if read_tone(text) == "error"]
        plain = [text for kind, text in messages if kind == "alert" and read_tone(text) == "plain"]
        entered = self._document in self.entered
        if errors:
            return self._refusal(f"it says {_quote(errors)}")
        if invalid:
            return self._refusal(f"it marks {', '.join(map(repr, invalid))} as invalid")
        if any(read_tone(text) == "success" for _, text in messages):
            return None
        if not entered or not ((plain or is_new or at_end) and await still_there()):
            return None
        if plain:
            return self._refusal(f"it says {_quote(plain)}")
        if is_new:
            return self._refusal("it shows the same form again")
        return None if messages else self._refusal("the page did not change, and shows no message")

    async def judge_missing(self, still_there: Callable[[], Awaitable[bool]]) -> Verdict | None:
        """Return why an element is missing, or None if the page is a different one."""
        if not self.unreachable and not self._document:
            signs = await self.read()
            if signs.status >= _SERVER_ERROR:
                return Verdict("unreachable", f"the server answered with status {signs.status}")
            return None
        return await self.judge(still_there)

    async def read(self) -> Signs:
        """Return the current signs of the page's main document."""
        with suppress(EngineError):
            probed = await probe_page(self.page, {}, signs=True)
            if probed is not None and probed.signs is not None:
                return probed.signs
        return Signs(document=self._main[0])

    def _refusal(self, message: str) -> Verdict:
        return Verdict("rejected", f"{message}, and is at {shown_url(self.page.url)}")


_ENTERING = frozenset({"fill", "type", "select", "check", "upload"})


async def nothing_there() -> bool:
    """Return False: a `still_there` for steps whose elements are missing."""
    await trio.lowlevel.checkpoint()
    return False


def describe_condition(condition: PostCondition, values: Values) -> str:
    """Describe a condition in words."""
    parts = [] if condition.url is None else [f"the address {shown_url(condition.url)}"]
    for text, ending in ((condition.text, ""), (condition.text_gone, " to be gone")):
        parts += [] if text is None else [f"the text {values.fill(text)[:_MOST_SHOWN]!r}{ending}"]
    for target, ending in ((condition.shown, ""), (condition.gone, " to be gone")):
        parts += [] if target is None else [f"{_name(target, values)}{ending}"]
    if condition.load_state is not None:
        parts.append(f"the load state {condition.load_state}")
    return values.hide(" and ".join(parts))


def _name(target: Target, values: Values) -> str:
    name = values.fill(target.name)[:80]
    return f"{target.role} {name!r}" if name else target.role


def _quote(texts: list[str]) -> str:
    return ", ".join(repr(text[:_MOST_SHOWN]) for text in dict.fromkeys(texts[:3]))


def _letters(text: str) -> str:
    return "".join(each for each in text.lower() if each.isalnum())
