"""Local and session storage: the items of one storage key, for any origin; and the databases beside them.

Rule: no script runs in the page for it; the page sees writes as it sees those of another tab. Storages can be
reached only from a frame of their origin. Where no page has one, an empty document is opened in no window
(OriginPage): what it loads is made here, so nothing goes to the network, no service worker is asked, and no script
of the site runs. Databases (IndexedDB, caches, service workers) and the HTTP cache are listed and cleared, never
opened by a script: a database that a page has open is closed by Chrome.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

import attrs

from cdpengine._budget import undoing
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.domains.page import FrameNavigated, NavigateReply
from cdpengine._protocol.domains.storage import (
    CacheNamesReply,
    DatabaseNamesReply,
    DatabaseReply,
    DOMStorageItemsReply,
    StorageKeyReply,
)
from cdpengine._protocol.domains.target import AttachToTargetReply, CreateTargetReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    StorageUnavailableError,
)


@attrs.frozen
class StorageItems:
    """The items of one storage, of the frames of `session` that have this key."""

    session: Session
    storage_key: str
    local: bool

    async def read(self) -> dict[str, str]:
        """Return all items. Raises StorageUnavailableError, and as `Session.request`."""
        try:
            params = {"storageId": self._id}
            reply = await self.session.request("DOMStorage.getDOMStorageItems", params, DOMStorageItemsReply)
        except RemoteError as error:
            raise self._unavailable_error(error) from None
        return {entry[0]: entry[1] for entry in reply.entries if len(entry) == 2}

    async def write(self, items: Mapping[str, str], *, entered: bool = True) -> None:
        """Set items; others stay. Raises StorageUnavailableError, also where they do not fit: none is set then.

        `entered`: the values come from this program, and are not the page's own that are put back. The
        connection's instruments are given them as secrets before anything is asked of the storage.
        """
        if entered:
            for value in items.values():
                self.session.connection.instruments.add_secret(value)
        before = await self.read()
        try:
            calls = [
                self.session.post("DOMStorage.setDOMStorageItem", storageId=self._id, key=key, value=value)
                for key, value in items.items()
            ]
            for call in calls:
                await call.raw()
            # Chrome answers as if all were well where there is no room.
            after = await self.read()
            lost = next((key for key, value in items.items() if after.get(key) != value), None)
            if lost is not None:
                size = len(items[lost])
                reason = (
                    f"an item of {size} characters was not kept: there is no room, or the page changed it"
                )
                raise StorageUnavailableError(origin=self.storage_key, reason=reason)
        except BaseException as error:
            for key in items:
                if key in before:
                    self._post("DOMStorage.setDOMStorageItem", key=key, value=before[key])
                else:
                    self._post("DOMStorage.removeDOMStorageItem", key=key)
            if isinstance(error, RemoteError):
                raise self._unavailable_error(error) from None
            raise

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove items; those that are not there are no error."""
        calls = [
            self.session.post("DOMStorage.removeDOMStorageItem", storageId=self._id, key=key) for key in keys
        ]
        try:
            for call in calls:
                await call.raw()
        except RemoteError as error:
            raise self._unavailable_error(error) from None

    async def clear(self) -> None:
        """Remove all items."""
        try:
            await self.session.call("DOMStorage.clear", storageId=self._id)
        except RemoteError as error:
            raise self._unavailable_error(error) from None

    @property
    def _id(self) -> dict[str, object]:
        return {"storageKey": self.storage_key, "isLocalStorage": self.local}

    def _post(self, method: str, **params: str) -> None:
        if self.session.error() is None:
            self.session.post(method, storageId=self._id, **params)

    def _unavailable_error(self, error: RemoteError) -> StorageUnavailableError:
        return StorageUnavailableError(origin=self.storage_key, reason=f"Chrome says {error.message!r}")


def top_storage_key(origin: str) -> str:
    """Return the storage key of a document of that origin which is in no frame."""
    return f"{origin}/"


async def storage_key_of(session: Session, frame_id: str, url: str) -> str:
    """Return the storage key of a frame's document. Raises StorageUnavailableError for one that has none."""
    try:
        reply = await session.request("Storage.getStorageKey", {"frameId": frame_id}, StorageKeyReply)
    except RemoteError as error:
        reason = f"its document has no storage of its own (Chrome says {error.message!r})"
        raise StorageUnavailableError(origin=url[:200], reason=reason) from None
    if not reply.storage_key.startswith(("http://", "https://", "file://", "chrome-extension://")):
        reason = "its document has no storage of its own"
        raise StorageUnavailableError(origin=url[:200], reason=reason)
    return reply.storage_key


def check_items(items: object) -> dict[str, str]:
    """Return items of a storage, checked. Raises InvalidArgumentError."""
    wrong = None if isinstance(items, Mapping) else f"a {type(items).__name__}"
    if isinstance(items, Mapping):
        for key, value in items.items():
            if not isinstance(key, str) or not isinstance(value, str):
                wrong = f"{type(key).__name__} to {type(value).__name__}"
                break
        else:
            return dict(items)
    raise InvalidArgumentError(what="items", given=str(wrong), expected="a mapping of str to str")


def check_keys(keys: tuple[object, ...]) -> list[str]:
    """Return keys, checked. Raises InvalidArgumentError."""
    wrong = next((key for key in keys if not isinstance(key, str)), None)
    if wrong is not None or not keys:
        given = "none" if not keys else f"a {type(wrong).__name__}"
        raise InvalidArgumentError(what="keys", given=given, expected="one str or more")
    return [key for key in keys if isinstance(key, str)]


_CLOSE_TIMEOUT = 2.0
"""Seconds that closing may take when the block ends."""

