"""BrowserParts: the state of a Browser that concerns no single page or context.

Rule: a Browser has no state beyond its connections'.
"""

from __future__ import annotations

import attrs

from cdpengine._activity.options import ActivityOptions, check_options
from cdpengine._api.browser_state import BrowserState
from cdpengine._api.scopes.measure import BrowserMeasure
from cdpengine._api.worker import Worker
from cdpengine._evaluate.evaluation import EvaluationStatistics
from cdpengine._page.dialogs import DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.downloads.download import Download
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.target import TargetInfo
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.wire import ConnectionStatistics


@attrs.frozen
class BrowserStatistics:
    """Statistics of a browser: counts of both connections, of pages, and of the evaluations in all pages.

    `main` is the connection for commands and events, `evaluation_session` the one that terminates scripts. Over a
    pipe both are the same connection. A lost connection of evaluation sessions is opened again:
    `evaluation_connections` counts them all, and `evaluation_session` restarts at zero.
    """

    main: ConnectionStatistics
    evaluation_session: ConnectionStatistics
    pages: int
    evaluation_connections: int
    evaluation: EvaluationStatistics


class BrowserParts:
    """The parts and the state of a Browser. They use its BrowserState, which is `internals`."""

    def __init__(self, state: BrowserState, endpoint: str | None) -> None:
        self.endpoint = endpoint
        self.internals = state
        self.measure = BrowserMeasure(state.session)

    @property
    def version(self) -> BrowserVersion:
        """The browser's product, protocol version and user agent."""
        return self.internals.version

    @property
    def key(self) -> str:
        """Identifier of the running browser, the same over all connections. A restart changes it."""
        return self.internals.key

    @property
    def instruments(self) -> Instruments:
        """The instruments of the browser's connections, such as recorders and wire logs."""
        return self.internals.instruments

    @property
    def session(self) -> Session:
        """The browser's session, for any protocol command and event that belongs to no page."""
        return self.internals.tabs.connection.root

    @property
    def targets(self) -> list[TargetInfo]:
        """All current targets of Chrome: pages, iframes, workers, service workers, ..."""
        return list(self.internals.tabs.connection.targets.infos.values())

    @property
    def service_workers(self) -> list[Worker]:
        """The running service workers of all contexts, oldest first."""
        return self.internals.workers.select(lambda worker: worker.kind == "service")

    @property
    def shared_workers(self) -> list[Worker]:
        """The running shared workers of all contexts, oldest first."""
        return self.internals.workers.select(lambda worker: worker.kind == "shared")

    @property
    def downloads(self) -> list[Download]:
        """The latest downloads, oldest first, including those refused as unexpected.

        A launched browser, and contexts made by this program, refuse downloads without a `Page.expect_download`. A
        browser that this program connected to follows its own settings.
        """
        return [record.download for record in self.internals.tabs.downloads.records]

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The open connections: one over a pipe, two over websockets."""
        return self.internals.connections

    def statistics(self) -> BrowserStatistics:
        """Return the counts so far."""
        return BrowserStatistics(
            main=self.internals.tabs.connection.statistics(),
            evaluation_session=self.internals.tabs.evaluation_sessions.connection.statistics(),
            pages=len(self.internals.tabs.pages),
            evaluation_connections=self.internals.tabs.evaluation_sessions.connections_opened,
            evaluation=self.internals.evaluation_counters.statistics(
                self.internals.tabs.evaluation_sessions.rebuilds
            ),
        )

    def set_activity(self, activity: bool | ActivityOptions | None) -> None:
        """Collect the activity of all pages: open ones from now on, new ones from their first script.

        `activity` is True or an ActivityOptions; None or False collects nothing of new pages. `page.activity` of
        one page has priority. A popup inherits the settings of its opener. Raises InvalidArgumentError.
        """
        self.internals.activities.set_for_all(check_options(activity))

    def set_dialog_policy(
        self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None
    ) -> None:
        """Set the answers to dialogs of new pages, as `page.dialogs.set_policy` does.

        A popup inherits the policy of its opener. Raises InvalidArgumentError.
        """
        self.internals.tabs.set_dialog_policy(DialogPolicy.checked(policy, prompt_text))
