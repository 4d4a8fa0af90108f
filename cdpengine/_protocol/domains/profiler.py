"""Profiler, Debugger, HeapProfiler and Performance: what a page's JavaScript is, runs, holds and costs."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, of_type, reply

# --- which parts of scripts ran -------------------------------------------------------------------------------


class CountedRange(msgspec.Struct, rename="camel"):
    """How often a part of a script ran; offsets in UTF-16 units."""

    start_offset: int
    end_offset: int
    count: int


class CountedFunction(msgspec.Struct):
    """The parts of one function."""

    ranges: list[CountedRange] = msgspec.field(default_factory=list)


class CountedScript(msgspec.Struct, rename="camel"):
    """The functions of one script that Chrome has counts of."""

    script_id: str
    functions: list[CountedFunction] = msgspec.field(default_factory=list)


@reply("Profiler.takePreciseCoverage")
class PreciseCoverage(msgspec.Struct):
    """The counts of all scripts; also what Chrome sends of the kind by itself."""

    result: list[CountedScript] = msgspec.field(default_factory=list)


class ScriptAuxData(msgspec.Struct, rename="camel"):
    """What kind of world a script is in."""

    is_default: bool = False


@event("Debugger.scriptParsed")
class ScriptParsed(msgspec.Struct, rename="camel"):
    """A script is there."""

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


# --- where time is spent --------------------------------------------------------------------------------------


class ProfileNode(msgspec.Struct, rename="camel"):
    """A place in the call tree. As far as it is counted here."""

    id: int = 0


@of_type("Profiler.Profile")
class Profile(msgspec.Struct, rename="camel"):
    """A profile, as far as it is counted here. Times in microseconds."""

    nodes: list[ProfileNode] = msgspec.field(default_factory=list)
    start_time: float = 0
    end_time: float = 0
    samples: list[int] = msgspec.field(default_factory=list)


@reply("Profiler.stop")
class ProfileReply(msgspec.Struct):
    """The profile as Chrome wrote it."""

    profile: msgspec.Raw


# --- what is held, and counters -------------------------------------------------------------------------------


@event("HeapProfiler.addHeapSnapshotChunk")
class HeapSnapshotChunk(msgspec.Struct):
    """A piece of the snapshot's JSON."""

    chunk: str = ""


@event("HeapProfiler.reportHeapSnapshotProgress")
class HeapSnapshotReported(msgspec.Struct):
    """How far Chrome is in looking at the heap."""

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
