"""Values that console messages and errors left in the page, read as evaluate reads its values.

Rule: read on the session that told of them, where alone they have a name; what Chrome makes for the reading
is let go of afterwards.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Any

from cdpengine.errors import ConnectionLost, EvaluationFailed, RemoteError, SessionGone
from cdpengine.evaluate.receive import receive_value
from cdpengine.evaluate.results import EvaluateReply, RemoteObject
from cdpengine.protocol.runtime import RemoteArgument
from cdpengine.session.session import Session

_groups = itertools.count(1)

_GONE = (
    "Could not find object with given id",
    "Cannot find context with specified id",
    "Invalid remote object id",
)


async def read_argument(session: Session, argument: RemoteArgument) -> Any:
    """Return the value of an object in the page.

    Raises EvaluationFailed, ValueTooLarge, RemoteError, SessionGone, ConnectionLost.
    """
    group = f"cdpengine-console-{next(_groups)}"
    remote = RemoteObject(
        type=argument.type,
        subtype=argument.subtype,
        class_name=argument.class_name,
        description=argument.description,
        object_id=argument.object_id,
    )
    try:
        return await receive_value(session, EvaluateReply(result=remote), group)
    except RemoteError as error:
        if error.message.startswith(_GONE):
            raise EvaluationFailed(text="the page does not have it any more", threw=False) from None
        raise
    finally:
        with suppress(SessionGone, ConnectionLost):
            session.post("Runtime.releaseObjectGroup", objectGroup=group)
