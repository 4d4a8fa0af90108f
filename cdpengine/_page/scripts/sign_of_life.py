"""The question that every page answers which can run scripts: evaluate nothing.

Rule: any reply proves that the page answers, an error too. The callers decide which errors say more.
"""

from __future__ import annotations

from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import expression_command
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.session import Session

_NOTHING = own("0")


def post_nothing(session: Session) -> PendingCall:
    """Have the page evaluate nothing. Raises why the session ended."""
    method, params = expression_command(session, _NOTHING)
    return session.post(method, params)


def post_shared_nothing(session: Session) -> SharedCall:
    """Do as `post_nothing`, for several tasks that wait for the answer."""
    method, params = expression_command(session, _NOTHING)
    if (error := session.error(method)) is not None:
        raise error
    return session.connection._post_shared(method, params, session.id)
