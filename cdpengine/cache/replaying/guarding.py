"""Guards that values reach only their permitted origins.

Rule: a page can navigate at any time. The engine therefore checks the origin of an element's document after
it found the node and before it sends the value. A node belongs to one document. If the page replaces the
document after the check, the node no longer accepts input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import attrs
import trio

from cdpengine import Page
from cdpengine._page.announcing import ActionCall
from cdpengine._page.scripts.page_functions import Node
from cdpengine.act import ActRequest, Fill, Press
from cdpengine.cache.origins import check_origin, frame_origin, sent_variables, url_origin
from cdpengine.cache.templates import request_variables

_guarding: ContextVar[object] = ContextVar("guard of the values of a step", default=None)


@attrs.define(eq=False)
class _Guard:
    """An ActionListener of the page that rejects elements of other origins, for the task that started it.

    `names` maps each argument with an element to the variables in the request.
    """

    _page: Page
    _names: dict[str, tuple[str, ...]]
    _allowed: Collection[str]

    async def before(self, _call: ActionCall) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()

    async def on_node(self, _call: ActionCall, argument: str, node: Node, _seconds: float) -> None:
        if _guarding.get() is self and (names := self._names.get(argument)):
            frames = self._page.internals.target.frames
            check_origin(names, self._allowed, frame_origin(frames, node.frame_id))
        await trio.lowlevel.checkpoint_if_cancelled()

    async def after(self, _call: ActionCall, _error: Exception | None) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()

    def cancelled(self, _call: ActionCall) -> None:
        """Do nothing."""


@contextmanager
def guard_values(
    page: Page, request: ActRequest, allowed: Collection[str], names: Collection[str] | None = None
) -> Iterator[None]:
    """Send the values of a request's variables only to documents of the `allowed` origins, within the block.

    request: the request with its templates.
    names: the guarded variables, or None for all.

    Raises WrongOriginError for a request without an element. For a request with elements, the page's methods
    raise it.
    """
    guarded = _names_by_argument(request, names)
    if not guarded:
        yield
        return
    if not _has_element(request):
        _check_page(page, request, allowed, guarded["target"])
        yield
        return
    guard = _Guard(page, guarded, allowed)
    listeners = page.internals.target.running.listeners
    listeners.append(guard)
    token = _guarding.set(guard)
    try:
        yield
    finally:
        _guarding.reset(token)
        listeners.remove(guard)


def _names_by_argument(request: ActRequest, names: Collection[str] | None) -> dict[str, tuple[str, ...]]:
    def guarded(found: tuple[str, ...]) -> tuple[str, ...]:
        return found if names is None else tuple(name for name in found if name in names)

    all_names = guarded(sent_variables(request))
    if not all_names:
        return {}
    if isinstance(request, Fill):
        each_field = (
            guarded(request_variables(attrs.evolve(request, fields=(field,)))) for field in request.fields
        )
        return {f"field {number}": found for number, found in enumerate(each_field, 1)}
    return {"target": all_names}


def _has_element(request: ActRequest) -> bool:
    names = "ref", "selector", "fields"
    return any(getattr(request, name, None) for name in names)


def _check_page(page: Page, request: ActRequest, allowed: Collection[str], names: Collection[str]) -> None:
    """Check the origin of a request's destination or page. For keys, check all frames: any can have the focus."""
    frames = page.internals.target.frames
    if (goes_to := url_origin(request)) is not None:
        check_origin(names, allowed, goes_to)
    elif not getattr(request, "url", None):
        for frame in frames if isinstance(request, Press) else (frames.main,):
            check_origin(names, allowed, frame_origin(frames, frame.id))
