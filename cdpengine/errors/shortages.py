"""What the machine lacks: descriptors, memory, room, an optional package.

Rule: a shortage has one text, wherever it is met. It is found in the error itself, in what caused it, and in the
errors that hide it: a module that cannot be imported, a name that cannot be looked up. Pure, but for the look
whether a descriptor is left, which is taken only for those.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs

from cdpengine.errors.root import PACKAGE, EngineError


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ResourcesExhaustedError(EngineError):
    """What was tried (`attempt`, as in "listen on 127.0.0.1:9333") needs what the system has no more of."""

    attempt: str
    reason: str

    def _describe(self) -> str:
        return f"could not {self.attempt}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PackageMissingError(EngineError):
    """An optional package is not installed: `package`, which the extra `extra` of cdpengine brings."""

    package: str
    purpose: str
    extra: str

    def _describe(self) -> str:
        install = f"pip install 'cdpengine[{self.extra}]'"
        return f"the package {self.package}, which {self.purpose}, is not installed: {install}"


_OPTIONAL = {
    "click": ("click", "parses the command line", "cli"),
    "rich": ("rich", "prints tables and colours", "cli"),
    "pygments": ("pygments", "colours JSON", "cli"),
    "prompt_toolkit": ("prompt-toolkit", "edits the console's lines", "cli"),
    "ahocorasick_rs": ("ahocorasick-rs", "finds secrets in traffic", "debug"),
    "zstandard": ("zstandard", "compresses recordings", "debug"),
    "httpx": ("httpx", "passes HTTP on for the proxy", "debug"),
    "starlette": ("starlette", "routes the service's requests", "service"),
    "hypercorn": ("hypercorn", "serves HTTP", "service"),
    "prometheus_client": ("prometheus-client", "counts for Prometheus", "service"),
    "mcp": ("mcp", "speaks with models' clients", "mcp"),
    "mcp_types": ("mcp", "speaks with models' clients", "mcp"),
    "PIL": ("pillow", "draws on pictures", "pictures"),
    "platformdirs": ("platformdirs", "says where the user's data is", "cache"),
    "cryptography": ("cryptography", "encrypts what is kept", "cache"),
    "protego": ("protego", "reads robots.txt", "crawl"),
    "keyring": ("keyring", "keeps the key to it", "cache"),
    "distributed": ("distributed", "gives jobs to many machines", "cluster"),
}
"""By the names of modules: the package, what it is for, and the extra that brings it (pyproject.toml)."""


@attrs.frozen
class Shortage:
    """Something that the system has no more of. `name` is the system's name of the error, such as EMFILE."""

    __module__ = PACKAGE

    name: str
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.name}). {self.advice}"


_ROOM = "Make room there, or write to another disk"

_SHORTAGES = {
    number: Shortage(name, reason, advice)
    for name, reason, advice in (
        (
            "EMFILE",
            "the program has no file descriptors left",
            "Close files, connections or browsers that it does not need, or raise its limit (ulimit -n)",
        ),
        (
            "ENFILE",
            "the system has no file descriptors left",
            "End programs that hold many, or raise the system's limit (sysctl fs.file-max)",
        ),
        ("ENOSPC", "no space is left on the disk", _ROOM),
        ("EDQUOT", "the user's share of the disk is used up", _ROOM),
        ("EFBIG", "the file is larger than this program, or that file system, may have it", _ROOM),
        ("EROFS", "the file system can only be read", "Write to another one"),
        ("ENOMEM", "the system has no memory left", "End other programs, or give it more memory"),
        (
            "ENOBUFS",
            "the system has no memory left for sockets",
            "End other programs, or give it more memory",
        ),
    )
    if (number := getattr(errno, name, None)) is not None
}


def shortage_of(error: BaseException) -> Shortage | None:
    """Return the shortage behind an error; None where there is another reason."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, BaseExceptionGroup):
            return next((found for each in seen.exceptions if (found := shortage_of(each))), None)
        if isinstance(seen, OSError) and not _is_of_a_lookup(seen) and seen.errno in _SHORTAGES:
            return _SHORTAGES[seen.errno]
        if _may_hide(seen) and not _descriptor_left():
            return _SHORTAGES[errno.EMFILE]
        seen = seen.__cause__
    return None


def missing_package(error: BaseException) -> PackageMissingError | None:
    """Return the error that names the optional package behind a failed import; None where there is none."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    found = _OPTIONAL.get((error.name or "").partition(".")[0])
    return None if found is None else PackageMissingError(*found)


@contextmanager
def packages_named() -> Iterator[None]:
    """Raise PackageMissingError in place of a failed import of an optional package."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (missing := missing_package(error)) is None:
            raise
        raise missing from error


def os_reason(error: OSError) -> str:
    """Return why the system refused: the shortage and what to do, or the system's own words."""
    if (shortage := shortage_of(error)) is not None:
        return str(shortage)
    if isinstance(error, FileExistsError):
        return "a file of that name exists already"
    return error.strerror or str(error) or type(error).__name__


def exhausted(attempt: str, shortage: Shortage) -> ResourcesExhaustedError:
    """Return the error for what was tried where no other error says it; for `shortages_named`, with `partial`."""
    return ResourcesExhaustedError(attempt=attempt, reason=str(shortage))


@contextmanager
def shortages_named(make: Callable[[Shortage], EngineError]) -> Iterator[Callable[[], None]]:
    """Raise what `make` makes in place of what a shortage makes the body raise. EngineErrors leave as they are.

    A failed import of an optional package leaves as PackageMissingError.

    Gives a function that ends this: from its call on, all errors leave as they are. It is for blocks in which a
    caller's code runs after ours.
    """
    ours = True

    def end() -> None:
        nonlocal ours
        ours = False

    try:
        yield end
    except EngineError:
        raise
    except Exception as error:
        if not ours:
            raise
        if (shortage := shortage_of(error)) is None:
            if (missing := missing_package(error)) is not None:
                raise missing from error
            raise
        raise make(shortage) from error


def _may_hide(error: BaseException) -> bool:
    """Say whether an error is of those that the lack of a descriptor may look like.

    A module or a codec that cannot be read; a name that cannot be looked up, as its tables cannot be read; no
    folder for temporary files (`tempfile` tries each by writing to it, and names none in its error).
    """
    if isinstance(error, FileNotFoundError):
        return error.filename is None
    return isinstance(error, ImportError) or type(error) is LookupError or _is_of_a_lookup(error)


def _is_of_a_lookup(error: BaseException) -> bool:
    # By its name: what stands on these errors is not to need sockets. Its numbers are not those of the system.
    return type(error).__name__ == "gaierror"


def _descriptor_left() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    return True
