"""Announcing: report each page method, the nodes it uses and its end to listeners.

Rule: a method (`announced` and `announced_read` in `running_actions.py`) is announced once, by the outermost call
of the program, and only if a listener exists. Without a listener, a call costs one look at an empty list.
Listeners run before anything is sent, so they can read the unchanged page in their own time. Only a listener that
is called after a search for a node uses up the method's time.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from cdpengine._budget import Budget
    from cdpengine._page.scripts.page_functions import Node

T = TypeVar("T")


@attrs.define(eq=False)
class ActionCall:
    """One call of a method: its name, and its arguments by name, including defaults.

    `budget` is the method's budget, once its clock has started. `outcome` is its return value, once it has ended
    without an exception. The arguments may be secrets, so no `repr` contains them.
    """

    verb: str
    arguments: Mapping[str, Any] = attrs.field(repr=False)
    budget: Budget | None = attrs.field(default=None, repr=False)
    outcome: object = attrs.field(default=None, repr=False)


class ActionListener(Protocol):
    """Listener for the methods of one page. Its exceptions leave the method, so it must catch those it expects."""

    async def before(self, call: ActionCall) -> None:
        """Handle a call before the method does anything."""

    async def on_node(self, call: ActionCall, argument: str, node: Node, seconds: float) -> None:
        """Handle the node of an argument, once found. `seconds` is the method's remaining time."""

    async def after(self, call: ActionCall, error: Exception | None) -> None:
        """Handle the end of the method, with its exception or None."""

    def cancelled(self, call: ActionCall) -> None:
        """Handle the cancellation of the method, instead of `after`."""


@attrs.define(eq=False)
class _Announcement:
    call: ActionCall
    listeners: tuple[ActionListener, ...]


_current: ContextVar[_Announcement | None] = ContextVar("announced verb", default=None)


async def announce_call(
    verb: str,
    listeners: list[ActionListener],
    method: Callable[..., Coroutine[Any, Any, T]],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> T:
    """Call a method and announce it. The methods that it calls are not announced separately."""
    if _current.get() is not None:
        return await method(*args, **kwargs)
    bound = inspect.signature(method).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    del arguments[next(iter(arguments))]  # the object of the method
    announcement = _Announcement(ActionCall(verb, arguments), tuple(listeners))
    return await _announce(announcement, lambda: method(*args, **kwargs))


async def _announce(announcement: _Announcement, do: Callable[[], Awaitable[T]]) -> T:
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
        call.outcome = outcome
        for listener in listeners:
            await listener.after(call, None)
        return outcome
    finally:
        _current.reset(token)
        if not ended:
            for listener in listeners:
                listener.cancelled(call)


async def announce_block(verb: str, listeners: list[ActionListener]) -> None:
    """Announce that a block began. Listeners only learn that it exists."""

    async def begin() -> None:
        """Do nothing: the caller runs the block itself."""

    if listeners and _current.get() is None:
        await _announce(_Announcement(ActionCall(verb, {}), tuple(listeners)), begin)


async def announce_node(argument: str, node: Node, seconds: float) -> None:
    """Announce the node of an argument of the running method. Does nothing if no method is announced."""
    if (announcement := _current.get()) is not None:
        for listener in announcement.listeners:
            await listener.on_node(announcement.call, argument, node, seconds)


def note_budget(budget: Budget) -> None:
    """Note the budget of the announced method: the first one, which is the method's own."""
    if (announcement := _current.get()) is not None and announcement.call.budget is None:
        announcement.call.budget = budget
