"""What Chrome tells of coverage: messages of Profiler, Debugger and CSS, as far as they are read. Data."""

from __future__ import annotations

import msgspec


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


class PreciseCoverage(msgspec.Struct):
    """The reply to `Profiler.takePreciseCoverage`, and what Chrome sends of the kind by itself."""

    result: list[CountedScript] = msgspec.field(default_factory=list)


class AuxData(msgspec.Struct, rename="camel"):
    """What kind of world a script is in."""

    is_default: bool = False


class ScriptParsed(msgspec.Struct, rename="camel"):
    """A script is there."""

    script_id: str
    url: str = ""
    start_line: int = 0
    start_column: int = 0
    length: int = 0
    hash: str = ""
    script_language: str = "JavaScript"
    execution_context_aux_data: AuxData = msgspec.field(default_factory=AuxData)


class ScriptSource(msgspec.Struct, rename="camel"):
    """The reply to `Debugger.getScriptSource`."""

    script_source: str = ""


class SheetHeader(msgspec.Struct, rename="camel"):
    """A style sheet, without its text."""

    style_sheet_id: str
    source_url: str = msgspec.field(default="", name="sourceURL")
    origin: str = "regular"
    start_line: float = 0
    start_column: float = 0
    length: float = 0


class StyleSheetAdded(msgspec.Struct):
    """A style sheet is there."""

    header: SheetHeader


class SheetText(msgspec.Struct):
    """The reply to `CSS.getStyleSheetText`."""

    text: str = ""


class RuleUsage(msgspec.Struct, rename="camel"):
    """A rule, and whether it matched anything; offsets in UTF-16 units of its sheet."""

    style_sheet_id: str
    start_offset: float
    end_offset: float
    used: bool = False


class CoverageDelta(msgspec.Struct):
    """The reply to `CSS.takeCoverageDelta`."""

    coverage: list[RuleUsage] = msgspec.field(default_factory=list)
