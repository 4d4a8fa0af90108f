"""Permitted origins of variable values. Pure.

Rule: the engine sends a value only to documents of the origins where its step was learned. A step contains
these origins. For a handwritten step, the origins are those of the entry's address and of the step's frames.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from cdpengine._page.frames import FrameTree
from cdpengine._urls.origins import origin_of
from cdpengine.act import ActRequest, Navigate, NewTab, Wait
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.entries import CacheEntry, Step
from cdpengine.cache.templates import request_variables
from cdpengine.cache.variables import listed_origins
from cdpengine.errors import WrongOriginError

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
