"""Statistics of a pool and its browsers, and their metrics for Prometheus.

Rule: counters only grow. Current values are read on request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from cdpengine.errors import packages_named
from cdpengine.pool.pooled_browser import BrowserStage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric


@attrs.frozen
class PooledBrowserStatistics:
    """The current state of one browser of a pool.

    `leases`: current leases; `served`: all leases so far; `memory`: bytes, 0 without a measurement.
    """

    name: str
    member: str
    stage: BrowserStage
    leases: int
    served: int
    memory: int
    reason: str


@attrs.frozen
class PoolStatistics:
    """Counters and the current state of a pool.

    `leased`: leases that began; `ended_by_name`: leases ended by the pool or by the loss of a browser. `jobs`,
    `failed`, `retried`: results of jobs, results with an error, and attempts beyond the first. `opened`: browsers
    that started; `failed_starts`: browsers that did not. `replaced`: number of replaced browsers by cause ("lost",
    "hung", "memory", "share", "age", "failed"). `waiting`: current number of waiting requests.
    """

    browsers: tuple[PooledBrowserStatistics, ...]
    waiting: int
    leased: int
    ended_by_name: int
    jobs: int
    failed: int
    retried: int
    opened: int
    failed_starts: int
    replaced: dict[str, int]


@attrs.define
class PoolCounts:
    """The counters of a pool."""

    leased: int = 0
    ended_by_name: int = 0
    jobs: int = 0
    failed: int = 0
    retried: int = 0
    opened: int = 0
    failed_starts: int = 0
    replaced: dict[str, int] = attrs.field(factory=dict)


def register_figures(statistics: Callable[[], PoolStatistics], registry: CollectorRegistry) -> None:
    """Register a pool's metrics with Prometheus: `register_figures(pool.statistics, registry)`.

    The values are read when the registry is collected. Raises PackageMissingError without prometheus-client.
    """
    with packages_named():
        from prometheus_client.registry import Collector

    class Figures(Collector):
        def collect(self) -> Iterable[Metric]:
            return _figures(statistics())

    registry.register(Figures())


def _figures(read: PoolStatistics) -> Iterable[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    for name, meaning, number in (
        ("leases", "Pages that were leased.", read.leased),
        ("leases_ended", "Leases that ended with their browser, or by the pool.", read.ended_by_name),
        ("jobs", "Jobs that have their result.", read.jobs),
        ("jobs_failed", "Jobs whose result is an error.", read.failed),
        ("jobs_retried", "Attempts at jobs beyond the first.", read.retried),
        ("browsers_opened", "Browsers that came up.", read.opened),
        ("browser_starts_failed", "Browsers that did not come up.", read.failed_starts),
    ):
        yield CounterMetricFamily(f"cdpengine_pool_{name}", meaning, value=number)
    yield GaugeMetricFamily("cdpengine_pool_waiting", "Those that wait for a page.", value=read.waiting)
    leases = GaugeMetricFamily("cdpengine_pool_pages", "Pages that are out.", labels=("browser", "stage"))
    memory = GaugeMetricFamily("cdpengine_pool_memory_bytes", "Memory of a browser.", labels=("browser",))
    for browser in read.browsers:
        leases.add_metric((browser.name, browser.stage), browser.leases)
        memory.add_metric((browser.name,), browser.memory)
    yield leases
    yield memory
