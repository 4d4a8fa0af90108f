"""KeptRefs: the highest number of a ref that the shell printed, in a file that outlasts the service.

Rule: a number is on the disk before an answer shows a ref with it. So the next service, however the last one
ended, begins behind it, and an old ref never names another element. Numbers are kept in blocks: most answers write
nothing.
"""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import trio

from cdpengine._launch.private_files import write_private
from cdpengine._logs import get_logger

_BLOCK = 100
"""Numbers that are kept with one write. A service that is killed leaves the rest of its block unused."""

_log = get_logger("cdpengine.shell")


@attrs.define(eq=False)
class KeptRefs:
    """The number that is kept in the file `path`; 0 where no ref was printed yet."""

    path: Path
    last: int = 0
    _writing: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _failed: bool = attrs.field(default=False, alias="failed", kw_only=True)

    @classmethod
    async def load(cls, path: Path) -> KeptRefs:
        """Read the file. If it is damaged or cannot be written, begin behind all numbers that were printed.

        That is the time in seconds: a service does not give out a ref a second for all of its life.
        """
        number, failed = await trio.to_thread.run_sync(_load, path)
        return cls(path, number, failed=failed)

    async def keep(self, last: int) -> None:
        """Return once the numbers up to `last` are kept. A file that cannot be written is logged."""
        async with self._writing:
            if last <= self.last:
                return
            number = -(-last // _BLOCK) * _BLOCK
            try:
                await trio.to_thread.run_sync(_write, self.path, number)
            except OSError as error:
                if not self._failed:
                    _log.warning("the numbers of refs are lost when the service ends: %s", error)
                self._failed = True
            self.last = number


def _load(path: Path) -> tuple[int, bool]:
    """Return the number to begin behind, and whether the file cannot be written."""
    number = _read(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, b"%d\n" % number, overwrite=True)
    except OSError as error:
        _log.warning("the numbers of refs cannot be kept in a file, so they begin behind the time: %s", error)
        return max(number, int(time.time())), True
    return number, False


def _read(path: Path) -> int:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return 0
    except OSError as error:
        _log.warning("the numbers of refs cannot be read: %s", error)
        return int(time.time())
    return int(text) if text.strip().isdigit() and len(text) < _LONGEST else int(time.time())


_LONGEST = 17
"""Bytes of a file that is not damaged, at most."""


def _write(path: Path, number: int) -> None:
    """Write the number; a higher one that another service has written in the meantime stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists() or _read(path) < number:
        write_private(path, b"%d\n" % number, overwrite=True)
