"""Recording files: which file a recording is written to, and that nothing is lost by it.

Rule: a recording grows in its place, so that it can be read however its program ends; the file that has its name
already would be gone before the new one holds anything. So it is refused, unless the caller says `overwrite`. Only
where one program opens several browsers under CDPENGINE_RECORD do the second and the others get a number: a file
that was there before the program is refused there too.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import attrs

from cdpengine._launch.private_files import create_private, is_taken
from cdpengine.errors import InvalidArgumentError, RecordingFailedError, Shortage, os_reason, shortage_of

ASKED = "CDPENGINE_RECORD"
_OVERWRITE = "CDPENGINE_RECORD_OVERWRITE"

_made_as_asked: set[Path] = set()
"""The recordings that this program has made where CDPENGINE_RECORD says, by their whole paths."""


@attrs.frozen
class RecordingFile:
    """A file that was made for a recording, and the descriptor to write to it."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Take the file away, unless it is a device or a pipe."""
        if self.path.is_file():
            self.path.unlink()


Claim = Callable[[], RecordingFile]
"""Makes the file of a recording. Raises as `create_recording` does."""


def create_recording(path: Path, *, overwrite: bool = False) -> RecordingFile:
    """Make the file.

    Raises InvalidArgumentError where it exists or cannot be made, RecordingFailedError for a shortage.
    """
    return _created(path, "recording", "overwrite=True", overwrite=overwrite)


def create_as_asked() -> RecordingFile:
    """Make the file that CDPENGINE_RECORD names, for one more browser of this program. Raises the same."""
    path = _next_as_asked()
    made = _created(path, ASKED, f"{_OVERWRITE}=1", overwrite=_overwrites())
    _made_as_asked.add(path.absolute())
    return made


def check_as_asked() -> None:
    """Raise InvalidArgumentError if the file of `create_as_asked` exists: called before a browser starts."""
    path = _next_as_asked()
    if not _overwrites() and is_taken(path):
        raise _taken(path, ASKED, f"{_OVERWRITE}=1")


def numbered_recording(named: Path, number: int) -> Path:
    """Return where the recording of a program's browser `number` goes; the first one, 1, goes to `named`."""
    first, dot, rest = named.name.partition(".")
    return named if number == 1 else named.with_name(f"{first}-{number}{dot}{rest}")


def not_begun(path: Path, shortage: Shortage) -> RecordingFailedError:
    """Return the error for a recording that cannot be begun because the system lacks something."""
    return RecordingFailedError(path=str(path), reason=f"it could not be begun: {shortage}")


def _created(path: Path, what: str, hint: str, *, overwrite: bool) -> RecordingFile:
    try:
        return RecordingFile(path, create_private(path, overwrite=overwrite))
    except FileExistsError:
        raise _taken(path, what, hint) from None
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise not_begun(path, shortage) from error
        raise InvalidArgumentError(
            what=what, given=str(path), expected=f"a file that can be written ({os_reason(error)})"
        ) from None


def _taken(path: Path, what: str, hint: str) -> InvalidArgumentError:
    given = f"{path}, which exists already,"
    return InvalidArgumentError(what=what, given=given, expected=f"the name of a new file, or {hint}")


def _next_as_asked() -> Path:
    """Return the first of the numbered names that no recording of this program has."""
    named = Path(os.environ[ASKED])
    every = (numbered_recording(named, number) for number in itertools.count(1))
    return next(path for path in every if path.absolute() not in _made_as_asked or not is_taken(path))


def _overwrites() -> bool:
    return os.environ.get(_OVERWRITE) == "1"
