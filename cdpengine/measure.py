"""Traces, coverage, profiles, heap snapshots and metrics."""

from cdpengine._api.scopes.measure import BrowserMeasure, PageMeasure
from cdpengine._measure.coverage import Coverage
from cdpengine._measure.coverage_report import CoverageGap, CoverageReport, CoveredText
from cdpengine._measure.profiles import (
    CpuProfile,
    HeapSnapshotProgress,
    HeapSnapshotReport,
    PageMetrics,
    Profiling,
)
from cdpengine._measure.tracing import Trace, TraceProgress, TraceReport

__all__ = [
    "BrowserMeasure",
    "Coverage",
    "CoverageGap",
    "CoverageReport",
    "CoveredText",
    "CpuProfile",
    "HeapSnapshotProgress",
    "HeapSnapshotReport",
    "PageMeasure",
    "PageMetrics",
    "Profiling",
    "Trace",
    "TraceProgress",
    "TraceReport",
]
