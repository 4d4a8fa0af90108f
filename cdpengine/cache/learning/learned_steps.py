"""learn_steps: makes the actions on a page during a block the steps of an entry.

Rule: the page's verbs notify the learner before and after they run (`announcing.py`). The learner reads
the page before each verb. That view also shows the effect of the previous step, so each step costs one
reading. A failed verb is no step. The learner stores templates. It drops each raw string when its step is
complete, at the latest at the end of the block. Learning never makes a verb fail or hang.
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
from cdpengine.act import Dialog, FileChooser
from cdpengine.cache.addresses import has_address
from cdpengine.cache.changes import PageFeatures, read_features
from cdpengine.cache.entries import MOST_STEPS, Step, Viewport
from cdpengine.cache.learning.drafts import (
    CannotBeStep,
    Draft,
    Element,
    Typing,
    entered_texts,
    enters_text,
    join_typing,
    take_pasted,
)
from cdpengine.cache.learning.elements import DESCRIBING, ElementReader, read_viewport
from cdpengine.cache.learning.fields import FieldFacts, secret_name
from cdpengine.cache.learning.gestures import Gestures
from cdpengine.cache.learning.outcomes import PageView, count_tokens, find_condition
from cdpengine.cache.learning.person import PersonObserver
from cdpengine.cache.learning.steps import draft_of
from cdpengine.cache.learning.templating import Templating
from cdpengine.errors.texts import hide_secrets

ENDING = 4.0
"""Maximum time to find the effect of the last step, in seconds."""

_STARTING = 5.0
"""Maximum time for the first reading of the page, in seconds."""

_CATCHING_UP = 1.5
"""Maximum time that a verb waits for the steps of a person's earlier actions, in seconds."""

_PAUSE = 0.1
"""Pause between two readings of a changing page, in seconds."""

_MOST_UNREAD = 5
"""Consecutive failed readings after which a page is left alone until it changes."""

_MOST_NOTES = 200


@attrs.define(eq=False, kw_only=True)
class LearnedSteps:
    """The learned actions of a page. It is complete after the block of `learn_steps`.

    `steps` are the steps of the new entry, and `times` their times on trio's clock. `variables` are the names
    that the steps use. `sensitive` are the names whose values appear nowhere. A secret without a variable adds a
    new name. `url`, `viewport` and `features` describe the first page. `viewport` and `features` are None if the
    page did not answer. `notes` list the actions that are no steps, with the reasons. `tokens` is the total of the
    steps' snapshots (`count_tokens`).
    """

    steps: tuple[Step, ...] = attrs.field(default=(), repr=lambda steps: f"<{len(steps)}>")
    times: tuple[float, ...] = attrs.field(default=(), repr=False)
    variables: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    url: str = ""
    viewport: Viewport | None = None
    features: PageFeatures | None = attrs.field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    tokens: int = 0


@asynccontextmanager
async def learn_steps(
    page: Page,
    *,
    variables: Mapping[str, str] | None = None,
    sensitive: Iterable[str] = (),
    keep_typed: bool = True,
    complete: bool = False,
) -> AsyncIterator[LearnedSteps]:
    """Learn the actions on the page during the block, by verbs and by a person in the browser window.

    variables: values by name. In entered strings, selected options and URLs, a variable replaces its value.
        The engine drops the values at the end of the block.
    sensitive: further names of variables whose values appear nowhere, in addition to `is_sensitive_name`.
    keep_typed: False stores no typed strings. Each becomes a variable named after its field.
    complete: True also makes steps of an Escape without a visible effect, and of the files that a person
        chooses. Their paths are only the names, because a page does not reveal the folder.

    In all tasks, each verb of the page first waits for a reading of the page. This takes 0.2 s on most
    pages, about 3 s on a page that does not answer, and at most 8 s. The end of the block waits at most 4 s
    for the effect of the last step. An exception from the block propagates unchanged, and `LearnedSteps`
    keeps the steps.

    Raises InvalidArgumentError for an invalid name or a value that is no string. If the page is unusable,
    raises the error of its session.
    """
    if (error := page.session.error()) is not None:
        raise error
    learner = _StepLearner(
        page, Templating(variables or {}, sensitive, keep_typed=keep_typed), complete=complete
    )
    running = page.internals.target.running
    with running.record() as effects:
        learner.effects = effects
        async with learner.person.observing(lambda reason: learner.note("person", reason)):
            await learner.begin()
            async with open_body_nursery() as nursery:
                nursery.start_soon(learner.take_actions, name="learn a person's actions")
                nursery.start_soon(learner.keep_fresh, name="read the page during learning")
                running.listeners.append(learner)
                try:
                    yield learner.learned
                    with trio.move_on_after(ENDING):
                        await learner.catch_up()
                        await learner.look()
                finally:
                    running.listeners.remove(learner)
                    learner.end()


