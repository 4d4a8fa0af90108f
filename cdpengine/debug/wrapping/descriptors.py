"""The recorder's side of the messages of `wrapper.py`: fields and descriptors over a local socket.

Rule: each message is its length, then fields that are separated by NUL bytes, which no argument can
contain. Its descriptors come with the first byte.
"""

from __future__ import annotations

import array
import os
import socket
from collections.abc import Sequence

import attrs
import trio

from cdpengine.debug.wrapping.wrapper import LENGTH, MOST_DESCRIPTORS

_CHUNK = 1 << 16
_LONGEST_REQUEST = 1 << 24  # bytes; Linux allows about 2 MB of arguments


@attrs.frozen
class WrapperRequest:
    """The request of a wrapper: its number, process id, working directory and arguments.

    `descriptors` are duplicates of the wrapper's descriptors, by number. The receiver closes them.
    """

    wrapper: int
    pid: int
    folder: str
    arguments: Sequence[str]
    descriptors: dict[int, int]


async def receive_request(connection: trio.socket.SocketType) -> WrapperRequest:
    """Read the request of a wrapper. Raises OSError and ValueError."""
    data, received = b"", array.array("i")
    try:
        while len(data) < LENGTH or len(data) < LENGTH + int.from_bytes(data[:LENGTH]):
            chunk, ancillary, *_ = await connection.recvmsg(
                _CHUNK, socket.CMSG_SPACE(MOST_DESCRIPTORS * received.itemsize)
            )
            for level, kind, content in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    received.frombytes(content[: len(content) - len(content) % received.itemsize])
            data += chunk
            if not chunk or len(data) > _LONGEST_REQUEST:
                raise ConnectionResetError("the wrapper ended")
        number, pid, folder, sent, *arguments = map(os.fsdecode, data[LENGTH:].split(b"\0"))
        numbers = [int(each) for each in sent.split()]
        descriptors = dict(zip(numbers, received, strict=True))
        return WrapperRequest(int(number), int(pid), folder, arguments, descriptors)
    except BaseException:
        close_all(received)
        raise


async def send_reply(
    connection: trio.socket.SocketType,
    executable: str | int,
    arguments: Sequence[str],
    descriptors: dict[int, int],
) -> None:
    """Send the browser's executable (a path or a descriptor), arguments, and descriptors by number.

    Raises OSError.
    """
    sent = [executable] if isinstance(executable, int) else []
    path = "" if isinstance(executable, int) else executable
    fields = [path, " ".join(map(str, descriptors)), *arguments]
    message = b"\0".join(map(os.fsencode, fields))
    data = len(message).to_bytes(LENGTH) + message
    first = 0
    if numbers := array.array("i", [*sent, *descriptors.values()]):
        first = await connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    while first < len(data):
        first += await connection.send(data[first:])


def close_all(descriptors: Sequence[int] | array.array[int]) -> None:
    """Close descriptors of this program."""
    for each in descriptors:
        os.close(each)
