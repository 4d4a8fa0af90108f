"""Step traces of a page or a context: the block that records one.

Rule: the recorder is in `debug`, above this layer, and is loaded when a trace begins.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cdpengine._api.browser_state import BrowserState
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._checks import check_count, check_flag
from cdpengine._paths import to_path
from cdpengine.errors import packages_named

STEP_TRACE_LIMIT = 256_000_000
"""Default maximum size of a step trace, in bytes."""


@asynccontextmanager
async def trace_steps(
    scope: SettingScope,
    state: BrowserState,
    path: str | Path,
    *,
    film: bool,
    redacted: bool,
    keep_arguments: bool,
    limit: int,
    overwrite: bool,
    timeout: float,
) -> AsyncIterator[Path]:
    """Record the steps of the scope's pages during the block: `Page.trace_steps`, `BrowserContext.trace_steps`."""
    place = to_path("step trace", path)
    check_count("limit", limit, least=1, unit="bytes")
    for what, flag in (("film", film), ("redacted", redacted), ("keep_arguments", keep_arguments)):
        check_flag(what, flag)
    with packages_named():
        from cdpengine.debug.steps.step_recorder import record_steps
    async with scope.entering("begin a step trace", timeout):
        pass
    recording = record_steps(
        scope.page_scope, state.activities, state.instruments, place, product=state.version.product, film=film,
        redacted=redacted, keep_arguments=keep_arguments, limit=limit, overwrite=overwrite,
        timeout=timeout,
    )  # fmt: skip
    async with recording:
        yield place
