"""Reading values that events left in the page, within a time that was given.

Rule: reading may run the page's own code (getters), which may not end: then it is terminated, in a shielded
and bounded step, before anybody is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import attrs
import trio

from cdpengine._activity.arguments import Unread, ValueReader
from cdpengine._budget import undoing, within
from cdpengine._protocol.domains.runtime import RemoteArgument
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, EngineError

_STOP = 1.0
"""Seconds that terminating a getter may take."""


async def read_values(
    session: Session,
    remote: Sequence[RemoteArgument],
    known: Sequence[Any],
    reader: ValueReader | None,
    timeout: float,
) -> tuple[Any, ...]:
    """Return `known` with each Unread replaced by its value, or by an Unread that says why it cannot be read.

    Raises DeadlineExceededError when the page does not answer in `timeout` seconds, ConnectionLostError.
    """
    values = list(known)
    with within("read what a page wrote", timeout):
        await trio.lowlevel.checkpoint()
        for index, value in enumerate(values):
            if isinstance(value, Unread):
                values[index] = await _read(session, remote[index], value, reader)
    return tuple(values)


async def _read(
    session: Session, argument: RemoteArgument, unread: Unread, reader: ValueReader | None
) -> Any:
    if argument.object_id is None or reader is None:
        return attrs.evolve(unread, reason="Chrome tells no more of it")
    try:
        return await reader(session, argument)
    except ConnectionLostError:
        raise
    except EngineError as error:
        return attrs.evolve(unread, reason=str(error))
    except (trio.Cancelled, KeyboardInterrupt):
        with (
            undoing(_STOP),
            suppress(EngineError),  # gone, with whatever it was running
        ):
            await session.call("Runtime.terminateExecution")
        raise
