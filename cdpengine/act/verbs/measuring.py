"""Verbs that measure a page: metrics, traces, profiles, coverage and heap snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import FILE, CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, LONG, ActRequest
from cdpengine.act.response import describe_url

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance

Measurement = Literal["trace", "coverage", "profile"]


@attrs.frozen(kw_only=True)
class Metrics(ActRequest):
    """Return Chrome's counters of the page: documents, nodes, listeners, heap, time by activity."""

    kind = "metrics"
    in_order = False
    tool = ToolForm(
        meaning="Read the page's counters: nodes, listeners, heap, time spent.", capability="performance"
    )
    commands = (CommandForm(meaning="Print the page's counters: nodes, listeners, heap, time."),)

    async def run(self, performance: Performance) -> dict[str, float]:
        return dict(await performance.page.measure.metrics(timeout=performance.left))


_ENDING = 120.0
"""Timeout for a measurement to write its result, in seconds."""

_SUFFIXES: Mapping[str, str] = {"trace": ".json.gz", "profile": ".cpuprofile"}


@attrs.frozen(kw_only=True)
class StartMeasurement(ActRequest):
    """Begin a trace of the page, a profile of its scripts, or a count of unused script and style sheet code."""

    kind = "startMeasurement"
    timing = LOADING
    in_order = False
    tool = ToolForm(
        name="measure",
        meaning="Begin a trace, a CPU profile, or a count of unused code; stop it to get its result or file.",
        action="start",
        capability="performance",
    )
    commands = (
        CommandForm(
            meaning="Begin a trace, a profile or a count of unused code: trace, profile or coverage.",
            places=(Place("WHAT", "measurement"), FILE),
            example="start-measurement trace",
        ),
    )

    measurement: Measurement = field("The kind of measurement.")
    path: str | None = field(
        "The file of a trace or profile, which must not exist. Without, a new one in the folder of outputs.",
        None,
        file=True,
    )

    async def run(self, performance: Performance) -> dict[str, Any] | None:
        if self.measurement == "coverage":
            await performance.open_scope(self.measurement, performance.page.measure.coverage(timeout=_ENDING))
            return None
        path = await performance.output_path(
            "startMeasurement.path", self.path, self.measurement, _SUFFIXES[self.measurement]
        )
        measure = performance.page.measure
        scope: AbstractAsyncContextManager[Any] = (
            measure.trace(path, overwrite=False, timeout=_ENDING)
            if self.measurement == "trace"
            else measure.profile(path, overwrite=False, timeout=_ENDING)
        )
        await performance.open_scope(self.measurement, scope)
        return {"path": str(path)}


@attrs.frozen(kw_only=True)
class StopMeasurement(ActRequest):
    """End a measurement, and return its result."""

    kind = "stopMeasurement"
    timing = LONG
    in_order = False
    tool = ToolForm(name="measure", action="stop", capability="performance")
    commands = (
        CommandForm(
            meaning="End a measurement, and print its result.",
            places=(Place("WHAT", "measurement"),),
            example="stop-measurement trace",
        ),
    )

    measurement: Measurement = field("Which one.")

    async def run(self, performance: Performance) -> dict[str, Any]:
        expected = "a startMeasurement request first"
        opened = performance.actor.scopes.find(self.measurement, performance.page, expected)
        return _DESCRIBE[self.measurement](await opened.end(performance.left))


def _describe_trace(trace: Any) -> dict[str, Any]:
    report = trace.report
    return {
        "path": str(report.path),
        "bytes": report.size,
        "seconds": round(report.seconds, 3),
        "dataLost": report.data_lost,
    }


def _describe_profile(profiling: Any) -> dict[str, Any]:
    profile = profiling.profile
    return {
        "path": str(profiling.path),
        "bytes": len(profile.data),
        "samples": profile.samples,
        "seconds": round(profile.seconds, 3),
    }


def _describe_coverage(coverage: Any) -> dict[str, Any]:
    report = coverage.report
    texts = [("script", each) for each in report.scripts] + [("sheet", each) for each in report.sheets]
    return {
        "totalBytes": report.total_bytes,
        "usedBytes": report.used_bytes,
        "texts": [
            {
                "type": kind,
                "url": describe_url(each.url),
                "totalBytes": each.total_bytes,
                "usedBytes": each.used_bytes,
            }
            for kind, each in texts
        ],
        "gaps": [describe_url(each.url) for each in report.gaps],
    }


_DESCRIBE: Mapping[Measurement, Callable[[Any], dict[str, Any]]] = {
    "trace": _describe_trace,
    "profile": _describe_profile,
    "coverage": _describe_coverage,
}


@attrs.frozen(kw_only=True)
class HeapSnapshot(ActRequest):
    """Write the heap of the page's scripts to a file. The page pauses meanwhile."""

    kind = "heapSnapshot"
    timing = LONG
    in_order = False
    tool = ToolForm(meaning="Write the heap of the page's scripts to a file.", capability="performance")
    commands = (
        CommandForm(
            meaning="Write the heap of the page's scripts to FILE, or to a new file in this folder.",
            places=(FILE,),
        ),
    )

    path: str | None = field(
        "The file, which must not exist. Without, a new one in the folder of outputs.", None, file=True
    )

    async def run(self, performance: Performance) -> dict[str, Any]:
        path = await performance.output_path("heapSnapshot.path", self.path, "heap", ".heapsnapshot.gz")
        report = await performance.page.measure.heap_snapshot(path, overwrite=False, timeout=performance.left)
        return {"path": str(report.path), "bytes": report.size, "bytesBeforeCompression": report.written}
