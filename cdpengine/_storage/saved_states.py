"""SavedStates: storage states by name in a folder, encrypted.

Rule: the key comes from the environment, else from the file `key` in the folder, which the first save creates. The
key and the states are readable by their owner only. A state opens only under its own name. All methods block.
"""

from __future__ import annotations

import base64
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import attrs

from cdpengine._checks import invalid
from cdpengine._launch.private_files import write_private
from cdpengine._storage.encryption import KEY_BYTES, Cipher, key_of_text
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import FileNotWrittenError, FileUnreadableError, InvalidArgumentError, os_reason

KEY_VARIABLE = "CDPENGINE_STATE_KEY"
"""The environment variable with the key: 32 bytes, in base64 or as 64 hexadecimal digits."""

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_SUFFIX = ".state"
_KEY_FILE = "key"
_HEAD = b"cdpengine state 1\n"


@attrs.frozen
class SavedState:
    """A saved state: its name, the size of its file in bytes, and the time of the save in seconds since 1970."""

    name: str
    size: int
    time: float


@attrs.frozen
class SavedStates:
    """The states in a folder."""

    folder: Path

    def save(self, name: str, state: StorageState) -> None:
        """Save a state, and replace an older one of that name.

        Raises InvalidArgumentError for an invalid name or key, and FileNotWrittenError.
        """
        path = self._path(name)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sealed = Cipher(self._key(make=True)).seal(state.to_json(), _about(name))
            write_private(path, _HEAD + sealed)
        except OSError as error:
            raise FileNotWrittenError("the saved state", str(path), os_reason(error)) from error

    def load(self, name: str) -> StorageState:
        """Return a saved state. Raises InvalidArgumentError for an unknown name, and FileUnreadableError."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise invalid("state", name, self._expected()) from None
        except OSError as error:
            raise self._unreadable(path, os_reason(error)) from None
        if not data.startswith(_HEAD):
            raise self._unreadable(path, "it is not a saved state of this version")
        try:
            key = self._key(make=False)
        except OSError as error:
            raise self._unreadable(path, f"its key cannot be read ({os_reason(error)})") from None
        try:
            return StorageState.from_json(Cipher(key).open(data[len(_HEAD) :], _about(name)))
        except ValueError as error:
            raise self._unreadable(path, f"{error}: it has another key or name, or is damaged") from None

    def list(self) -> Sequence[SavedState]:
        """Return the saved states, by name."""
        found = []
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            described = path.stat()
            found.append(SavedState(path.name.removesuffix(_SUFFIX), described.st_size, described.st_mtime))
        return found

    def delete(self, name: str) -> None:
        """Delete a saved state. Raises InvalidArgumentError for an unknown name."""
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise invalid("state", name, self._expected()) from None

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            expected = "1 to 64 letters, digits, dots, dashes and underscores, the first one no dot"
            raise invalid("state", name, expected)
        return self.folder / f"{name}{_SUFFIX}"

    def _expected(self) -> str:
        names = [each.name for each in self.list()]
        return f"one of {', '.join(map(repr, names[:20]))}" if names else "a state that was saved before"

    def _key(self, *, make: bool) -> bytes:
        if text := os.environ.get(KEY_VARIABLE, "").strip():
            return _check_key(key_of_text(text), KEY_VARIABLE)
        path = self.folder / _KEY_FILE
        if make and not path.exists():
            encoded = base64.b64encode(os.urandom(KEY_BYTES)) + b"\n"
            with suppress(FileExistsError):  # another process created it
                write_private(path, encoded, overwrite=False)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InvalidArgumentError(
                "the key of saved states", f"{path}, which others can read", "mode 0600"
            )
        return _check_key(key_of_text(path.read_text("ascii", "replace")), str(path))

    def _unreadable(self, path: Path, reason: str) -> FileUnreadableError:
        return FileUnreadableError("a saved state", str(path), reason, advice="It was not applied")


def _check_key(key: bytes, place: str) -> bytes:
    if not key:
        expected = "32 bytes in base64, such as of: openssl rand -base64 32"
        raise InvalidArgumentError("the key of saved states", f"another value in {place}", expected)
    return key


def _about(name: str) -> str:
    return f"state {name}"
