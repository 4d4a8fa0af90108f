"""A program that puts files in place of others, for one command and the programs that it starts.

Usage: mounts.py [FILE REPLACED]... -- [COMMAND [ARGUMENT]...]

It enters a mount namespace, binds each FILE over the path REPLACED, and becomes COMMAND. Other programs see no
change, and the mounts end with the last process of the command. Without privileges it also enters a user
namespace, in which user and group keep their ids. Without a COMMAND it only tries the mounts.

Rule: it imports only the standard library and runs in isolated mode, because the command's environment is not its
own.
"""

import ctypes
import os
import signal
import sys
from errno import EPERM

_NEW_MOUNTS = 0x0002_0000
_NEW_USER = 0x1000_0000
_BIND = 1 << 12
_SLAVE_OF_ALL = 1 << 14 | 1 << 19  # MS_REC | MS_SLAVE: later mounts of the system still appear
_NOT_FOUND = 127


def run() -> None:
    """Mount the files, and become the command."""
    split = sys.argv.index("--")
    places, command = sys.argv[1:split], sys.argv[split + 1 :]
    _enter_namespace()
    _call("mount", b"none", b"/", None, _SLAVE_OF_ALL, None)
    for file, replaced in zip(places[::2], places[1::2], strict=True):
        _call("mount", os.fsencode(file), os.fsencode(replaced), None, _BIND, None)
    if not command:
        return
    for restored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(restored, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, _environment())  # noqa: S606 - no shell
    except OSError as error:
        print(f"cannot run {command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        sys.exit(_NOT_FOUND)


def _enter_namespace() -> None:
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _NEW_MOUNTS)
    except PermissionError:
        _call("unshare", _NEW_MOUNTS | _NEW_USER)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(text)


_library = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: bytes | int | None) -> None:
    if getattr(_library, name)(*arguments):
        number = ctypes.get_errno() or EPERM
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _environment() -> dict[bytes, bytes]:
    """Return the environment that this program received. Python sets LC_CTYPE in a C locale."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        pairs = [each.partition(b"=") for each in file.read().split(b"\0") if each]
    return {name: value for name, _, value in pairs}


if __name__ == "__main__":
    run()
