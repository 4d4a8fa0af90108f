"""connect: to a browser that somebody else started, which is never closed.

Rule: after the block nothing is left of what it made there: no session, no context, no task, no connection.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio

from cdpengine._activity.bodies import ActivityOptions
from cdpengine._api.attach_websocket import attach_websocket
from cdpengine._api.browser import Browser
from cdpengine._api.opening import check_activity, check_recording
from cdpengine._budget import Budget, check_seconds
from cdpengine._emulation.options import DEFAULT_VIEWPORT, check_viewport
from cdpengine._launch.endpoint import (
    ResolvedEndpoint,
    redact_endpoint,
    resolve_endpoint,
    secrets_in_endpoint,
)
from cdpengine._network.messages import secret_values
from cdpengine._protocol.http_connections import lacking
from cdpengine.errors import ConnectFailedError, InvalidArgumentError, shortages_named


@asynccontextmanager
async def connect(
    endpoint: str,
    *,
    headers: Mapping[str, str] | None = None,
    recover_after: float | None = None,
    evaluate_enabled: bool = True,
    viewport: tuple[int, int] | None = DEFAULT_VIEWPORT,
    activity: bool | ActivityOptions | None = None,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Connect to a running browser: "http://host:port", or its own "ws://..." address.

    Leaving the block closes the connection, never the browser. A tab that is stuck holds up nothing. Pages of
    other clients are left alone until the engine's first action on them: their dialogs, file choosers and focus.

    What stops scripts has a second connection where the address names one browser (/devtools/browser/<id>, as http://host:port
    gives for Chrome) and that browser is reached again. Elsewhere, as at services that start a browser for each
    connection or allow only one, it is on the first one.
    `recover_after`, `evaluate_enabled` and `activity` as in `launch`; so is `viewport`, for the pages that this
    program opens. Pages of other clients keep theirs.

    Raises InvalidArgumentError for an invalid endpoint, ConnectFailedError when no browser answers there in
    `timeout`.
    """
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    size = check_viewport(viewport)
    activity_options = check_activity(activity)
    budget = Budget.start("connect", timeout)
    check_recording()
    resolved: ResolvedEndpoint | None = None
    with (
        budget.scope() as starting,
        shortages_named(lambda shortage: lacking(redact_endpoint(endpoint), shortage)) as started,
    ):
        resolved = await resolve_endpoint(endpoint, headers)
        if "/devtools/page/" in urlsplit(resolved.ws_url).path:
            raise InvalidArgumentError(
                what="endpoint",
                given=redact_endpoint(endpoint),
                expected="the browser's address (ws://host:port/devtools/browser/..., or http://host:port), "
                "not that of one page",
            )
        secrets = [*secrets_in_endpoint(endpoint), *secrets_in_endpoint(resolved.ws_url)]
        secrets += secret_values(resolved.headers.items())
        async with attach_websocket(
            resolved, secrets, evaluate_enabled=evaluate_enabled, launched=False
        ) as browser:
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # it was over in the very last moment
            browser._set_default_viewport(size)  # noqa: SLF001 - no part of what users have
            browser.set_activity(activity_options)
            started()
            async with browser._watch_pages(recover_after):  # noqa: SLF001 - as above
                yield browser
    if starting.cancelled_caught:
        raise ConnectFailedError(endpoint=redact_endpoint(endpoint), reason=f"no answer within {timeout:g} s")
