"""Responses as HTTP: the status code of each response.

Rule: the body is the same JSON for every path; the status is a hint for clients that do not parse it. If the
engine understood a request but its script or page failed, the status is 422.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from cdpengine.act import ActResponse, Failure
from cdpengine.service.session import SessionRefusedError
from cdpengine.service.sessions import PROFILE

STATUS: Mapping[str, int] = {
    "invalidArgument": 400,
    "actionSyntax": 400,
    "evaluationDisabled": 403,
    "urlRefused": 403,
    "profilesDisabled": 403,
    "staleRef": 409,
    "busy": 503,
    "connectionLost": 502,
    "sessionGone": 502,
    "targetCrashed": 502,
    "launchFailed": 502,
    "connectFailed": 502,
    "protocol": 502,
}
"""HTTP status by the kind of error; all others are 422."""

UNPROCESSABLE = 422


def status_of(response: ActResponse) -> int:
    """Return the HTTP status of a response."""
    return 200 if response.error is None else STATUS.get(response.error.kind, UNPROCESSABLE)


def refuse_url(response: ActResponse, reason: str, remedy: str) -> ActResponse:
    """Return the response to a navigation that the policy blocked.

    `remedy` is the setting that would allow the URL; "" if none would.
    """
    hint = f"Go to another URL, or use {remedy}." if remedy else "Go to another URL."
    return _with_error(response, "urlRefused", reason, hint)


def answer_gone(response: ActResponse, session: str) -> ActResponse:
    """Return the response to a request whose session's browser ended during it or before it."""
    lost = "its pages" if session.startswith(PROFILE) else "its pages and its cookies"
    reason = f"the browser ended, and with it this session, {lost}. The request was not at fault"
    hint = "A navigate request begins a new session. Log in again if needed."
    return _with_error(response, "sessionGone", reason, hint)


def add_reason(response: ActResponse, reason: str) -> ActResponse:
    """Add a reason that another part of the service knows to a failure."""
    assert response.error is not None
    error = attrs.evolve(response.error, message=f"{response.error.message} ({reason})")
    return attrs.evolve(response, error=error)


def answer_busy(kind: str, reason: str) -> ActResponse:
    """Return the response to a request that exceeds the service's capacity."""
    failure = Failure(kind="busy", message=reason, hint="Try again later.", retryable=True)
    return ActResponse(kind=kind, ok=False, error=failure)


def answer_refused(kind: str, refused: SessionRefusedError) -> ActResponse:
    """Return the response to a request whose session does not exist and cannot be created."""
    failure = Failure(
        kind=refused.kind, message=refused.message, hint=refused.hint, retryable=refused.retryable
    )
    return ActResponse(kind=kind, ok=False, error=failure)


def _with_error(response: ActResponse, kind: str, message: str, hint: str) -> ActResponse:
    changed: dict[str, Any] = {"ok": False, "result": None}
    failure = Failure(kind=kind, message=message, hint=hint, retryable=False)
    return attrs.evolve(response, error=failure, **changed)
