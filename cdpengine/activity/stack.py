"""Stacks: where in the page's scripts something was done. Data, and pure.

Rule: lines and columns count from 0, as Chrome counts them. What led to a stack asynchronously stands behind
it.
"""

from __future__ import annotations

import msgspec

_MOST_PARENTS = 32


class StackFrame(msgspec.Struct, frozen=True, rename="camel"):
    """One frame: a function ("" for none or an anonymous one) at a place of a script."""

    function_name: str = ""
    url: str = ""
    line_number: int = 0
    column_number: int = 0

    def __str__(self) -> str:
        return f"{self.function_name or '<anonymous>'} ({self.url}:{self.line_number}:{self.column_number})"


class StackTrace(msgspec.Struct, rename="camel"):
    """`Runtime.StackTrace`. `description` says how the parent led to it, such as "Promise.then"."""

    call_frames: list[StackFrame] = []
    description: str = ""
    parent: StackTrace | None = None


def frames_of(stack: StackTrace | None) -> tuple[StackFrame, ...]:
    """Return all frames, the innermost first, then those that led to them."""
    frames: list[StackFrame] = []
    for _ in range(_MOST_PARENTS):
        if stack is None:
            break
        frames += stack.call_frames
        stack = stack.parent
    return tuple(frames)