@attrs.define(eq=False)
class _RunningVerb:
    """A running verb: the page before it, and its target elements by argument."""

    view: PageView | None = None
    place: int = 0
    elements: dict[str, Element] = attrs.field(factory=dict)
    nodes: dict[str, tuple[str | None, int]] = attrs.field(factory=dict)


class _StepLearner:
    """The builder of the steps, an ActionListener of the page."""

    effects: SideEffects

    def __init__(self, page: Page, templating: Templating, *, complete: bool) -> None:
        self.learned = LearnedSteps()
        self._page = page
        self._templating = templating
        self._complete = complete
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
        self._gestures = Gestures(self._reader, self.person, self._templating, complete=complete)

    # --- beginning and end -------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Read the first page."""
        learned = self.learned
        url = hide_secrets(self._page.url)
        learned.url = url.partition("?")[0] if self._templating.holds_secret(url) else url
        with trio.move_on_after(_STARTING):
            learned.viewport = await read_viewport(self._page)
            view = await self.look()
            if view.snapshot is not None:
                learned.features = read_features(view.snapshot)

    def end(self) -> None:
        """Complete the steps and drop all raw strings. Does not wait."""
        self._open = False
        if self._drafts:
            self._seal(self._drafts[-1])
        used = self._templating.used
        learned = self.learned
        learned.steps = tuple(draft.as_step() for draft in self._drafts)
        learned.times = tuple(draft.at for draft in self._drafts)
        learned.variables = tuple(sorted(used))
        learned.sensitive = tuple(sorted(used & self._templating.sensitive))
        if replaced := self._templating.replaced:
            self.note(
                "learn", f"typed strings are not stored; they became the variables {', '.join(replaced)}"
            )
        if made := self._templating.generalized:
            self.note("goto", f"random parts of URLs are not kept; they are the variables {', '.join(made)}")
        if learned.steps and learned.features is None:
            self.note(
                "learn", "the first page could not be read, so replays do not compare the page as a whole"
            )
        learned.notes = tuple(self._notes)
        learned.tokens = count_tokens(draft.reading for draft in self._drafts)
        self._templating.forget()
        self._running.clear()
        self._latest = self._unclaimed = None

    # --- verbs -------------------------------------------------------------------------------------------------

    async def before(self, call: ActionCall) -> None:
        """Read the page, which also shows the previous step's effect, and describe the verb's targets."""
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
        """Describe a node that a locator or the healing of a ref found."""
        running = self._running.get(call)
        if running is not None:
            name = "source" if (call.verb, argument) == ("drag", "target") else argument
            await self._describe(running, name, node, seconds / 2)

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        """Add the step of a completed verb."""
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
            arguments = {"values": [field.value for field in arguments["fields"]]}
        try:
            draft = draft_of(call.verb, arguments, running.elements, self._templating)
        except CannotBeStep as why:
            self.note(call.verb, str(why))
        else:
            draft.before = running.view
            self._add(draft, running.place)

    def cancelled(self, call: ActionCall) -> None:
        """Note a cancelled verb."""
        running = self._leave(call)
        if running is not None:
            self.note(call.verb, "it was cancelled")
            self._note_processed(running.place)
            self._note_change()

    def _leave(self, call: ActionCall) -> _RunningVerb | None:
        """Remove a finished verb and return it. Return None after the end of the block."""
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
        draft.at = draft.at or trio.current_time()
        draft.note_origins(self._page.url if draft.before is None else draft.before.url)
        if not self._drafts and draft.before is not None:
            self._begin_at(draft.before)
        if isinstance(draft.request, FileChooser):
            self._drafts.insert(len(self._drafts) - 1, draft)  # before the step that opened the chooser
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
            self.note("learn", f"there are {MOST_STEPS} steps, which is the most")
            return
        if draft.reading is None and draft.before is not None:
            draft.reading = draft.before.reading
        self._drafts.append(draft)
        if draft.typing is not None:
            self._note_secret(draft.typing)

    def _begin_at(self, view: PageView) -> None:
        """Use the page of the first step if the learning began in a blank tab, or could not read its page."""
        learned, url = self.learned, hide_secrets(view.url)
        url = url.partition("?")[0] if self._templating.holds_secret(url) else url
        if has_address(url) and not has_address(learned.url):
            learned.url, learned.features = url, None
        if learned.features is None and view.snapshot is not None and url == learned.url:
            learned.features = read_features(view.snapshot)

    def _note_secret(self, typing: Typing) -> None:
        if secret_name(typing.element.facts) is not None:
            self._templating.set_pending(typing.text)

    def _seal(self, draft: Draft) -> None:
        """Complete a step. Remove it if it is an empty input, or optional and without a condition."""
        typing = draft.typing
        if typing is not None and not typing.text and not typing.unknown and not typing.submit:
            self._drafts.remove(draft)
            if typing.pasted:
                self.note("press", "the pasted text could not be read")
        elif draft.optional and draft.after is None and not self._complete:
            self._drafts.remove(draft)
        draft.seal(self._templating)
        self._templating.set_pending("")
        draft.before = None

    # --- effects of steps --------------------------------------------------------------------------------------

    async def look(self) -> PageView:
        """Read the page, or return the latest view if the page has not changed.

        If no action happens during the reading, the view shows the effect of the actions before it.
        """
        async with self._reading:
            place = self._place
            if self._latest is not None and self._viewed == place and not self._is_stale and self.person.sees:
                return self._latest  # the latest view is still current
            self._is_stale = False
            self.person.watch()
            view = await self._reader.look()
            self._unread = self._unread + 1 if view.snapshot is None else 0
            if 0 < self._unread < _MOST_UNREAD:
                self._note_change()  # a busy page: the next action needs a view, so retry
            await self.person.note_history()
            if place == self._place:
                self._latest, self._viewed = view, place
                if self._processed == place:
                    self._finish(view, place)
                else:
                    self._unclaimed = place, view
            return view

    def _finish(self, view: PageView, place: int) -> None:
        """Add the side effects and the condition of the last step if `place` is its place."""
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
        """Mark the action at this place as processed: it is now a step or a note."""
        self._processed = max(self._processed, place)
        if self._unclaimed is not None and self._unclaimed[0] == self._processed:
            self._finish(self._unclaimed[1], self._processed)
            self._unclaimed = None
        progress, self._progress = self._progress, trio.Event()
        progress.set()

    # --- a person's actions ------------------------------------------------------------------------------------

    def _arrive(self) -> tuple[int, PageView | None, bool]:
        rested = self._viewed == self._place
        self._place += 1
        return self._place, self._latest, rested

    def _note_change(self) -> None:
        self._is_stale = True
        self._changed.set()

    @property
    def is_up_to_date(self) -> bool:
        """Whether every action is processed and the latest view shows the current page."""
        caught_up = self._processed == self._viewed == self._place
        return caught_up and not (self._is_stale or self._reading.locked())

    async def keep_fresh(self) -> None:
        """Read the page after each change, so that a view exists before a person's next action."""
        while True:
            await self._changed.wait()
            self._changed = trio.Event()
            if self._is_stale and not self._running:  # a running verb reports its own end
                await self.look()
            await trio.sleep(_PAUSE)

    async def take_actions(self) -> None:
        """Turn a person's actions into steps, in order."""
        async for action in self.person.actions:
            try:
                before = action.view if isinstance(action.view, PageView) else None
                draft = await self._gestures.draft_of(action, before)
            except CannotBeStep as why:
                self.note("person", str(why))
            else:
                if draft is not None:
                    draft.at = action.at
                    self._add(draft, action.place)
            self._note_processed(action.place)
            self._note_change()

    async def catch_up(self) -> None:
        """Wait until a person's earlier actions are steps or notes, at most 1.5 s after the flush."""
        await self.person.flush()
        with trio.move_on_after(_CATCHING_UP):
            while self._processed < self._place and not self.person.own_verbs:
                await self._progress.wait()

    def _take_effects(self, last: Draft) -> None:
        """Add the answers to dialogs that the last step opened, and note new pages and downloads."""
        dialogs, popups, downloads = self._seen
        effects = self.effects
        self._seen = len(effects.tracked_dialogs), len(effects.popups), len(effects.downloads)
        for shown in effects.tracked_dialogs[dialogs:]:
            dialog, usual = shown.dialog, default_answer(shown.dialog)
            if dialog.accepted is None or (
                dialog.accepted == usual.accept and dialog.prompt_text in (None, usual.prompt_text)
            ):
                continue  # the engine gives the default answer anyway
            text = None
            if dialog.prompt_text:
                facts = FieldFacts(tag="input", type="text", label=dialog.message[:200], editable=True)
                text = self._templating.entered(dialog.prompt_text, facts)
            answer = Draft(
                request=Dialog(accept=dialog.accepted, prompt_text=text),
                label=f"answer {dialog.type}",
                at=last.at,
            )
            answer.note_origins(self._page.url if last.before is None else last.before.url)
            self._drafts.insert(self._drafts.index(last), answer)
        if len(effects.popups) > popups:
            self.note("popup", "another page was opened; actions on it are not learned")
        if len(effects.downloads) > downloads:
            self.note("download", "a download began; a step does not wait for it")

    def note(self, verb: str, reason: str) -> None:
        """Add a note about an action that is no step."""
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(f"after step {len(self._drafts)}: {verb}: {reason}")


def _targets(call: ActionCall) -> list[tuple[str, Any]]:
    """Return the targets of a verb as pairs of an argument and a target."""
    arguments = call.arguments
    if call.verb == "fill_form":
        return [(f"field {number}", field.target) for number, field in enumerate(arguments["fields"], 1)]
    return [
        (name, arguments[name])
        for name in ("target", "source", "destination")
        if arguments.get(name) is not None and not isinstance(arguments[name], tuple)
    ]
