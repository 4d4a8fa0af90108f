"""Announcing: a page's verbs say what they are about to do, to which nodes, and what came of it, to who listens.

Rule: a verb (`announced` in `running_actions.py`) is announced once, by the outermost method that a program calls,
and only while something listens: without a listener, a call costs one look at an empty list. A listener is called
before anything is sent, so it can read the page as it was, in its own time. Of the verb's time it has a part only
where a node had to be looked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from cdpengine._page.scripts.page_functions import Node

T = TypeVar("T")


@attrs.frozen(eq=False)
class ActionCall:
    """A verb that is called: its name, and its arguments by name, those with their defaults included.

    The arguments may be secrets: they are in no `repr`.
    """

    verb: str
    arguments: Mapping[str, Any] = attrs.field(repr=False)


class ActionListener(Protocol):
    """What is called for the verbs of one page. What it raises leaves the verb: it catches what it expects."""

    async def before(self, call: ActionCall) -> None:
        """Be called before the verb does anything."""

    async def on_node(self, call: ActionCall, argument: str, node: Node, seconds: float) -> None:
        """Be called when the verb has found the node of an argument; it has `seconds` left for all it does."""

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        """Be called when the verb has ended: with what it raises, or None."""

    def cancelled(self, call: ActionCall) -> None:
        """Be called in place of `after` when the verb was cancelled."""


@attrs.define(eq=False)
class _Announced:
    call: ActionCall
    listeners: tuple[ActionListener, ...]


_current: ContextVar[_Announced | None] = ContextVar("announced verb", default=None)


async def announce_call(
    verb: str,
    listeners: list[ActionListener],
    method: Callable[..., Coroutine[Any, Any, T]],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> T:
    """Call a method as a verb, with its listeners; the verbs that it calls itself are a part of it."""
    if _current.get() is not None:
        return await method(*args, **kwargs)
    bound = inspect.signature(method).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    del arguments["self"]
    announcement = _Announced(ActionCall(verb, arguments), tuple(listeners))
    return await _announce(announcement, lambda: method(*args, **kwargs))


async def _announce(announcement: _Announced, do: Callable[[], Awaitable[T]]) -> T:
    call, listeners = announcement.call, announcement.listeners
    token = _current.set(announcement)
    ended = False
    try:
        for listener in listeners:
            await listener.before(call)
        try:
            outcome = await do()
        except Exception as error:
            ended = True
            for listener in listeners:
                await listener.after(call, error)
            raise
        ended = True
        for listener in listeners:
            await listener.after(call, None)
        return outcome
    finally:
        _current.reset(token)
        if not ended:
            for listener in listeners:
                listener.cancelled(call)


async def announce_block(verb: str, listeners: list[ActionListener]) -> None:
    """Say that a block of this verb begins, of which it matters only that it was there."""

    async def begin() -> None:
        """Do nothing: the block is its caller's."""

    if listeners and _current.get() is None:
        await _announce(_Announced(ActionCall(verb, {}), tuple(listeners)), begin)


async def announce_node(argument: str, node: Node, seconds: float) -> None:
    """Say which node an argument of the running verb named; nothing where no verb is announced."""
    if (announcement := _current.get()) is not None:
        for listener in announcement.listeners:
            await listener.on_node(announcement.call, argument, node, seconds)
