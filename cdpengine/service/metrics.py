"""Prometheus metrics: requests by kind and outcome, their duration, and open resources."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 120)

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The metrics of one service, in a separate registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)  # memory, descriptors, processor time; only on Linux
        self._requests = Counter(
            "cdpengine_requests",
            "Requests that were answered, by kind and by the kind of their error.",
            ("kind", "error"),
            registry=self._registry,
        )
        self._abandoned = Counter(
            "cdpengine_requests_abandoned",
            "Requests whose client disconnected before the response.",
            registry=self._registry,
        )
        self._seconds = Histogram(
            "cdpengine_request_seconds",
            "Duration of requests.",
            ("kind",),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def show(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Add a gauge that calls `read` for its value."""
        Gauge(f"cdpengine_{name}", meaning, registry=self._registry).set_function(read)

    def count(self, kind: str, error: str, seconds: float) -> None:
        """Count an answered request; `error` is "" for success."""
        self._requests.labels(kind, error).inc()
        self._seconds.labels(kind).observe(seconds)

    def count_abandoned(self) -> None:
        """Count a request whose client disconnected."""
        self._abandoned.inc()

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)
