"""Cassettes: a program's traffic recorded once, with a browser, and replayed from then on, without one.

Rule: in both ways the program gets an endpoint and connects to it, so that it does the same. A recording is put
into its place only when the program came to its end: a run that failed leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import attrs

from cdpengine._launch.find import find_browser
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine.debug.proxying.proxy_server import proxy
from cdpengine.debug.replaying.replay_server import PATIENCE, replay
from cdpengine.errors import InvalidArgumentError


@attrs.frozen
class Cassette:
    """What a program runs against: `endpoint` is a browser's, or a recording's, as `mode` says."""

    path: Path
    mode: Literal["record", "replay"]
    endpoint: str


@asynccontextmanager
async def cassette(
    path: str | Path,
    *,
    record: bool | None = None,
    executable: str | Path | None = None,
    unredacted: bool = False,
    keep_arguments: bool = False,
    complete: bool = False,
    patience: float = PATIENCE,
    strict: bool = True,
) -> AsyncIterator[Cassette]:
    """Give an endpoint that behaves as `path` says; without such a file, record it with a browser that is started.

    `record` True records it anew, False never does; None records when the file is absent. `executable` chooses the
    browser as in `launch`; secrets are redacted unless `unredacted`, and texts that the program's own scripts are
    given and return are withheld unless `keep_arguments`. `complete`, `patience` and `strict` as in `replay`: with
    `strict`, the program must enter the texts that it entered when it was recorded.

    Raises ReplayDivergedError when the program asks something else than when it was recorded, InvalidArgumentError
    when there is nothing to replay, RecordingDamagedError, and what starting a browser raises.
    """
    path = Path(path)
    if record is None:
        record = not path.exists()
    if not record:
        async with replay(path, complete=complete, patience=patience, strict=strict) as running:
            yield Cassette(path, "replay", running.endpoint)
        return
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            what="cassette", given=str(path), expected="a file in a folder that exists"
        )
    # The name ends as the other does: that decides whether it is compressed.
    taking = path.with_name(f".taking-{path.name}")
    taking.unlink(missing_ok=True)  # of a program that was killed
    try:
        async with (
            start_browser(LaunchOptions(executable=find_browser(executable).path)) as process,
            proxy(
                process.endpoint or "",
                record=taking,
                unredacted=unredacted,
                keep_arguments=keep_arguments,
                limit=0,
                overwrite=True,
            ) as running_proxy,
        ):
            yield Cassette(path, "record", running_proxy.endpoint)
        taking.replace(path)
    finally:
        taking.unlink(missing_ok=True)
