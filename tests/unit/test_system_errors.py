"""Refusals of the system are named, wherever they occur: in an error, in its cause, in its context."""

from __future__ import annotations

import errno
import os
import socket
import sys

import pytest

from cdpengine.errors import (
    ConnectFailedError,
    ResourcesExhaustedError,
    exhausted,
    os_reason,
    shortage_of,
    shortages_named,
)

NAMES = ["EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EFBIG", "EROFS", "ENOMEM", "ENOBUFS"]


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(errno, name)])
def test_each_shortage_is_named_with_advice(name: str) -> None:
    number = getattr(errno, name)
    error = OSError(number, os.strerror(number), "/a/file")
    found = shortage_of(error)
    assert found is not None
    assert (found.name, f"({name}). " in os_reason(error), bool(found.advice)) == (name, True, True)


def test_it_is_found_behind_other_errors() -> None:
    bare = OSError(errno.EMFILE, "x")
    group = ExceptionGroup("several", [ConnectionRefusedError(errno.ECONNREFUSED, "x"), bare])
    outer = OSError("all attempts failed")
    outer.__cause__ = group
    found = shortage_of(outer)
    assert found is not None
    assert found.name == "EMFILE"
    outer.__cause__, outer.__context__ = None, bare  # it was handled earlier
    assert shortage_of(outer) is None


def test_other_errors_are_not_shortages() -> None:
    for error in (
        OSError(errno.ENOENT, "No such file or directory", "a"),
        socket.gaierror(errno.EMFILE, "a number of the resolver's own"),
        ImportError("no module"),
        LookupError("unknown encoding"),
        KeyError("x"),
    ):
        assert shortage_of(error) is None
    assert os_reason(OSError(errno.EACCES, "Permission denied")) == "Permission denied"
    assert "already exists" in os_reason(FileExistsError(errno.EEXIST, "File exists"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks this limit")
def test_a_hidden_lack_of_descriptors_is_found() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        found = [
            shortage_of(error)
            for error in (
                ImportError("cannot open shared object file"),
                socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
                LookupError("unknown encoding: idna"),
                FileNotFoundError(errno.ENOENT, "No usable temporary directory found"),
            )
        ]
        plain = shortage_of(FileNotFoundError(errno.ENOENT, "No such file or directory", "a"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [each and each.name for each in found] == ["EMFILE"] * 4
    assert plain is None


def test_a_block_names_its_own_shortages_and_nothing_else() -> None:
    def lack() -> None:
        raise OSError(errno.EMFILE, "x")

    def make(shortage: object) -> ResourcesExhaustedError:
        return exhausted("do it", shortage)  # type: ignore[arg-type]

    with (
        pytest.raises(ResourcesExhaustedError, match=r"could not do it: .*\(EMFILE\)"),
        shortages_named(make),
    ):
        lack()
    # the caller's code runs after that
    with pytest.raises(OSError, match="x"), shortages_named(make) as ended:
        ended()
        lack()
    with pytest.raises(KeyError), shortages_named(make):
        raise KeyError
    with pytest.raises(ConnectFailedError), shortages_named(make):
        raise ConnectFailedError("there", "why") from OSError(errno.EMFILE, "x")
