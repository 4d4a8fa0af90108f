"""connect: attach to a browser that another program started. The engine never closes it.

Rule: after the block nothing remains of the objects it created: no session, context, task or connection.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

import trio

from cdpengine._activity.options import ActivityOptions
from cdpengine._api.attach import attach_websocket
from cdpengine._api.browser import Browser
from cdpengine._api.opening import check_activity, check_pause, check_recording
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
from cdpengine.errors.misuse import block
from cdpengine.errors.other_libraries import CONNECT
from cdpengine.errors.texts import duration


@block("cdpengine.connect(endpoint) as browser", CONNECT)
async def connect(
    endpoint: str,
    *,
    headers: Mapping[str, str] | None = None,
    recover_after: float | None = None,
    evaluate_enabled: bool = True,
    viewport: tuple[int, int] | None = DEFAULT_VIEWPORT,
    activity: bool | ActivityOptions | None = None,
    slow_mo: float = 0,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Connect to a running browser: "http://host:port", or its "ws://..." address.

    The end of the block closes the connection, never the browser. A tab that does not respond delays nothing.
    Dialogs, file choosers and focus of other clients' pages are untouched until the engine's first action on the
    page.

    Script termination uses a second connection if the address names one browser (/devtools/browser/<id>, which
    http://host:port returns for Chrome) and leads to that browser again. Otherwise it shares the first connection,
    for example with services that start a browser for each connection or allow only one. `recover_after`,
    `evaluate_enabled`, `activity` and `slow_mo` work as in `launch`. `viewport` does too, but only applies to
    pages that this program opens; other pages keep their size.

    Raises InvalidArgumentError for an invalid endpoint, ConnectFailedError if no browser answers there within
    `timeout`.
    """
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    size = check_viewport(viewport)
    activity_options = check_activity(activity)
    pause = check_pause(slow_mo)
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
                "not the address of one page",
            )
        secrets = [*secrets_in_endpoint(endpoint), *secrets_in_endpoint(resolved.ws_url)]
        secrets += secret_values(resolved.headers.items())
        async with attach_websocket(
            resolved, secrets, evaluate_enabled=evaluate_enabled, launched=False
        ) as browser:
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # the timeout may expire at the last moment
            browser.internals.emulations.set_default_viewport(size)
            browser.set_activity(activity_options)
            browser.internals.slow_mo = pause
            started()
            async with browser.internals.watch_pages(recover_after):
                yield browser
    if starting.cancelled_caught:
        raise ConnectFailedError(
            endpoint=redact_endpoint(endpoint), reason=f"no answer within {duration(timeout)}"
        )
