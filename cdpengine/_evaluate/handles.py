"""Handles: values of scripts that stay in the page.

Rule: the end of the block of `evaluate_handle` releases its handle, and all handles derived from it. A handle that
was released is refused by name. A primitive needs no object in the page: its handle has its JavaScript source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs
import trio

from cdpengine._budget import Budget, within
from cdpengine._checks import check_string
from cdpengine._evaluate.replies import source_of_primitive
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import ObjectGroup, RemoteHandle, context_gone
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.runtime import PropertiesReply, RemoteObject
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError, StaleRefError
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import HANDLE

_LONGEST = 80


class HandleReader(Protocol):
    """The evaluator of a handle's page."""

    async def read(self, handle: JSHandle, budget: Budget) -> Any:
        """Return the handle's value."""

    async def property_of(self, handle: JSHandle, name: str | int, budget: Budget) -> JSHandle:
        """Return a handle to a property."""

    async def properties_of(self, handle: JSHandle) -> dict[str, JSHandle]:
        """Return handles to the own enumerable properties."""


@attrs.define(eq=False)
class Holding:
    """The objects that Chrome keeps for one handle and the handles derived from it. They are released together."""

    group: ObjectGroup
    released: bool = False

    def release(self) -> None:
        """Release the objects without waiting. Raises nothing."""
        self.released = True
        self.group.release()


@not_picklable("the value: `json_value`")
@attrs.define(eq=False)
class JSHandle:
    """A value that stays in the page. `description` is Chrome's description, such as "Array(3)" or "button#go".

    A handle can be an argument of `evaluate`, alone or anywhere in lists and mappings. A handle to an element can
    be the target of any action and read. It is valid until the end of its block, or `release`. After a navigation
    it raises StaleRefError.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(HANDLE)

    description: str
    remote: RemoteHandle | None = attrs.field(repr=False)
    internals: HandleReader = attrs.field(repr=False)
    holding: Holding = attrs.field(repr=False)
    frame: Frame | None = attrs.field(repr=False)
    source: str = attrs.field(default="", repr=False)
    node: Any = attrs.field(default=None, repr=False)
    _released: bool = attrs.field(default=False, init=False, repr=False)

    @property
    def session(self) -> Session | None:
        """The session of its document, or None for a primitive."""
        return None if self.remote is None else self.remote.session

    @property
    def object(self) -> RemoteHandle:
        """The object in the page. Only for values that are not primitives."""
        assert self.remote is not None
        return self.remote

    @property
    def released(self) -> bool:
        """Whether the handle was released."""
        return self._released or self.holding.released

    async def json_value(self, *, timeout: float = 30) -> Any:
        """Return the value as `Page.evaluate` returns it. Raises the errors of `evaluate`."""
        self.check_usable()
        budget = Budget.start(f"read a handle to {self.short()}", timeout)
        return await self.internals.read(self, budget)

    async def get_property(self, name: str | int, *, timeout: float = 30) -> JSHandle:
        """Return a handle to a property or an item, undefined if it is missing. Getters run.

        The new handle is released with this one. Raises the errors of `evaluate`.
        """
        self.check_usable()
        if not isinstance(name, int) or isinstance(name, bool):
            check_string("name", name, "a str, or the number of an item")
        budget = Budget.start(f"read property {name!r:.40} of a handle to {self.short()}", timeout)
        return await self.internals.property_of(self, name, budget)

    async def properties(self, *, timeout: float = 30) -> dict[str, JSHandle]:
        """Return handles to the own enumerable properties by name. Getters do not run, and are omitted.

        The new handles are released with this one. Raises DeadlineExceededError and StaleRefError.
        """
        self.check_usable()
        with within(f"read the properties of a handle to {self.short()}", timeout):
            return await self.internals.properties_of(self)

    async def items(self, *, timeout: float = 30) -> list[JSHandle]:
        """Return handles to the items of an array or a NodeList, in order. Works like `properties`."""
        found = await self.properties(timeout=timeout)
        numbered = {int(name): handle for name, handle in found.items() if name.isascii() and name.isdigit()}
        return [numbered[number] for number in sorted(numbered)]

    def release(self) -> None:
        """Release the value in the page now, instead of at the end of the block. Does not wait."""
        if not self.released and self.remote is not None:
            self.remote.release()
        self._released = True

    def check_usable(self) -> None:
        """Raise StaleRefError if the handle was released."""
        if self.released:
            raise self.stale("it was released, at the end of its block or by release()")

    def stale(self, reason: str) -> StaleRefError:
        """Return the error of a handle that cannot be used."""
        return StaleRefError(
            ref="handle", description=self.short(), reason=reason, advice="Make a new handle"
        )

    def short(self) -> str:
        """Return a short description for messages."""
        return self.description[:_LONGEST]


ITSELF = "(value) => value"
PROPERTY = "(object, name) => object[name]"


def make_handle(
    found: RemoteObject, session: Session, frame: Frame | None, holding: Holding, reader: HandleReader
) -> JSHandle:
    """Return the handle to a value that was requested by reference."""
    if found.object_id is None:
        source = source_of_primitive(found)
        description = source if found.type == "string" else found.description or source
        return JSHandle(description, None, reader, holding, frame, source)
    remote = RemoteHandle(session, found.object_id)
    return JSHandle(found.description or found.type, remote, reader, holding, frame)


async def read_properties(handle: JSHandle) -> dict[str, JSHandle]:
    """Return handles to the own enumerable properties, which are released with the handle. Runs no getter.

    Raises StaleRefError and the errors of `Session.call`.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    remote = handle.remote
    if remote is None:
        return {}
    call = remote.session.post("Runtime.getProperties", objectId=remote.reference, ownProperties=True)
    try:
        reply = await call.decoded(PropertiesReply)
    except RemoteError as error:
        if context_gone(error):
            raise handle.stale("the page left its document") from None
        raise
    return {
        each.name: make_handle(each.value, remote.session, handle.frame, handle.holding, handle.internals)
        for each in reply.result
        if each.enumerable and each.value is not None and each.symbol is None
    }
