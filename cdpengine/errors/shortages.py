"""Shortages of the machine: descriptors, memory, disk space, an optional package.

Rule: a shortage has the same message everywhere. It is detected in the error itself, in its causes, and in errors
that hide it: a failed import, a failed name lookup. Pure, except that for those errors it checks whether a
descriptor is available.
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
    """The system lacks a resource for `attempt`, as in "listen on 127.0.0.1:9333"."""

    attempt: str
    reason: str

    def _describe(self) -> str:
        return f"could not {self.attempt}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PackageMissingError(EngineError):
    """An optional package is not installed: `package`, which is in the extra `extra` of cdpengine."""

    package: str
    purpose: str
    extra: str

    def _describe(self) -> str:
        install = f"pip install 'cdpengine[{self.extra}]'"
        return f"the package {self.package}, which {self.purpose}, is not installed: {install}"


_OPTIONAL = {
    "pygments": ("pygments", "colours JSON", "repl"),
    "prompt_toolkit": ("prompt-toolkit", "edits the console's lines", "repl"),
    "ahocorasick_rs": ("ahocorasick-rs", "finds secrets in traffic", "debug"),
    "zstandard": ("zstandard", "compresses recordings", "debug"),
    "httpx": ("httpx", "passes HTTP on for the proxy", "debug"),
    "starlette": ("starlette", "routes the service's requests", "service"),
    "hypercorn": ("hypercorn", "serves HTTP", "service"),
    "prometheus_client": ("prometheus-client", "counts for Prometheus", "service"),
    "mcp": ("mcp", "serves MCP clients", "mcp"),
    "mcp_types": ("mcp", "serves MCP clients", "mcp"),
    "PIL": ("pillow", "draws on pictures", "pictures"),
    "platformdirs": ("platformdirs", "finds the user's data folder", "cache"),
    "cryptography": ("cryptography", "encrypts stored data", "cache"),
    "protego": ("protego", "reads robots.txt", "crawl"),
    "keyring": ("keyring", "stores the cache's key", "cache"),
    "distributed": ("distributed", "distributes jobs to many machines", "cluster"),
}
"""By the names of modules: the package, its purpose, and its extra (pyproject.toml)."""


@attrs.frozen
class Shortage:
    """A resource that the system lacks. `name` is the system's name of the error, such as EMFILE."""

    __module__ = PACKAGE

    name: str
    reason: str
    advice: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.name}). {self.advice}"


_ROOM = "Free space there, or write to another disk"

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
            "End programs that use many, or raise the system's limit (sysctl fs.file-max)",
        ),
        ("ENOSPC", "no space is left on the disk", _ROOM),
        ("EDQUOT", "the user's share of the disk is used up", _ROOM),
        ("EFBIG", "the file exceeds the limit of this program or file system", _ROOM),
        ("EROFS", "the file system is read-only", "Write to another one"),
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
    """Return the shortage behind an error, or None for another reason."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, BaseExceptionGroup):
            return next((found for each in current.exceptions if (found := shortage_of(each))), None)
        if isinstance(current, OSError) and not _is_of_a_lookup(current) and current.errno in _SHORTAGES:
            return _SHORTAGES[current.errno]
        if _may_hide(current) and not _descriptor_left():
            return _SHORTAGES[errno.EMFILE]
        current = current.__cause__
    return None


def missing_package(error: BaseException) -> PackageMissingError | None:
    """Return the error for the optional package behind a failed import, or None."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    found = _OPTIONAL.get((error.name or "").partition(".")[0])
    return None if found is None else PackageMissingError(*found)


@contextmanager
def packages_named() -> Iterator[None]:
    """Raise PackageMissingError instead of a failed import of an optional package."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (missing := missing_package(error)) is None:
            raise
        raise missing from error


def os_reason(error: OSError) -> str:
    """Return why the system refused: the shortage with its advice, or the system's message."""
    if (shortage := shortage_of(error)) is not None:
        return str(shortage)
    if isinstance(error, FileExistsError):
        return "a file of that name already exists"
    return error.strerror or str(error) or type(error).__name__


def exhausted(attempt: str, shortage: Shortage) -> ResourcesExhaustedError:
    """Return the error for an attempt that has no more specific one.

    Use it in `shortages_named` with `partial`.
    """
    return ResourcesExhaustedError(attempt=attempt, reason=str(shortage))


@contextmanager
def shortages_named(make: Callable[[Shortage], EngineError]) -> Iterator[Callable[[], None]]:
    """Raise the error of `make` instead of an error that a shortage causes in the body.

    EngineErrors propagate unchanged.

    A failed import of an optional package propagates as PackageMissingError.

    Yields a function that ends the conversion: after its call, all errors propagate unchanged. It is for blocks in
    which a caller's code runs after the engine's.
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
    """Return whether a lack of descriptors can cause the error.

    Such errors are: a module or a codec that cannot be read; a failed name lookup, because its tables cannot be
    read; no usable temporary folder (`tempfile` tries to write to each, and its error does not name the cause).
    """
    if isinstance(error, FileNotFoundError):
        return error.filename is None
    return isinstance(error, ImportError) or type(error) is LookupError or _is_of_a_lookup(error)


def _is_of_a_lookup(error: BaseException) -> bool:
    # Compared by name, because the errors must not import sockets. Its numbers differ from the system's.
    return type(error).__name__ == "gaierror"


def _descriptor_left() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    return True
