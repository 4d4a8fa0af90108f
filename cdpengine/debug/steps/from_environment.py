"""Step traces of whole browsers, which the environment variable CDPENGINE_TRACE requests.

Rule: no file is overwritten, unless CDPENGINE_RECORD_OVERWRITE=1. If the file exists, for example because a server
has started again, the trace takes the next free number: `shop.zip`, `shop-2.zip`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cdpengine._launch.private_files import is_taken
from cdpengine._page.page_scope import PageScope
from cdpengine.debug.recording.recording_file import number_recording
from cdpengine.debug.steps.step_recorder import LIMIT, record_steps

if TYPE_CHECKING:
    from cdpengine import Browser

PATH_VARIABLE = "CDPENGINE_TRACE"

_ENDING = 2.0
"""Maximum time at the end for the pages to answer the last readings, in seconds."""

_created: set[Path] = set()
"""Full paths of the step traces that this program has created."""


@asynccontextmanager
async def trace_from_environment(browser: Browser) -> AsyncIterator[None]:
    """Write a step trace of all pages of a browser during the block.

    CDPENGINE_RECORD_UNREDACTED=1 writes secrets, and CDPENGINE_RECORD_KEEP_ARGUMENTS=1 writes arguments and
    results of scripts. Raises the errors of `Page.trace_steps`.
    """
    overwrites = os.environ.get("CDPENGINE_RECORD_OVERWRITE") == "1"
    path = _next_path(overwrites=overwrites)
    _created.add(path.absolute())
    state = browser.internals
    recording = record_steps(
        PageScope(state.tabs, lambda _page: True), state.activities, browser.instruments, path,
        product=browser.version.product, film=True,
        redacted=os.environ.get("CDPENGINE_RECORD_UNREDACTED") != "1",
        keep_arguments=os.environ.get("CDPENGINE_RECORD_KEEP_ARGUMENTS") == "1",
        limit=LIMIT, overwrite=overwrites, timeout=_ENDING * 2,
    )  # fmt: skip
    async with recording:
        yield


def _next_path(*, overwrites: bool) -> Path:
    """Return the first numbered name that is free, or that this program may overwrite."""
    named = Path(os.environ[PATH_VARIABLE])
    every = (number_recording(named, number) for number in itertools.count(1))
    return next(
        path for path in every if path.absolute() not in _created and (overwrites or not is_taken(path))
    )
