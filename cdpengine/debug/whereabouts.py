"""Whereabouts: which target each session of a recording belongs to, and the URL it was last at. Pure.

Rule: what a recording says when a session begins is often "about:blank"; what the browser tells of the target
later is what people know it by. Bounded: beyond `most` sessions no more are learned.
"""

from __future__ import annotations

import attrs
import msgspec

from cdpengine.debug.recording import Line

MOST = 5_000


@attrs.define
class Whereabouts:
    """A target: its id, its type, the latest URL that is not about:blank."""

    target: str = ""
    type: str = ""
    url: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.url}".strip()


NOWHERE = Whereabouts()


class _TargetInfo(msgspec.Struct, rename="camel"):
    target_id: str = ""
    url: str = ""


class _Changed(msgspec.Struct, rename="camel"):
    target_info: _TargetInfo = msgspec.field(default_factory=_TargetInfo)


class _Event(msgspec.Struct):
    params: _Changed = msgspec.field(default_factory=_Changed)


_decode = msgspec.json.Decoder(_Event).decode


class Directory:
    """Learns from the lines of one recording, in their order."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sessions: dict[tuple[str, str], Whereabouts] = {}
        self._targets: dict[str, Whereabouts] = {}

    def learn(self, line: Line) -> None:
        """Take what a line says of targets; most say nothing."""
        if line.k == "target":
            if (line.c, line.s) not in self._sessions and len(self._sessions) < self._most:
                told = Whereabouts(line.T, line.type, line.url)
                self._sessions[line.c, line.s] = self._targets.setdefault(line.T, told)
            self._move(line.T, line.url)
        elif line.m == "Target.targetInfoChanged" and line.k == "event":
            try:
                info = _decode(line.msg).params.target_info
            except (msgspec.DecodeError, UnicodeDecodeError):
                return  # a name is missing then, nothing else
            self._move(info.target_id, info.url)

    def of(self, connection: str, session: str) -> Whereabouts:
        """Return the whereabouts of a session, empty when nothing was told of it."""
        return self._sessions.get((connection, session), NOWHERE)

    def _move(self, target: str, url: str) -> None:
        known = self._targets.get(target)
        if known is not None and url and (url != "about:blank" or not known.url):
            known.url = url
