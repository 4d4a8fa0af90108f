"""The items of one local or session storage, for any origin; and the databases of an origin.

Rule: no script runs in the page; the page sees writes like those of another tab. Storages are accessible only from
a frame of their origin. If no page has one, an empty document is opened without a window (OriginPage). The engine
provides its content, so it causes no network traffic, no service worker and no script of the site. Databases
(IndexedDB, caches, service workers) and the HTTP cache are listed and cleared, never opened by a script; Chrome
closes a database that a page has open.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Literal

import attrs

from cdpengine._budget import undoing
from cdpengine._checks import check_choice, check_string
from cdpengine._page.scripts.remote_resources import RemoteResources, Undo
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
    """The items of one storage: the storage with this key, reached through `session`."""

    session: Session
    storage_key: str
    local: bool

    async def read(self) -> dict[str, str]:
        """Return all items. Raises StorageUnavailableError, and the errors of `Session.request`."""
        try:
            params = {"storageId": self._id}
            reply = await self.session.request("DOMStorage.getDOMStorageItems", params, DOMStorageItemsReply)
        except RemoteError as error:
            raise self._unavailable_error(error) from None
        return {entry[0]: entry[1] for entry in reply.entries if len(entry) == 2}

    async def write(self, items: Mapping[str, str], *, entered: bool = True) -> None:
        """Set items; others stay. Raises StorageUnavailableError, also for lack of space, and then sets none.

        With `entered`, the values come from this program and not from the page. The connection's instruments then
        learn them as secrets before the first message about the storage.
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
            # Chrome reports success even without space.
            after = await self.read()
            lost = next((key for key, value in items.items() if after.get(key) != value), None)
            if lost is not None:
                size = len(items[lost])
                reason = (
                    f"Chrome did not keep an item of {size} characters: "
                    "the storage is full, or the page changed it"
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
        """Remove items. Ignores missing keys."""
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
        return StorageUnavailableError(origin=self.storage_key, reason=f"Chrome answered {error.message!r}")


def top_storage_key(origin: str) -> str:
    """Return the storage key of a top-level document of that origin."""
    return f"{origin}/"


async def storage_key_of(session: Session, frame_id: str, url: str) -> str:
    """Return the storage key of a frame's document. Raises StorageUnavailableError if it has none."""
    try:
        reply = await session.request("Storage.getStorageKey", {"frameId": frame_id}, StorageKeyReply)
    except RemoteError as error:
        reason = f"its document has no storage (Chrome answered {error.message!r})"
        raise StorageUnavailableError(origin=url[:200], reason=reason) from None
    if not reply.storage_key.startswith(("http://", "https://", "file://", "chrome-extension://")):
        reason = "its document has no storage"
        raise StorageUnavailableError(origin=url[:200], reason=reason)
    return reply.storage_key


def check_items(items: object) -> dict[str, str]:
    """Return checked items of a storage. Raises InvalidArgumentError."""
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
    """Return checked keys. Raises InvalidArgumentError."""
    if not keys:
        raise InvalidArgumentError(what="keys", given="none", expected="one str or more")
    return [check_string("keys", key, "one str or more") for key in keys]


_CLOSE_TIMEOUT = 2.0
"""Maximum duration of closing at the block's end, in seconds."""

_EMPTY = "PCFkb2N0eXBlIGh0bWw+"  # <!doctype html>


@attrs.frozen(eq=False)
class OriginPage:
    """The hidden page and its `session`."""

    session: Session

    async def go(self, origin: str) -> StorageItems:
        """Navigate to `origin`, and return its local storage. Raises StorageUnavailableError if Chrome refuses."""
        # The reply precedes the document.
        async with self.session.subscribe("Page.frameNavigated", enable=False) as commits:
            reply = await self.session.request("Page.navigate", {"url": f"{origin}/"}, NavigateReply)
            if reply.error_text:
                raise StorageUnavailableError(origin=origin, reason=f"Chrome answered {reply.error_text}")
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
    root: Session, creations: RemoteResources, context_id: str | None, unlisted_url: str
) -> AsyncIterator[OriginPage]:
    """Open a hidden page in a context, and close it at the block's end. See `_create_hidden` for `unlisted_url`.

    Raises RemoteError, ConnectionLostError.
    """
    params: dict[str, object] = {"background": True}
    if context_id is not None:
        params["browserContextId"] = context_id

    async def close(made: CreateTargetReply) -> None:
        await root.call("Target.closeTarget", targetId=made.target_id)

    made = await _create_hidden(creations, params, close, unlisted_url)
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
        # If the connection or the context ended, the page is closed too.
        with undoing(_CLOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            await close(made)


async def _create_hidden(
    creations: RemoteResources, params: dict[str, object], close: Undo[CreateTargetReply], unlisted_url: str
) -> CreateTargetReply:
    """Create a hidden target. Chrome refuses that while it has no page, so another page is open meanwhile.

    That page shows `unlisted_url`, so the engine does not list it.
    """

    async def create(**more: object) -> CreateTargetReply:
        return await creations.create("Target.createTarget", {**params, **more}, CreateTargetReply, close)

    try:
        return await create(url="about:blank", hidden=True)
    except RemoteError as error:
        if not error.message.startswith("Hidden target"):
            raise
    page = await create(url=unlisted_url)
    try:
        return await create(url="about:blank", hidden=True)
    finally:
        with undoing(_CLOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            await close(page)


async def _attach(root: Session, target_id: str) -> Session:
    reply = await root.request(
        "Target.attachToTarget", {"targetId": target_id, "flatten": True}, AttachToTargetReply
    )
    session = root.connection.targets.sessions.get(reply.session_id)
    if session is None:
        raise SessionGoneError(target=f"page {target_id[:8]}", reason="it was closed immediately")
    return session


def _answer(session: Session, event: Event) -> None:
    """Serve the requested document and block all other loads. Runs in the reader, so it sends without waiting."""
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
    """Return the databases with a storage key, through `session`. Raises the errors of `Session.request`."""
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
    """Return the names of the caches (CacheStorage) with a storage key, through `session`."""
    where = {"storageKey": storage_key}
    reply = await session.request("CacheStorage.requestCacheNames", where, CacheNamesReply)
    return [cache.cache_name for cache in reply.caches]


def check_kinds(kinds: Sequence[object]) -> tuple[StorageKind, ...]:
    """Return the kinds of storage, by default all. Raises InvalidArgumentError."""
    for kind in kinds:
        check_choice("kinds", kind, _KINDS, f"kinds among {', '.join(_KINDS)}")
    return tuple(kind for kind in _KINDS if not kinds or kind in kinds)


async def clear_origin(session: Session, origin: str, kinds: Sequence[StorageKind]) -> None:
    """Remove an origin's data in the context of `session`'s page, including partitions of other sites."""
    await session.call("Storage.clearDataForOrigin", origin=origin, storageTypes=",".join(kinds))


async def clear_http_cache(session: Session) -> None:
    """Empty the HTTP cache of the context of `session`'s page."""
    await session.call("Network.clearBrowserCache")
