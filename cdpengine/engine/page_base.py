"""PageBase: what every part of a page stands on: its target, its devices, and how an action runs under its budget.

Rule: an action runs once the page is ready for it, within its budget, and its end says whether the page answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cdpengine.action.keyboard import Keyboard
from cdpengine.action.mouse import Mouse
from cdpengine.browser.frames import Frame
from cdpengine.browser.node import Node
from cdpengine.browser.page_target import PageTarget
from cdpengine.browser.worlds import IsolatedWorlds
from cdpengine.budget import Budget, within
from cdpengine.engine.targets import Target, resolve
from cdpengine.engine.unresponsive import told_unresponsive
from cdpengine.evaluate.counters import EvaluationCounters
from cdpengine.evaluate.evaluation import Evaluator, Script
from cdpengine.session.session import Session
from cdpengine.snapshot.refs import RefTable

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser


class PageBase:
    """The state of a Page, and what its parts share."""

    def __init__(self, browser: Browser, target: PageTarget) -> None:
        self.browser = browser
        self.keyboard = Keyboard(target.session, target, mac=browser.version.on_mac)
        self.mouse = Mouse(target.session, target, keyboard=self.keyboard)
        self._target = target
        self._refs = RefTable()
        self._worlds = IsolatedWorlds()
        self._evaluator = Evaluator(
            target,
            IsolatedWorlds(),
            EvaluationCounters(browser.evaluation_counters),
            enabled=browser.evaluate_enabled,
        )

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {self.url[:60]!r}>"

    @property
    def session(self) -> Session:
        """The page's own session, for any protocol command and event. Evaluation has another one."""
        return self._target.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self._target.target_id

    @property
    def url(self) -> str:
        """Where the page is, as of the last event; fragment included."""
        return self._target.frames.main.url

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self._target.frames)

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the browser context that the page belongs to."""
        return self._target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._target.closed

    async def _read(self, action: str, source: str, timeout: float, *args: object) -> object:
        """Evaluate a script of the engine's own, in its own world."""
        async with told_unresponsive(self._target):
            budget = Budget.start(action, timeout)
            return await self._evaluator.evaluate(Script(source, args, world="isolated"), budget, own=True)

    def _node(self, target: Target) -> Node:
        return resolve(self._target, self._refs, target)

    @asynccontextmanager
    async def _action(
        self, action: str, timeout: float, *, also_unready: bool = False
    ) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the page is ready for it.

        With `also_unready`, a page that is crashed or stuck will do: the action brings it back.
        """
        async with told_unresponsive(self._target):
            with within(action, timeout) as budget, self._target.dialogs.reported(action):
                await (self._target.started() if also_unready else self._target.ready())
                yield budget
