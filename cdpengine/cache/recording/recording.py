"""record_steps: what is done on a page, while a block runs, becomes the steps of an entry.

Rule: a verb is recorded by what it says before and after itself (`announcing.py`), with the page read before it.
The view before a step is the one after the step that was before it, so each step costs one. A verb that failed is
no step. What a recording keeps is templates; raw texts are dropped as soon as a step is complete, at the latest at
the end. Nothing that the page does, or leaves undone, makes a verb fail or hang because it is recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from cdpengine import Page
from cdpengine._nursery import open_body_nursery
from cdpengine._page.announcing import ActionCall
from cdpengine._page.dialogs import default_answer
from cdpengine._page.scripts.page_functions import Node as BrowserNode
from cdpengine._page.side_effects import SideEffects
from cdpengine.act.reading_requests import Dialog, FileChooser
from cdpengine.cache.addresses import has_address
from cdpengine.cache.changes import PageFeatures, read_features
from cdpengine.cache.entries import MOST_STEPS, Step, Viewport
from cdpengine.cache.recording.elements import DESCRIBING, ElementReader, read_viewport
from cdpengine.cache.recording.fields import FieldFacts, secret_name
from cdpengine.cache.recording.gestures import Gestures
from cdpengine.cache.recording.joining import entered_texts, enters_text, join_typing, take_pasted
from cdpengine.cache.recording.outcomes import PageView, count_tokens, find_condition
from cdpengine.cache.recording.person import PersonObserver
from cdpengine.cache.recording.steps import (
    CannotBeStep,
    Draft,
    Element,
    Typing,
    draft_of,
)
from cdpengine.cache.recording.templating import Templating
from cdpengine.errors.texts import hide_secrets

ENDING = 4.0
"""Seconds at most in which a recording finds out what its last step led to."""

_STARTING = 5.0
"""Seconds at most in which a recording reads the page where it begins."""

_CATCHING_UP = 1.5
"""Seconds at most that a verb waits until what a person did before it is recorded."""

_PAUSE = 0.1
"""Seconds between two readings of a page that keeps changing."""

_MOST_UNREAD = 5
"""How often one after the other a page is read that cannot be read in time, until it changes again."""

_MOST_NOTES = 200


@attrs.define(eq=False, kw_only=True)
class Recording:
    """What was done on a page: filled while the block of `record_steps` runs, complete after it.

    `steps` are what an entry has. `variables` are the names that stand in them, `sensitive` those of them whose
    values are shown nowhere, some of which may be new: a secret that came from no variable. `url`, `viewport` and
    `features` are of the page where it began; `viewport` and `features` are None where the page did not answer.
    `notes` say what was done that is no step, and why. `tokens` are those of the
    snapshots that the steps need (`count_tokens`).
    """

    steps: tuple[Step, ...] = attrs.field(default=(), repr=lambda steps: f"<{len(steps)}>")
    variables: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    url: str = ""
    viewport: Viewport | None = None
    features: PageFeatures | None = attrs.field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    tokens: int = 0


@asynccontextmanager
async def record_steps(
    page: Page,
    *,
    variables: Mapping[str, str] | None = None,
    sensitive: Iterable[str] = (),
    keep_typed: bool = True,
) -> AsyncIterator[Recording]:
    """Record what is done on the page while the block runs: by its verbs, and by a person in its window.

    variables: values by name. A text that is entered, chosen or gone to and that is such a value, or holds it,
        becomes the variable. The values are dropped at the end of the block.
    sensitive: names of variables that are shown nowhere, beside those that `is_sensitive_name` says.

    keep_typed: False keeps no text that is entered: each becomes a variable that is named after its field.

    Each verb of the page waits until the page has been read before it, in all tasks: 0.2 seconds on most pages,
    some 3 where it does not answer, 8 at most. The end waits at most 4 seconds for what the last step led to. An
    exception of the block leaves as itself; the steps that were done are in the recording all the same.

    Raises InvalidArgumentError for a wrong name or a value that is no text, and why the page cannot be used.
    """
    if (error := page.session.error()) is not None:
        raise error
    recorder = _Recorder(page, Templating(variables or {}, sensitive, keep_typed=keep_typed))
    running = page._core.target.running  # noqa: SLF001 - the recording works on the page below its verbs
    with running.record() as effects:
        recorder.effects = effects
        async with recorder.person.observing(lambda reason: recorder.note("person", reason)):
            await recorder.begin()
            async with open_body_nursery() as nursery:
                nursery.start_soon(recorder.take_actions, name="record what a person does")
                nursery.start_soon(recorder.keep_fresh, name="read the page that is recorded")
                running.listeners.append(recorder)
                try:
                    yield recorder.recording
                    with trio.move_on_after(ENDING):
                        await recorder.catch_up()
                        await recorder.look()
                finally:
                    running.listeners.remove(recorder)
                    recorder.end()


@attrs.define(eq=False)
class _RunningVerb:
    """A verb that runs: the page before it, and the elements that it is done to, by argument."""

    view: PageView | None = None
    place: int = 0
    elements: dict[str, Element] = attrs.field(factory=dict)
    nodes: dict[str, tuple[str | None, int]] = attrs.field(factory=dict)


class _Recorder:
    """Makes the steps. It is an ActionListener of the page."""

    effects: SideEffects

    def __init__(self, page: Page, templating: Templating) -> None:
        self.recording = Recording()
        self._page = page
        self._templating = templating
        self._reader = ElementReader(page, templating)
        self._drafts: list[Draft] = []
        self._notes: list[str] = []
        self._running: dict[ActionCall, _RunningVerb] = {}
        self._seen = (0, 0, 0)
        self._unread = 0
        self._open = True
        self._latest: PageView | None = None
        self._unclaimed: tuple[int, PageView] | None = None
        self._place = self._processed = 0
        self._viewed = -1
        self._reading = trio.Lock()
        self._is_stale = False
        self._changed, self._progress = trio.Event(), trio.Event()
        self.person = PersonObserver(page, self._arrive, self._note_change)
        self._gestures = Gestures(self._reader, self.person, self._templating)

    # --- beginning and end -------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Read the page where the recording begins."""
        recording = self.recording
        url = hide_secrets(self._page.url)
        recording.url = url.partition("?")[0] if self._templating.holds_secret(url) else url
        with trio.move_on_after(_STARTING):
            recording.viewport = await read_viewport(self._page)
            view = await self.look()
            if view.snapshot is not None:
                recording.features = read_features(view.snapshot)

    def end(self) -> None:
        """Complete the recording, and drop all raw texts. Nothing is awaited here."""
        self._open = False
        if self._drafts:
            self._seal(self._drafts[-1])
        used = self._templating.used
        recording = self.recording
        recording.steps = tuple(draft.as_step() for draft in self._drafts)
        recording.variables = tuple(sorted(used))
        recording.sensitive = tuple(sorted(used & self._templating.sensitive))
        if replaced := self._templating.replaced:
            self.note("record", f"typed texts are not kept; they are the variables {', '.join(replaced)}")
        if made := self._templating.generalized:
            self.note("goto", f"random parts of URLs are not kept; they are the variables {', '.join(made)}")
        recording.notes = tuple(self._notes)
        recording.tokens = count_tokens(draft.reading for draft in self._drafts)
        self._templating.forget()
        self._running.clear()
        self._latest = self._unclaimed = None

    # --- verbs -------------------------------------------------------------------------------------------------

    async def before(self, call: ActionCall) -> None:
        """Read the page, which says what the step before led to, and describe what the verb is aimed at."""
        running = self._running[call] = _RunningVerb()
        await self.catch_up()
        running.view = await self.look()
        self._place += 1
        running.place = self._place
        self.person.own_verbs += 1
        for name, target in _targets(call):
            node = self._reader.node_of(target)
            if node is not None:
                await self._describe(running, name, node, DESCRIBING)
        if call.verb == "press" and call.arguments["target"] is None and enters_text(call.arguments["key"]):
            focused = await self._reader.focused()
            if focused is not None:
                await self._describe(running, "target", focused, DESCRIBING)

    async def on_node(self, call: ActionCall, argument: str, node: BrowserNode, seconds: float) -> None:
        """Describe a node that had to be looked for, or that was healed."""
        running = self._running.get(call)
        if running is not None:
            name = "source" if (call.verb, argument) == ("drag", "target") else argument
            await self._describe(running, name, node, seconds / 2)

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        """Make the step of a verb that was done."""
        running = self._leave(call)
        if running is not None:
            self._take_verb(call, running, error)
            self._note_processed(running.place)
            self._note_change()

    def _take_verb(self, call: ActionCall, running: _RunningVerb, error: Exception | None) -> None:
        if error is not None:
            self.note(call.verb, f"it failed with {type(error).__name__}")
            return
        arguments = call.arguments
        if call.verb == "fill_form":
            arguments = {"values": [field.value for field in arguments["known"]]}
        try:
            draft = draft_of(call.verb, arguments, running.elements, self._templating)
        except CannotBeStep as why:
            self.note(call.verb, str(why))
        else:
            draft.before = running.view
            self._add(draft, running.place)

    def cancelled(self, call: ActionCall) -> None:
        """Note a verb that did not come to its end."""
        running = self._leave(call)
        if running is not None:
            self.note(call.verb, "it was cancelled")
            self._note_processed(running.place)
            self._note_change()

    def _leave(self, call: ActionCall) -> _RunningVerb | None:
        """Take note of a verb's end; None where the recording is over."""
        running = self._running.pop(call, None)
        if running is None or not self._open:
            return None
        if running.place:
            self.person.own_verbs -= 1
            if not self.person.own_verbs:
                self.person.reset()
        return running

    async def _describe(self, running: _RunningVerb, name: str, node: BrowserNode, seconds: float) -> None:
        number = (node.session.id, node.backend_node_id)
        if running.nodes.get(name) == number:
            return
        running.nodes[name] = number
        running.elements.pop(name, None)
        snapshot = None if running.view is None else running.view.snapshot
        element = await self._reader.describe(node, snapshot, seconds=seconds)
        if element is not None:
            running.elements[name] = element

    # --- steps -------------------------------------------------------------------------------------------------

    def _add(self, draft: Draft, place: int) -> None:
        draft.place = place
        draft.note_origins(self._page.url if draft.before is None else draft.before.url)
        if not self._drafts and draft.before is not None:
            self._begin_at(draft.before)
        if isinstance(draft.request, FileChooser):
            self._drafts.insert(len(self._drafts) - 1, draft)  # before what opened it
            return
        last = self._drafts[-1] if self._drafts else None
        if last is not None:
            if last.typing is not None and join_typing(last.typing, draft):
                self._note_secret(last.typing)
                last.entering, last.place = last.entering and draft.entering, place
                return
            if last.takes_over(draft):
                draft.before, draft.reading = last.before, last.reading
                self._drafts.remove(last)
            else:
                self._seal(last)
        if len(self._drafts) >= MOST_STEPS:
            self.note("record", f"there are {MOST_STEPS} steps, which is the most")
            return
        if draft.reading is None and draft.before is not None:
            draft.reading = draft.before.reading
        self._drafts.append(draft)
        if draft.typing is not None:
            self._note_secret(draft.typing)

    def _begin_at(self, view: PageView) -> None:
        """Have a recording that began in a blank tab begin at the page of its first step."""
        url = hide_secrets(view.url)
        if has_address(url) and not has_address(self.recording.url):
            self.recording.url = url.partition("?")[0] if self._templating.holds_secret(url) else url
            self.recording.features = None if view.snapshot is None else read_features(view.snapshot)

    def _note_secret(self, typing: Typing) -> None:
        if secret_name(typing.element.facts) is not None:
            self._templating.set_pending(typing.text)

    def _seal(self, draft: Draft) -> None:
        """Complete a step; one that did nothing, after all, is none."""
        typing = draft.typing
        if typing is not None and not typing.text and not typing.unknown and not typing.submit:
            self._drafts.remove(draft)
            if typing.pasted:
                self.note("press", "what was pasted could not be read")
        elif draft.optional and draft.after is None:
            self._drafts.remove(draft)
        draft.seal(self._templating)
        self._templating.set_pending("")
        draft.before = None

    # --- what steps led to -------------------------------------------------------------------------------------

    async def look(self) -> PageView:
        """Read the page, unless it is as it was read last.

        What was done before it began, if nothing was done until it ended, has led to what it shows.
        """
        async with self._reading:
            place = self._place
            if self._latest is not None and self._viewed == place and not self._is_stale and self.person.sees:
                return self._latest  # it has been read since, and has not changed
            self._is_stale = False
            self.person.watch()
            view = await self._reader.look()
            self._unread = self._unread + 1 if view.snapshot is None else 0
            if 0 < self._unread < _MOST_UNREAD:
                self._note_change()  # a busy page: what is done next has to be found in what was seen
            await self.person.note_history()
            if place == self._place:
                self._latest, self._viewed = view, place
                if self._processed == place:
                    self._finish(view, place)
                else:
                    self._unclaimed = place, view
            return view

    def _finish(self, view: PageView, place: int) -> None:
        """Find what the last step led to, if it was that which was done at this place, and nothing after it."""
        last = self._drafts[-1] if self._drafts else None
        if last is None or last.place != place:
            return
        self._take_effects(last)
        if last.before is not None:
            entered = entered_texts(self._drafts)
            if last.typing is not None:
                take_pasted(last.typing, view)
                entered.append(last.typing.text)
            last.after = find_condition(
                last.before, view, self._templating, entering=last.entering, entered=entered
            )

    def _note_processed(self, place: int) -> None:
        """Note that what has this place is a step now, or a note."""
        self._processed = max(self._processed, place)
        if self._unclaimed is not None and self._unclaimed[0] == self._processed:
            self._finish(self._unclaimed[1], self._processed)
            self._unclaimed = None
        progress, self._progress = self._progress, trio.Event()
        progress.set()

    # --- what a person does ------------------------------------------------------------------------------------

    def _arrive(self) -> tuple[int, PageView | None, bool]:
        rested = self._viewed == self._place
        self._place += 1
        return self._place, self._latest, rested

    def _note_change(self) -> None:
        self._is_stale = True
        self._changed.set()

    @property
    def is_up_to_date(self) -> bool:
        """Whether all that was done is a step or a note, and the page was read since, as it is."""
        caught_up = self._processed == self._viewed == self._place
        return caught_up and not (self._is_stale or self._reading.locked())

    async def keep_fresh(self) -> None:
        """Read the page whenever it has changed, so that it was read before a person's next action."""
        while True:
            await self._changed.wait()
            self._changed = trio.Event()
            if self._is_stale and not self._running:  # a verb that runs says when it ends
                await self.look()
            await trio.sleep(_PAUSE)

    async def take_actions(self) -> None:
        """Make steps of what a person does, in order."""
        async for action in self.person.actions:
            try:
                before = action.view if isinstance(action.view, PageView) else None
                draft = await self._gestures.draft_of(action, before)
            except CannotBeStep as why:
                self.note("person", str(why))
            else:
                if draft is not None:
                    self._add(draft, action.place)
            self._note_processed(action.place)
            self._note_change()

    async def catch_up(self) -> None:
        """Wait until what a person has done so far is recorded, at most for a moment."""
        await self.person.flush()
        with trio.move_on_after(_CATCHING_UP):
            while self._processed < self._place and not self.person.own_verbs:
                await self._progress.wait()

    def _take_effects(self, last: Draft) -> None:
        """Record how dialogs were answered that the last step opened; note pages and downloads that began."""
        dialogs, popups, downloads = self._seen
        effects = self.effects
        self._seen = len(effects.shown), len(effects.popups), len(effects.downloads)
        for shown in effects.shown[dialogs:]:
            dialog, usual = shown.dialog, default_answer(shown.dialog)
            if dialog.accepted is None or (
                dialog.accepted == usual.accept and dialog.prompt_text in (None, usual.prompt_text)
            ):
                continue  # it is answered like that anyway
            text = None
            if dialog.prompt_text:
                facts = FieldFacts(tag="input", type="text", label=dialog.message[:200], editable=True)
                text = self._templating.entered(dialog.prompt_text, facts)
            answer = Draft(
                request=Dialog(accept=dialog.accepted, prompt_text=text), label=f"answer {dialog.type}"
            )
            answer.note_origins(self._page.url if last.before is None else last.before.url)
            self._drafts.insert(self._drafts.index(last), answer)
        if len(effects.popups) > popups:
            self.note("popup", "another page was opened; what is done there is not recorded")
        if len(effects.downloads) > downloads:
            self.note("download", "a download began; a step does not wait for it")

    def note(self, verb: str, reason: str) -> None:
        """Note what is no step, and why."""
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(f"after step {len(self._drafts)}: {verb}: {reason}")


def _targets(call: ActionCall) -> list[tuple[str, Any]]:
    """Return the targets that a verb is given, by argument."""
    given = call.arguments
    if call.verb == "fill_form":
        return [(f"field {number}", field.target) for number, field in enumerate(given["known"], 1)]
    return [
        (name, given[name])
        for name in ("target", "source", "destination")
        if given.get(name) is not None and not isinstance(given[name], tuple)
    ]
