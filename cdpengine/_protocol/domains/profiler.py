"""Profiler, Debugger, HeapProfiler and Performance: scripts, coverage, profiles, the heap and counters."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, of_type, reply

# --- coverage of scripts --------------------------------------------------------------------------------------


class CountedRange(msgspec.Struct, rename="camel"):
    """The execution count of a part of a script; offsets in UTF-16 units."""

    start_offset: int
    end_offset: int
    count: int


class CountedFunction(msgspec.Struct):
    """The parts of one function."""

    ranges: list[CountedRange] = msgspec.field(default_factory=list)


class CountedScript(msgspec.Struct, rename="camel"):
    """The functions of one script that have counts."""

    script_id: str
    functions: list[CountedFunction] = msgspec.field(default_factory=list)


@reply("Profiler.takePreciseCoverage")
class PreciseCoverage(msgspec.Struct):
    """The counts of all scripts; also the structure of Chrome's coverage events."""

    result: list[CountedScript] = msgspec.field(default_factory=list)


class ScriptAuxData(msgspec.Struct, rename="camel"):
    """The kind of a script's world."""

    is_default: bool = False


@event("Debugger.scriptParsed")
class ScriptParsed(msgspec.Struct, rename="camel"):
    """A script was parsed."""

    script_id: str
    url: str = ""
    start_line: int = 0
    start_column: int = 0
    length: int = 0
    hash: str = ""
    script_language: str = "JavaScript"
    execution_context_aux_data: ScriptAuxData = msgspec.field(default_factory=ScriptAuxData)


@reply("Debugger.getScriptSource")
class ScriptSourceReply(msgspec.Struct, rename="camel"):
    """The text of a script."""

    script_source: str = ""


# --- CPU profiles ---------------------------------------------------------------------------------------------


class ProfileNode(msgspec.Struct, rename="camel"):
    """A node of the call tree, with the fields counted here."""

    id: int = 0


@of_type("Profiler.Profile")
class Profile(msgspec.Struct, rename="camel"):
    """A profile, with the fields counted here. Times in microseconds."""

    nodes: list[ProfileNode] = msgspec.field(default_factory=list)
    start_time: float = 0
    end_time: float = 0
    samples: list[int] = msgspec.field(default_factory=list)


@reply("Profiler.stop")
class ProfileReply(msgspec.Struct):
    """The profile as Chrome wrote it."""

    profile: msgspec.Raw


# --- heap snapshots and counters ------------------------------------------------------------------------------


@event("HeapProfiler.addHeapSnapshotChunk")
class HeapSnapshotChunk(msgspec.Struct):
    """A piece of the snapshot's JSON."""

    chunk: str = ""


@event("HeapProfiler.reportHeapSnapshotProgress")
class HeapSnapshotReported(msgspec.Struct):
    """The progress of a heap snapshot."""

    done: int = 0
    total: int = 0


class Metric(msgspec.Struct):
    """One counter."""

    name: str
    value: float


@reply("Performance.getMetrics")
class MetricsReply(msgspec.Struct):
    """The counters of a page."""

    metrics: list[Metric] = msgspec.field(default_factory=list)
