"""The empty evaluation, which every page that can run scripts answers.

Rule: any reply proves that the page answers, including an error. The callers decide which errors mean more.
"""

from __future__ import annotations

from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import expression_command
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.session import Session

_NOTHING = own("0")


def post_empty_evaluation(session: Session) -> PendingCall:
    """Send an empty evaluation. Raises the error of an ended session."""
    method, params = expression_command(session, _NOTHING)
    return session.post(method, params)


def post_shared_empty_evaluation(session: Session) -> SharedCall:
    """Send an empty evaluation for several waiting tasks, as `post_empty_evaluation` does."""
    return session.post_shared(*expression_command(session, _NOTHING))
