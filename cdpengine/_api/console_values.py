"""Values that console messages and errors left in the page, read as evaluate reads its values.

Rule: read on the session that told of them, where alone they have a name; what Chrome makes for the reading
is let go of afterwards.
"""

from __future__ import annotations

from typing import Any

from cdpengine._evaluate.results import receive_value
from cdpengine._page.scripts.page_functions import object_group
from cdpengine._protocol.domains.runtime import EvaluateReply, RemoteArgument, RemoteObject
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationFailedError, RemoteError

_GONE = (
    "Could not find object with given id",
    "Cannot find context with specified id",
    "Invalid remote object id",
)


async def read_argument(session: Session, argument: RemoteArgument) -> Any:
    """Return the value of an object in the page.

    Raises EvaluationFailedError, ValueTooLargeError, RemoteError, SessionGoneError, ConnectionLostError.
    """
    remote = RemoteObject(
        type=argument.type,
        subtype=argument.subtype,
        class_name=argument.class_name,
        description=argument.description,
        object_id=argument.object_id,
    )
    with object_group("console") as group:
        try:
            return await receive_value(session, EvaluateReply(result=remote), group)
        except RemoteError as error:
            if error.message.startswith(_GONE):
                raise EvaluationFailedError(text="the page does not have it any more", threw=False) from None
            raise
