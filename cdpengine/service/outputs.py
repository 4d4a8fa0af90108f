"""Outputs: the folder of what is too long for an answer: written whole, named in it, and read part by part.

Rule: nothing is cut in silence. The folder is one of this user's alone (0700), its files too (0600); only files
directly in it are read back, never a link. A folder that was named is kept; a temporary one is removed at the end,
or, where the program was killed, by a later one's start. When there is more than MOST_BYTES, the oldest go first.
"""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from cdpengine._launch.owned_folder import OUTPUTS_PREFIX, OwnedFolder, remove_owned
from cdpengine._launch.private_files import new_file
from cdpengine.errors import InvalidArgumentError

MOST_BYTES = 500_000_000
"""What the folder may hold, in bytes, before the oldest of its files are removed."""

_CONTEXT = 80
"""Characters on each side of what was searched for."""

_MOST_FOUND = 20
_LISTED = 20


@attrs.define(eq=False)
class Outputs:
    """Files of one server. `path` is their folder."""

    path: Path
    most_bytes: int = MOST_BYTES
    _numbers: itertools.count[int] = attrs.field(factory=lambda: itertools.count(1))

    async def write(self, what: str, suffix: str, content: bytes) -> Path:
        """Write a file of its own, and return its path. Raises OSError. Cancelled, it is written or not there."""
        return await trio.to_thread.run_sync(self._write, what, suffix, content)

    def _write(self, what: str, suffix: str, content: bytes) -> Path:
        while True:
            path = self.path / f"{what}-{next(self._numbers)}{suffix}"
            try:
                with new_file(path, overwrite=False) as stream:
                    stream.write(content)
            except FileExistsError:  # of a server before, in a folder that is kept
                continue
            self._make_room(path)
            return path

    def _make_room(self, latest: Path) -> None:
        """Remove the oldest files until the rest is within the bound. What was written just now stays."""
        found = [(each.stat(), each) for each in self._files() if each != latest]
        left = sum(about.st_size for about, _ in found) + latest.stat().st_size - self.most_bytes
        for about, each in sorted(found, key=lambda pair: pair[0].st_mtime_ns):
            if left <= 0:
                return
            each.unlink(missing_ok=True)
            left -= about.st_size

    def _files(self) -> list[Path]:
        return [
            each
            for each in self.path.iterdir()
            if stat.S_ISREG(each.lstat().st_mode) and "-" in each.name and not each.name.startswith(".")
        ]

    async def read(self, name: str, *, offset: int, chars: int) -> tuple[str, int]:
        """Return a part of a file, and how many characters the file has.

        Raises InvalidArgumentError for a file that is not one of these, or holds no text, and OSError.
        """
        text = await trio.to_thread.run_sync(self._read, name)
        return text[offset : offset + chars], len(text)

    async def find(self, name: str, words: str) -> tuple[list[tuple[int, str]], int]:
        """Return where in a file some words stand, in any case of letters, with what is around; and how often.

        Raises as `read` does.
        """
        text = await trio.to_thread.run_sync(self._read, name)
        folded, wanted = text.lower(), words.lower()
        if len(folded) != len(text):  # some letters are longer in lower case, and places would be others
            folded, wanted = text, words
        places: list[int] = []
        at = folded.find(wanted)
        while at >= 0:
            places.append(at)
            at = folded.find(wanted, at + len(wanted))
        found = [
            (each, text[max(each - _CONTEXT, 0) : each + len(words) + _CONTEXT])
            for each in places[:_MOST_FOUND]
        ]
        return found, len(places)

    def _read(self, name: str) -> str:
        path = self.path / Path(name).name
        known = {each.name for each in self._files()}
        if Path(name).parent not in (Path(), self.path) or path.name not in known:
            listed = ", ".join(sorted(known)[:_LISTED])
            raise InvalidArgumentError(
                what="output.file",
                given=repr(name)[:80],
                expected=f"one of {listed}" if listed else "a file that an answer named: there is none yet",
            )
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            content = file.read()
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidArgumentError(
                what="output.file",
                given=f"{path.name}, which holds {len(content):,} bytes that are not text",
                expected="a file with text",
            ) from None


@asynccontextmanager
async def open_outputs(folder: Path | None = None) -> AsyncIterator[Outputs]:
    """Give a folder for outputs while the block runs: `folder`, made if need be and kept, or a temporary one.

    Raises OSError, and InvalidArgumentError for a folder that others can write to or that is not this user's.
    """
    if folder is not None:
        yield Outputs(await trio.to_thread.run_sync(_make, folder))
        return
    owned = await trio.to_thread.run_sync(OwnedFolder.make, OUTPUTS_PREFIX)
    try:
        yield Outputs(owned.path)
    finally:
        remove_owned(owned.path)
        owned.release()


def _make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    about = folder.stat()
    if os.name == "posix" and (about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o022):
        raise InvalidArgumentError(
            what="the folder for outputs",
            given=f"{folder}, which others can write to",
            expected="one of this user's alone: remove it, or chmod 700",
        )
    return folder.resolve()