_EMPTY = "PCFkb2N0eXBlIGh0bWw+"  # <!doctype html>


@attrs.frozen(eq=False)
class OriginPage:
    """The unseen page; `session` is its own."""

    session: Session

    async def go(self, origin: str) -> StorageItems:
        """Go to `origin`, and return its local storage. Raises StorageUnavailableError where Chrome refuses."""
        # The reply comes before the document is there.
        async with self.session.subscribe("Page.frameNavigated", enable=False) as commits:
            reply = await self.session.request("Page.navigate", {"url": f"{origin}/"}, NavigateReply)
            if reply.error_text:
                raise StorageUnavailableError(origin=origin, reason=f"Chrome says {reply.error_text}")
            while (
                frame := (await commits.receive()).decode(FrameNavigated).frame
            ).loader_id != reply.loader_id:
                pass
        if frame.security_origin != origin:
            raise StorageUnavailableError(
                origin=origin, reason=f"Chrome goes to {frame.security_origin} instead"
            )
        return StorageItems(self.session, top_storage_key(origin), local=True)


@asynccontextmanager
async def open_origin_page(
    root: Session, creations: RemoteResources, context_id: str | None
) -> AsyncIterator[OriginPage]:
    """Open an unseen page in a context, and close it with the block. Raises RemoteError, ConnectionLostError."""
    params: dict[str, object] = {"url": "about:blank", "hidden": True, "background": True}
    if context_id is not None:
        params["browserContextId"] = context_id

    async def close(made: CreateTargetReply) -> None:
        await root.call("Target.closeTarget", targetId=made.target_id)

    made = await creations.create("Target.createTarget", params, CreateTargetReply, close)
    try:
        session = await _attach(root, made.target_id)
        session.on_event("Fetch.requestPaused", lambda event: _answer(session, event))
        for call in [
            session.post("Fetch.enable", patterns=[{"urlPattern": "*"}]),
            session.post("Network.enable"),
            session.post("Network.setBypassServiceWorker", bypass=True),
            session.post("Page.enable"),
        ]:
            await call.raw()
        yield OriginPage(session)
    finally:
        # Gone with the connection or the context: either way it is gone.
        with undoing(_CLOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            await close(made)


async def _attach(root: Session, target_id: str) -> Session:
    reply = await root.request(
        "Target.attachToTarget", {"targetId": target_id, "flatten": True}, AttachToTargetReply
    )
    session = root.connection.targets.sessions.get(reply.session_id)
    if session is None:
        raise SessionGoneError(target=f"page {target_id[:8]}", reason="it was closed at once")
    return session


def _answer(session: Session, event: Event) -> None:
    """Give the document that was asked for; nothing else is loaded. In the reader: sent, not waited for."""
    paused = event.decode(RequestPaused)
    if session.error() is not None:
        return
    if paused.resource_type == "Document":
        headers = [
            {"name": "Content-Type", "value": "text/html"},
            {"name": "Cache-Control", "value": "no-store"},
        ]
        session.post(
            "Fetch.fulfillRequest",
            requestId=paused.request_id,
            responseCode=200,
            responseHeaders=headers,
            body=_EMPTY,
        )
    else:
        session.post("Fetch.failRequest", requestId=paused.request_id, errorReason="BlockedByClient")


# --- databases -----------------------------------------------------------------------------------------------

StorageKind = Literal[
    "local_storage", "indexeddb", "cache_storage", "service_workers", "file_systems", "shared_storage"
]

_KINDS: tuple[StorageKind, ...] = (
    "local_storage",
    "indexeddb",
    "cache_storage",
    "service_workers",
    "file_systems",
    "shared_storage",
)


@attrs.frozen
class Database:
    """An IndexedDB database: its name, version, and the names of its object stores."""

    name: str
    version: int
    stores: tuple[str, ...]


async def list_databases(session: Session, storage_key: str) -> list[Database]:
    """Return the databases of a storage key that a frame of `session` has. Raises as `Session.request`."""
    where = {"storageKey": storage_key}
    found = await session.request("IndexedDB.requestDatabaseNames", where, DatabaseNamesReply)
    databases = []
    for name in found.database_names:
        params = {**where, "databaseName": name}
        reply = await session.request("IndexedDB.requestDatabase", params, DatabaseReply)
        reply_database = reply.database_with_object_stores
        stores = tuple(store.name for store in reply_database.object_stores)
        databases.append(
            Database(name=reply_database.name, version=int(reply_database.version), stores=stores)
        )
    return databases


async def list_caches(session: Session, storage_key: str) -> list[str]:
    """Return the names of the caches (CacheStorage) of a storage key that a frame of `session` has."""
    where = {"storageKey": storage_key}
    reply = await session.request("CacheStorage.requestCacheNames", where, CacheNamesReply)
    return [cache.cache_name for cache in reply.caches]


def check_kinds(kinds: Sequence[object]) -> tuple[StorageKind, ...]:
    """Return the kinds of storage that are meant; none given means all. Raises InvalidArgumentError."""
    for kind in kinds:
        if kind not in _KINDS:
            expected = f"some of {', '.join(_KINDS)}"
            raise InvalidArgumentError(what="kinds", given=repr(kind)[:80], expected=expected)
    return tuple(kind for kind in _KINDS if not kinds or kind in kinds)


async def clear_origin(session: Session, origin: str, kinds: Sequence[StorageKind]) -> None:
    """Remove what an origin keeps, in the context of `session`'s page, also in partitions below other sites."""
    await session.call("Storage.clearDataForOrigin", origin=origin, storageTypes=",".join(kinds))


async def clear_http_cache(session: Session) -> None:
    """Empty the HTTP cache of the context of `session`'s page."""
    await session.call("Network.clearBrowserCache")
