"""Commands of the PyCDP convention: generators that yield a request, receive the reply, and return a value.

Rule: every error of the generator's own code becomes an error of the engine, with the method's name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, TypeVar

import trio

from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import InvalidArgumentError, ProtocolError

T = TypeVar("T")


async def run_command(
    command: Generator[dict[str, Any], dict[str, Any], T],
    send: Callable[[str, Mapping[str, Any]], PendingCall],
) -> T:
    """Run one command, as `Session.execute` does. `send` sends its request."""
    if not isinstance(command, Generator) or _was_used(command):
        raise InvalidArgumentError(what="command", given=_describe_command(command), expected=_A_COMMAND)
    with closing(command):
        try:
            request = next(command)
        except StopIteration:
            raise InvalidArgumentError(
                what="command", given="a generator that yields nothing", expected=_A_COMMAND
            ) from None
        except _DECODER_ERRORS as error:
            raise InvalidArgumentError(
                what="arguments of the command",
                given=f"values that raise {type(error).__name__}: {error}",
                expected="the arguments that the command declares",
            ) from error
        method, params = _read_request(request)
        await trio.lowlevel.checkpoint_if_cancelled()
        pending = send(method, params)
        raw = await pending.raw()
        result = pending.decode(raw, dict[str, Any])
        try:
            command.send(result)
        except StopIteration as done:
            value: T = done.value
            return value
        except _DECODER_ERRORS as error:
            raise ProtocolError(
                method=method,
                reason=f"the command's own decoder failed ({type(error).__name__})",
                raw=bytes(raw),
            ) from error
    raise InvalidArgumentError(
        what="command", given=method, expected="a generator that yields once, then returns its value"
    )


_DECODER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Exceptions of code that decodes a value of an unexpected shape."""

_A_COMMAND = 'a fresh generator that yields {"method": ..., "params": ...}, as PyCDP commands are'


def _was_used(command: object) -> bool:
    return inspect.isgenerator(command) and inspect.getgeneratorstate(command) != inspect.GEN_CREATED


def _describe_command(command: object) -> str:
    return f"a {type(command).__name__}{' that was used before' if _was_used(command) else ''}"


def _read_request(request: object) -> tuple[str, Mapping[str, Any]]:
    match request:
        case {"method": str(method), "params": Mapping() as params}:
            return method, params
        case {"method": str(method)}:
            return method, {}
    raise InvalidArgumentError(
        what="command", given=f"a generator that yields a {type(request).__name__}", expected=_A_COMMAND
    )
