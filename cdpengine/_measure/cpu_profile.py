"""CPU profile: where a page's JavaScript spends its time, as a .cpuprofile that Chrome's own tools open.

Rule: one profile a page at a time; it is stopped in every case. Where the page goes to another process, Chrome
begins anew, and the profile is of what came after.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs

from cdpengine._budget import undoing, within
from cdpengine._page.downloads.output_file import output_file
from cdpengine._protocol.calls import decode_reply
from cdpengine._protocol.domains.profiler import Profile, ProfileReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    MeasurementBusyError,
    MeasurementFailedError,
    RemoteError,
    SessionGoneError,
)

DEFAULT_INTERVAL = 0.001
"""Seconds between two samples, as Chrome has it by default."""

_PROFILED: set[Session] = set()
_STOP_TIMEOUT = 1.0
"""Seconds that stopping may take when the profile is not wanted any more."""


@attrs.frozen
class CpuProfile:
    """A profile that is whole: its JSON as Chrome wrote it, how many nodes and samples, how many seconds."""

    data: bytes = attrs.field(repr=False)
    nodes: int
    samples: int
    seconds: float


@attrs.define(eq=False)
class Profiling:
    """A profile under way. `profile` is there once its block has ended."""

    path: Path | None
    profile: CpuProfile | None = None


@asynccontextmanager
async def profile_cpu(
    session: Session, path: Path | None, interval: float, timeout: float, *, overwrite: bool
) -> AsyncIterator[Profiling]:
    """Profile while the body runs; then write it to `path`, if one is given.

    `interval` is seconds between samples. `timeout` is for the beginning, and again for the end. Raises
    MeasurementBusyError, MeasurementFailedError, and as `Session.call`. A body that fails or is cancelled leaves
    none.
    """
    if session in _PROFILED:
        raise MeasurementBusyError("a CPU profile", "of this page, by this program. End that one first")
    _PROFILED.add(session)
    profiling = Profiling(path)
    begun = False
    try:
        async with session.enabled("Profiler", wait=False):
            try:
                with within("start a CPU profile", timeout):
                    begun = True
                    await session.call("Profiler.setSamplingInterval", interval=max(1, round(interval * 1e6)))
                    await session.call("Profiler.start")
                yield profiling
                with within("end a CPU profile", timeout):
                    begun = False
                    profiling.profile = await _stop(session)
                    if path is not None:
                        async with output_file("the CPU profile", path, overwrite=overwrite) as file:
                            await file.write(profiling.profile.data)
            finally:
                if begun:
                    await _give_up(session)
    finally:
        _PROFILED.discard(session)


async def _stop(session: Session) -> CpuProfile:
    try:
        reply = await session.request("Profiler.stop", {}, ProfileReply)
    except RemoteError as error:
        raise MeasurementFailedError(
            "the CPU profile", "", f"another client ended it ({error.message})"
        ) from error
    data = bytes(reply.profile)
    profile = decode_reply("Profiler.stop", data, Profile)
    seconds = (profile.end_time - profile.start_time) / 1e6
    return CpuProfile(data, len(profile.nodes), len(profile.samples), seconds)


async def _give_up(session: Session) -> None:
    with undoing(_STOP_TIMEOUT), suppress(SessionGoneError, ConnectionLostError, RemoteError):
        await session.call("Profiler.stop")
