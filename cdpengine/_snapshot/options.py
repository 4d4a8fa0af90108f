"""SnapshotOptions: what a snapshot is to show, in which mode, and how much of it.

Rule: what cannot be, or would do nothing in the chosen mode, is refused when it is asked for.
"""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from cdpengine.errors import InvalidArgumentError

Mode = Literal["role", "ai", "aria", "numbered", "webarena"]
"""How a snapshot reads. Each mode's file says what a line of it is."""

_MODES: tuple[str, ...] = get_args(Mode)

RefsFor = Literal["actions", "all"]
"""What gets a ref: what can be acted on and named content, or every shown element."""

AX_MODES = frozenset({"aria", "webarena"})
"""Modes that show the accessibility tree itself: they need `Document.ax`."""


def _not_negative(_: object, attribute: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InvalidArgumentError(
            what=attribute.name, given=repr(value), expected="0 or more, or None for no limit"
        )


@attrs.frozen(kw_only=True)
class SnapshotOptions:
    """What to show. Raises InvalidArgumentError for what cannot be, such as a negative limit.

    mode: role (indented lines), ai (YAML), aria (the accessibility tree, for debugging), numbered (flat
        numbers), webarena (as WebArena's agents read it).
    interactive: only what can be acted on; indented under other such nodes only.
    compact: without the unnamed structural lines that group fewer than two lines, or that hold no ref.
    max_depth: leave out lines that are indented deeper than this; 0 keeps the outermost lines.
    max_chars: cut at a line end, so that the text has at most this many characters, the remark about what was
        left out included (the remark is there even when it alone is longer).
    max_tokens: the same in tokens of a language model, as `size.estimate_tokens` counts them.
    refs: "actions" gives refs to what can be acted on, and to content that has a name (headings, images, items);
        "all" to every element that has a line. Texts have none, and what Chrome does not show (`ignored`).
    ignored: in mode aria, also the nodes that Chrome's tree holds but does not show, with Chrome's reasons.

    `interactive` and `compact` are for the modes role, ai and numbered.
    """

    mode: Mode = "role"
    interactive: bool = False
    compact: bool = False
    max_depth: int | None = attrs.field(default=None, validator=_not_negative)
    max_chars: int | None = attrs.field(default=None, validator=_not_negative)
    max_tokens: int | None = attrs.field(default=None, validator=_not_negative)
    ignored: bool = False
    refs: RefsFor = "actions"

    def __attrs_post_init__(self) -> None:
        if self.mode not in _MODES:
            raise InvalidArgumentError(
                what="mode", given=repr(self.mode), expected=f"one of {', '.join(get_args(Mode))}"
            )
        if self.refs not in get_args(RefsFor):
            raise InvalidArgumentError(
                what="refs", given=repr(self.refs), expected=f"one of {', '.join(get_args(RefsFor))}"
            )
        if self.ignored and self.mode != "aria":
            raise InvalidArgumentError(what="ignored", given="True", expected='False, or mode="aria" with it')
        for name in ("interactive", "compact"):
            if getattr(self, name) and self.mode in AX_MODES:
                raise InvalidArgumentError(
                    what=name, given="True", expected=f"False in mode {self.mode}, which shows all there is"
                )
