"""Test tools for users of the engine: a scripted CDP peer, and runs that cancel an operation at each step."""

from cdpengine.testing.cancellation import walk_cancellations
from cdpengine.testing.peer import SILENCE, Hold, Refusal, Request, ScriptedPeer

__all__ = ["SILENCE", "Hold", "Refusal", "Request", "ScriptedPeer", "walk_cancellations"]
