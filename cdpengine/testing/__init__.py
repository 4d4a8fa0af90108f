"""Test tools for users of the engine: a scripted CDP peer, and runs that cancel an operation at each step.

Names are imported on first use, because pytest imports this package in every run, for its plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdpengine.testing.cancellation import walk_cancellations
    from cdpengine.testing.peer import SILENCE, Hold, Refusal, Request, ScriptedPeer

__all__ = ["SILENCE", "Hold", "Refusal", "Request", "ScriptedPeer", "walk_cancellations"]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cdpengine.testing import cancellation, peer

    value: object = getattr(cancellation if name == "walk_cancellations" else peer, name)
    globals()[name] = value
    return value
