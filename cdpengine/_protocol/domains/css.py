"""CSS: style sheets and the usage of their rules."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, reply


class StyleSheetHeader(msgspec.Struct, rename="camel"):
    """A style sheet, without its text."""

    style_sheet_id: str
    source_url: str = msgspec.field(default="", name="sourceURL")
    origin: str = "regular"
    start_line: float = 0
    start_column: float = 0
    length: float = 0


@event("CSS.styleSheetAdded")
class StyleSheetAdded(msgspec.Struct):
    """A style sheet was added."""

    header: StyleSheetHeader


@reply("CSS.getStyleSheetText")
class StyleSheetTextReply(msgspec.Struct):
    """The text of a style sheet."""

    text: str = ""


class RuleUsage(msgspec.Struct, rename="camel"):
    """A rule, and whether it matched an element; offsets in UTF-16 units of its sheet."""

    style_sheet_id: str
    start_offset: float
    end_offset: float
    used: bool = False


@reply("CSS.takeCoverageDelta")
class CoverageDelta(msgspec.Struct):
    """The rules that were used since the last delta."""

    coverage: list[RuleUsage] = msgspec.field(default_factory=list)
