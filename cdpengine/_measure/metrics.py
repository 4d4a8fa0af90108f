"""Metrics: Chrome's counters of one page (`Performance.getMetrics`), by name and as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cdpengine._protocol.domains.profiler import MetricsReply
from cdpengine._protocol.session import Session

DOMAIN = "Performance"


class PageMetrics(Mapping[str, float]):
    """Chrome's counters by Chrome's names ("JSHeapUsedSize"); the best known as attributes too.

    Times are seconds, sizes bytes. Documents, frames, nodes, listeners and the heap are counted for all of the
    page's process, other pages of its site included; frames in processes of their own are not in them. An
    attribute is 0 where this Chrome does not count it; `metrics[name]` raises KeyError then.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<PageMetrics {self._values}>"

    @property
    def timestamp(self) -> float:
        """When they were taken, on Chrome's monotonic clock."""
        return self.get("Timestamp", 0.0)

    @property
    def documents(self) -> int:
        """Documents that are alive."""
        return int(self.get("Documents", 0))

    @property
    def frames(self) -> int:
        """Frames that are alive."""
        return int(self.get("Frames", 0))

    @property
    def nodes(self) -> int:
        """DOM nodes that are alive, those included that are in no document."""
        return int(self.get("Nodes", 0))

    @property
    def event_listeners(self) -> int:
        """Event listeners in JavaScript."""
        return int(self.get("JSEventListeners", 0))

    @property
    def layouts(self) -> int:
        """How often the page was laid out."""
        return int(self.get("LayoutCount", 0))

    @property
    def style_recalculations(self) -> int:
        """How often styles were computed."""
        return int(self.get("RecalcStyleCount", 0))

    @property
    def layout_duration(self) -> float:
        """Seconds spent on laying out."""
        return self.get("LayoutDuration", 0.0)

    @property
    def style_duration(self) -> float:
        """Seconds spent on computing styles."""
        return self.get("RecalcStyleDuration", 0.0)

    @property
    def script_duration(self) -> float:
        """Seconds spent on running JavaScript."""
        return self.get("ScriptDuration", 0.0)

    @property
    def task_duration(self) -> float:
        """Seconds spent on everything that the page's main thread did."""
        return self.get("TaskDuration", 0.0)

    @property
    def heap_used(self) -> int:
        """Bytes of the JavaScript heap that are in use."""
        return int(self.get("JSHeapUsedSize", 0))

    @property
    def heap_size(self) -> int:
        """Bytes that the JavaScript heap takes."""
        return int(self.get("JSHeapTotalSize", 0))


async def page_metrics(session: Session) -> PageMetrics:
    """Return the counters of now. Times count while the domain is enabled: hold it to measure durations.

    Raises as `Session.request`.
    """
    async with session.enabled(DOMAIN):
        reply = await session.request("Performance.getMetrics", {}, MetricsReply)
    return PageMetrics({metric.name: metric.value for metric in reply.metrics})
