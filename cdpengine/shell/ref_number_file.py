"""RefNumberFile: the highest ref number that the shell printed, in a file that outlives the service.

Rule: the file has a number before the shell prints a ref with it. So the next service starts above that number,
even after a kill, and an old ref never names another element. Numbers are written in blocks of 100, so most
answers write nothing.
"""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import trio

from cdpengine._launch.private_files import write_private
from cdpengine._logs import get_logger

_BLOCK = 100
"""Numbers of one write. If a service is killed, the rest of its block stays unused."""

_log = get_logger("cdpengine.shell")


@attrs.define(eq=False)
class RefNumberFile:
    """The highest printed ref number, stored in the file `path`; 0 if no ref was printed yet."""

    path: Path
    last: int = 0
    _writing: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _failed: bool = attrs.field(default=False, alias="failed", kw_only=True)

    @classmethod
    async def load(cls, path: Path) -> RefNumberFile:
        """Read the file. If it is damaged or cannot be written, start above all numbers that were printed.

        That number is the time in seconds since 1970. It is high enough, because no service assigns a ref every
        second.
        """
        number, failed = await trio.to_thread.run_sync(_load, path)
        return cls(path, number, failed=failed)

    async def keep(self, last: int) -> None:
        """Make sure that the file has a number of at least `last`. If it cannot be written, log that once."""
        async with self._writing:
            if last <= self.last:
                return
            number = -(-last // _BLOCK) * _BLOCK
            try:
                await trio.to_thread.run_sync(_write, self.path, number)
            except OSError as error:
                if not self._failed:
                    _log.warning(
                        "cannot write the highest ref number; it is lost when the service ends: %s", error
                    )
                self._failed = True
            self.last = number


def _load(path: Path) -> tuple[int, bool]:
    """Return the number to start above, and whether the file cannot be written."""
    number = _read(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, b"%d\n" % number, overwrite=True)
    except OSError as error:
        _log.warning(
            "cannot write the highest ref number, so new refs begin at the time in seconds: %s", error
        )
        return max(number, int(time.time())), True
    return number, False


def _read(path: Path) -> int:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return 0
    except OSError as error:
        _log.warning("cannot read the highest ref number: %s", error)
        return int(time.time())
    return int(text) if text.strip().isdigit() and len(text) < _LONGEST else int(time.time())


_LONGEST = 17
"""Maximum size of an undamaged file, in bytes."""


def _write(path: Path, number: int) -> None:
    """Write the number; a higher one that another service has written in the meantime stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists() or _read(path) < number:
        write_private(path, b"%d\n" % number, overwrite=True)
