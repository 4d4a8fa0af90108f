"""What every error is: an EngineError; and the one for arguments that can never work."""

from __future__ import annotations

import attrs


class EngineError(Exception):
    """The root of everything that cdpengine raises on purpose."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class InvalidArgument(EngineError, ValueError):
    """An argument that cannot work whatever the browser does; nothing was sent.

    `what` names the argument, `given` is its representation, `expected` says what would be right.
    """

    what: str
    given: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what}: {self.given} will not do; expected {self.expected}"
