"""Stacks: where in the page's scripts something was done. Data, and pure.

Rule: lines and columns count from 0, as Chrome counts them. What led to a stack asynchronously stands behind
it.
"""

from __future__ import annotations

from cdpengine._protocol.domains.runtime import StackFrame, StackTrace

_MOST_PARENTS = 32


def frames_of(stack: StackTrace | None) -> tuple[StackFrame, ...]:
    """Return all frames, the innermost first, then those that led to them."""
    frames: list[StackFrame] = []
    for _ in range(_MOST_PARENTS):
        if stack is None:
            break
        frames += stack.call_frames
        stack = stack.parent
    return tuple(frames)
