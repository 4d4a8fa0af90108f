"""Runtime: what scripts do: messages, exceptions, calls to bindings; and how their values are described.

Rule: lines and columns count from 0, as Chrome counts them.
"""

from __future__ import annotations

import msgspec


class StackFrame(msgspec.Struct, frozen=True, rename="camel"):
    """One frame (`Runtime.CallFrame`): a function ("" for none or an anonymous one) at a place of a script."""

    function_name: str = ""
    url: str = ""
    line_number: int = 0
    column_number: int = 0

    def __str__(self) -> str:
        return f"{self.function_name or '<anonymous>'} ({self.url}:{self.line_number}:{self.column_number})"


class StackTrace(msgspec.Struct, rename="camel"):
    """`description` says how the parent led to it, such as "Promise.then"."""

    call_frames: list[StackFrame] = []
    description: str = ""
    parent: StackTrace | None = None
