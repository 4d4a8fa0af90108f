"""Outputs: a folder of files with long results, which can be read in parts.

Rule: no content is lost: a result names the file that has all of it. The folder is private to the user (0700), its
files too (0600). Only files directly in it can be read, and no links. A folder that the caller named is kept; a
temporary one is removed at the end or, if the program was killed, by a later start. Beyond MOST_BYTES, the oldest
files are removed first.
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

from cdpengine._checks import invalid
from cdpengine._launch.owned_folder import OUTPUTS_PREFIX, OwnedFolder, remove_owned
from cdpengine._launch.private_files import new_file
from cdpengine.errors import InvalidArgumentError

MOST_BYTES = 500_000_000
"""Maximum size of all files, in bytes, before the oldest are removed."""

_CONTEXT = 80
"""Characters of context on each side of a match."""

_MOST_FOUND = 20
_LISTED = 20


@attrs.define(eq=False)
class Outputs:
    """The files of one server. `path` is their folder."""

    path: Path
    most_bytes: int = MOST_BYTES
    _numbers: itertools.count[int] = attrs.field(factory=lambda: itertools.count(1))

    async def write(self, what: str, suffix: str, content: bytes) -> Path:
        """Write a new file, and return its path. Raises OSError. If cancelled, the file is complete or absent."""
        return await trio.to_thread.run_sync(self._write, what, suffix, content)

    def _write(self, what: str, suffix: str, content: bytes) -> Path:
        while True:
            path = self.path / f"{what}-{next(self._numbers)}{suffix}"
            try:
                with new_file(path, overwrite=False) as stream:
                    stream.write(content)
            except FileExistsError:  # of an earlier server, in a folder that was kept
                continue
            self._make_room(path)
            return path

    def _make_room(self, latest: Path) -> None:
        """Remove the oldest files until the size is within the limit. Keep `latest`."""
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
        """Return a part of a file, and the file's length in characters.

        Raises OSError, and InvalidArgumentError for a file that is not in the folder or not text.
        """
        text = await trio.to_thread.run_sync(self._read, name)
        return text[offset : offset + chars], len(text)

    async def find(self, name: str, words: str) -> tuple[list[tuple[int, str]], int]:
        """Return the matches of `words` in a file with their context, and the number of matches. Ignores case.

        Raises the errors of `read`.
        """
        text = await trio.to_thread.run_sync(self._read, name)
        folded, searched = text.lower(), words.lower()
        if len(folded) != len(text):  # some letters are longer in lower case, which shifts positions
            folded, searched = text, words
        places: list[int] = []
        at = folded.find(searched)
        while at >= 0:
            places.append(at)
            at = folded.find(searched, at + len(searched))
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
            expected = f"one of {listed}" if listed else "a file named in a result (none yet)"
            raise invalid("output.file", name, expected)
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            content = file.read()
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidArgumentError(
                what="output.file",
                given=f"{path.name}, which has {len(content):,} bytes that are not text",
                expected="a file with text",
            ) from None


@asynccontextmanager
async def open_outputs(folder: Path | None = None) -> AsyncIterator[Outputs]:
    """Open a folder for outputs: `folder`, created if needed and kept, or a temporary one.

    Raises OSError, and InvalidArgumentError for a folder that others can write to or that another user owns.
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
            expected="a private folder of this user: remove it, or chmod 700",
        )
    return folder.resolve()
