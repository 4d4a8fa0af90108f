"""Permitted origins of variable values, and the guard that keeps values on them.

Rule: the engine sends a value only to documents of the origins where its step was learned. A step contains
these origins. For a handwritten step, the origins are those of the entry's address and of the step's frames.

A page can navigate at any time. The engine therefore checks the origin of an element's document after it found the
node and before it sends the value. A node belongs to one document. If the page replaces the document after the
check, the node no longer accepts input.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._page.announcing import ActionCall
from cdpengine._page.frames import FrameTree
from cdpengine._page.scripts.page_functions import Node
from cdpengine._urls.origins import origin_of
from cdpengine.act import ActRequest, Fill, Navigate, NewTab, Press, Wait
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.entries import CacheEntry, Step
from cdpengine.cache.templates import request_variables
from cdpengine.cache.variables import listed_origins
from cdpengine.errors import WrongOriginError

if TYPE_CHECKING:
    from cdpengine import Page

_MOST_PARENTS = 100


def document_origin(url: str) -> str:
    """Return the origin of a URL: "file://" for files, and the scheme for other URLs without an origin."""
    if url.startswith("blob:"):
        url = url.removeprefix("blob:")
    origin = origin_of(url)
    if origin is not None:
        return origin
    scheme = url.partition(":")[0].lower()
    return "file://" if scheme == "file" else f"{scheme}:" if scheme else "about:"


def frame_origin(frames: FrameTree, frame_id: str | None) -> str:
    """Return the origin of a frame's document. A document without an address has its parent's origin."""
    frame = None if frame_id is None else frames.get(frame_id)
    frame = frame or frames.main
    for _ in range(_MOST_PARENTS):
        parent = None if frame.parent_id is None else frames.get(frame.parent_id)
        if parent is None or (frame.url and not frame.url.startswith("about:")):
            break
        frame = parent
    return document_origin(frame.url)


def expected_origins(entry: CacheEntry, step: Step) -> frozenset[str]:
    """Return the permitted origins of the values in a step."""
    if step.origins:
        return frozenset(step.origins)
    frames = {place.address for target in step.targets.values() for place in target.frames if place.address}
    return frozenset(document_origin(address) for address in {entry.key.address, *frames})


def sent_variables(request: ActRequest) -> tuple[str, ...]:
    """Return the variables whose values a request sends to a page. A wait sends no values."""
    return () if isinstance(request, Wait) else request_variables(request)


def url_origin(request: ActRequest) -> str | None:
    """Return the destination origin of a request, or None if it has no destination or a variable host."""
    if not isinstance(request, (Navigate, NewTab)) or request.url is None:
        return None
    host = re.match(r"[^:/?#]*:/*[^/?#]*", request.url)
    return None if host is None or "${" in host[0] else document_origin(request.url)


def check_origin(names: Collection[str], allowed: Collection[str], met: str) -> None:
    """Raise WrongOriginError if the origin `met` is not permitted for the values of these variables."""
    if any(_is_for(each, met) for each in allowed):
        return
    for name in names:
        if met not in listed_origins(name):
            raise WrongOriginError(name, sorted(allowed), met)


def _is_for(allowed: str, met: str) -> bool:
    if allowed == met:
        return True
    return "*" in allowed and origin_of(met) is not None and UrlPattern(f"{allowed}/").matches(f"{met}/")


def value_origins(entry: CacheEntry | None) -> frozenset[str]:
    """Return the permitted origins of all values in an entry."""
    steps = () if entry is None else tuple(entry.all_steps())
    return frozenset(
        origin
        for step in steps
        if entry is not None and sent_variables(step.request)
        for origin in expected_origins(entry, step)
    )


# --- the guard -----------------------------------------------------------------------------------------------

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
