"""Storage states on disk: read whole or not at all, written whole or not at all, for their owner's eyes only.

Rule: a file that is there stays as it is until the new one is whole on disk; both are never readable by others.
Blocks: call it in a thread.
"""

from __future__ import annotations

from pathlib import Path

from cdpengine._launch.private_files import write_private
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import StateFileInvalidError, StateFileNotWrittenError, os_reason

_LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is read."""


def read_state(path: Path) -> StorageState:
    """Return the state that a file holds. Raises StateFileInvalidError."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise StateFileInvalidError(path=str(path), reason=os_reason(error)) from None
    if len(raw) > _LARGEST:
        raise StateFileInvalidError(path=str(path), reason=f"it has more than {_LARGEST} bytes")
    try:
        return StorageState.from_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StateFileInvalidError(path=str(path), reason="it is no UTF-8 text") from None
    except ValueError as error:
        raise StateFileInvalidError(path=str(path), reason=str(error)) from None


def write_state(path: Path, state: StorageState) -> None:
    """Write a state to a private file. Raises StateFileNotWrittenError; the old file stays then."""
    data = state.to_json().encode()
    try:
        write_private(path, data)
    except OSError as error:
        raise StateFileNotWrittenError(path=str(path), reason=os_reason(error)) from error
