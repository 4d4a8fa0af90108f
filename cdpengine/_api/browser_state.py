"""BrowserState: what a browser's pages and contexts stand on: its tabs, and what is kept for all of them.

Rule: it knows neither Browser nor Page, so everything that a page is made of can be given it.
"""

from __future__ import annotations

from cdpengine._activity.activities import Activities
from cdpengine._api.console_values import read_argument
from cdpengine._emulation.emulation import Emulations
from cdpengine._emulation.permissions import Permissions
from cdpengine._evaluate.counters import EvaluationCounters
from cdpengine._page.downloads.downloads import Downloads
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.connection import Connection
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Session
from cdpengine._storage.state_transfer import SeenOrigins


class BrowserState:
    """What a Browser holds, and shares with its pages and contexts.

    `key` tells browsers apart: two connections to one browser have the same. `context_ids` are those of the
    contexts that `new_context` made.
    """

    def __init__(
        self,
        tabs: Tabs,
        version: BrowserVersion,
        instruments: Instruments,
        *,
        key: str,
        evaluate_enabled: bool = True,
    ) -> None:
        self.tabs = tabs
        self.version = version
        self.instruments = instruments
        self.key = key
        self.evaluate_enabled = evaluate_enabled
        self.evaluation_counters = EvaluationCounters()
        self.activities = Activities(tabs, read_argument)
        self.emulations = Emulations(tabs.pages)
        self.permissions = Permissions(tabs.connection.root)
        self.seen_origins = SeenOrigins(tabs.pages)
        self.context_ids: set[str] = set()
        tabs.set_ups += [self.emulations.post, self.seen_origins.set_up]

    @property
    def session(self) -> Session:
        """The browser's own session."""
        return self.tabs.connection.root

    @property
    def creations(self) -> RemoteResources:
        """What makes things in the browser."""
        return self.tabs.creations

    @property
    def downloads(self) -> Downloads:
        """What follows the downloads."""
        return self.tabs.downloads

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The connections that are in use: one over a pipe, two over websockets."""
        main, evaluation_session = self.tabs.connection, self.tabs.evaluation_sessions.connection
        return (main,) if main is evaluation_session else (main, evaluation_session)
