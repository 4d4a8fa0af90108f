"""The program that runs instead of a browser, and becomes the browser.

Rule: it imports only the standard library and runs in isolated mode, because it starts in the environment of any
program. It sends the recorder its command line and the descriptors of the debugging pipe. The recorder answers
with the browser's executable, command line and descriptors. Then execve replaces this program, so that the browser
keeps the process id, and the environment is the one that this program received.
"""

import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Iterator

LENGTH = 8
"""Number of bytes before each message that hold its length."""

MOST_DESCRIPTORS = 8
_FIRST_COPY = 10
_STANDARD_ERROR = 2
_PIPES = (3, 4)
_RESTORED = ("SIGPIPE", "SIGXFSZ")  # Python ignores them, and execve keeps ignored signals
_NOT_EXECUTED = 127


def become_browser(recorder: str, number: int) -> None:
    """Ask the recorder at the socket `recorder` for the browser of wrapper `number`, and become it."""
    name = sys.argv[0]
    try:
        fields, received = _ask(recorder, number, sys.argv[1:])
    except OSError as error:
        sys.exit(f"{name}: cannot reach `cdpengine record`, which replaced this browser: {error}")
    executable, targets, *arguments = fields
    copies = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _FIRST_COPY) for each in received]
    for each in received:
        os.close(each)
    if not executable:
        # The path of the browser leads to this program. The recorder's descriptor leads to the browser.
        descriptor = copies.pop(0)
        executable = os.fsencode(f"/proc/self/fd/{descriptor}")
        os.set_inheritable(descriptor, os.pread(descriptor, 2, 0) == b"#!")
    for target, copy in zip(map(int, targets.split()), copies, strict=True):
        os.dup2(copy, target)
    for restored in _RESTORED:
        signal.signal(getattr(signal, restored), signal.SIG_DFL)
    try:
        os.execve(executable, [os.fsencode(name), *arguments], _environment())  # noqa: S606 - no shell
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(_NOT_EXECUTED)


@contextlib.contextmanager
def short_path(path: str) -> Iterator[str]:
    """Yield a short path of a socket, because Linux accepts at most 107 bytes."""
    if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - few imports
        yield path
        return
    folder, name = os.path.split(path)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def _ask(recorder: str, number: int, arguments: list[str]) -> tuple[list[bytes], list[int]]:
    sent = [each for each in (_STANDARD_ERROR, *_PIPES) if _is_inherited(each)]
    fields = [str(number), str(os.getpid()), _folder(), " ".join(map(str, sent)), *arguments]
    with socket.socket(socket.AF_UNIX) as connection:
        with short_path(recorder) as path:
            connection.connect(path)
        message = b"\0".join(map(os.fsencode, fields))
        data = len(message).to_bytes(LENGTH) + message
        first = socket.send_fds(connection, [data], sent) if sent else 0
        if first < len(data):  # an empty send fails after the recorder's reply
            connection.sendall(data[first:])
        return _receive(connection)


def _receive(connection: socket.socket) -> tuple[list[bytes], list[int]]:
    data, received = b"", []
    while len(data) < LENGTH or len(data) < LENGTH + int.from_bytes(data[:LENGTH]):
        chunk, descriptors, *_ = socket.recv_fds(connection, 1 << 16, MOST_DESCRIPTORS)
        if not chunk:
            raise ConnectionResetError("it ended")
        data += chunk
        received += descriptors
    return data[LENGTH:].split(b"\0"), received


def _is_inherited(descriptor: int) -> bool:
    """Return whether the parent passed a descriptor. Python opens the ones that were free as close-on-exec."""
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib takes long to import
    except OSError:  # it was removed
        return ""


def _environment() -> dict[bytes, bytes]:
    """Return the environment that this program received. Python sets LC_CTYPE in a C locale."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
            pairs = [each.partition(b"=") for each in file.read().split(b"\0") if each]
    except OSError:
        return dict(os.environb)
    return {name: value for name, _, value in pairs}
