"""Announcing: report each page method, the nodes it uses and its end to listeners.

Rule: a method (`announced` and `announced_read` in `running_actions.py`) is announced once, by the outermost call
of the program, and only if a listener exists. Without a listener, a call costs one look at an empty list.
Listeners run before anything is sent, so they can read the unchanged page in their own time. Only a listener that
is called after a search for a node uses up the method's time.

A request (`cdpengine.act`) is announced as one call. Its listeners do not learn of the methods that perform it;
other listeners do.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from cdpengine._budget import Budget
    from cdpengine._page.scripts.page_functions import Node

T = TypeVar("T")


@attrs.frozen(eq=False)
class RequestFacts:
    """The properties of a request that its listeners read.

    `reads`: it does not change the page. `secret` names the arguments that can be private. `runs_script`: it runs
    a script of the caller, so its arguments and its result can be private.
    """

    reads: bool
    secret: Collection[str] = ()
    runs_script: bool = False


@attrs.frozen(eq=False)
class GivenText:
    """The snapshot text that the caller of a request receives, its diff, and the snapshot with their refs."""

    snapshot: object
    text: str | None = attrs.field(repr=False)
    diff: str | None = attrs.field(default=None, repr=False)


@attrs.define(eq=False)
class ActionCall:
    """One call of a method, or a request: its name, and its arguments by name. A method's include defaults.

    `budgets` are those of the performed methods, once their clocks have started: a method has one. `outcome` is
    the return value, once the call has ended without an exception. `request` is None for a method, and `given`
    is only known for a request. The arguments may be secrets, so no `repr` contains them.
    """

    verb: str
    arguments: Mapping[str, Any] = attrs.field(repr=False)
    budgets: list[Budget] = attrs.field(factory=list, repr=False)
    outcome: object = attrs.field(default=None, repr=False)
    request: RequestFacts | None = None
    given: GivenText | None = attrs.field(default=None, repr=False)

    @property
    def budget(self) -> Budget | None:
        """The first budget: that of the method itself."""
        return self.budgets[0] if self.budgets else None


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
_request: ContextVar[_Announcement | None] = ContextVar("announced request", default=None)

_MOST_BUDGETS = 20
"""Maximum number of budgets of a request, the first ones."""


async def announce_call(
    verb: str,
    listeners: list[ActionListener],
    method: Callable[..., Coroutine[Any, Any, T]],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> T:
    """Call a method and announce it. The methods that it calls are not announced separately."""
    if _current.get() is not None or not (others := _listeners_without_request(listeners)):
        return await method(*args, **kwargs)
    bound = inspect.signature(method).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    del arguments[next(iter(arguments))]  # the object of the method
    announcement = _Announcement(ActionCall(verb, arguments), others)
    return await _announce(announcement, _current, lambda: method(*args, **kwargs))


async def announce_read(
    verb: str,
    arguments: Mapping[str, Any],
    listeners: list[ActionListener],
    do: Callable[[], Awaitable[T]],
) -> T:
    """Read the page and announce it, without a method of the page, as an assertion does."""
    if _current.get() is not None or not (others := _listeners_without_request(listeners)):
        return await do()
    return await _announce(_Announcement(ActionCall(verb, arguments), others), _current, do)


async def announce_request(
    call: ActionCall, listeners: Sequence[ActionListener], do: Callable[[], Awaitable[T]]
) -> T:
    """Perform a request and announce it. A request within another one is a part of it."""
    if _request.get() is not None or not listeners:
        return await do()
    return await _announce(_Announcement(call, tuple(listeners)), _request, do)


def _listeners_without_request(listeners: Sequence[ActionListener]) -> tuple[ActionListener, ...]:
    """Return the listeners that were not called for the running request."""
    request = _request.get()
    known = () if request is None else request.listeners
    return tuple(each for each in listeners if each not in known)


async def _announce(
    announcement: _Announcement,
    running: ContextVar[_Announcement | None],
    do: Callable[[], Awaitable[T]],
) -> T:
    call, listeners = announcement.call, announcement.listeners
    token = running.set(announcement)
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
        running.reset(token)
        if not ended:
            for listener in listeners:
                listener.cancelled(call)


async def announce_block(verb: str, listeners: list[ActionListener]) -> None:
    """Announce that a block began. Listeners only learn that it exists."""

    async def begin() -> None:
        """Do nothing: the caller runs the block itself."""

    others = _listeners_without_request(listeners)
    if others and _current.get() is None:
        await _announce(_Announcement(ActionCall(verb, {}), others), _current, begin)


async def announce_node(argument: str, node: Node, seconds: float) -> None:
    """Announce the node of an argument of the running method. Does nothing if no method is announced."""
    for running in (_current, _request):
        if (announcement := running.get()) is not None:
            for listener in announcement.listeners:
                await listener.on_node(announcement.call, argument, node, seconds)


def note_budget(budget: Budget) -> None:
    """Note the budget of the announced method: the first one, which is its own. A request has one for each."""
    if (announcement := _current.get()) is not None and not announcement.call.budgets:
        announcement.call.budgets.append(budget)
    if (request := _request.get()) is not None and len(request.call.budgets) < _MOST_BUDGETS:
        request.call.budgets.append(budget)


def note_given(given: GivenText) -> None:
    """Note the snapshot text that the caller of the running request receives."""
    if (request := _request.get()) is not None:
        request.call.given = given
