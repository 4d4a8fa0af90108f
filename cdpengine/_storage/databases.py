"""Databases: what an origin keeps besides local storage (IndexedDB, caches, service workers), and the HTTP cache.

Rule: listed and cleared, never opened by a script: a database that a page has open is closed by Chrome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from cdpengine._protocol.domains.storage import CacheNamesReply, DatabaseNamesReply, DatabaseReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError

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
