"""Storage, DOMStorage, IndexedDB and CacheStorage: the stored data of sites."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import reply
from cdpengine._protocol.domains.network import ChromeCookie


@reply("Storage.getCookies")
class CookiesReply(msgspec.Struct):
    """The cookies of a browser context."""

    cookies: list[ChromeCookie]


@reply("Storage.getStorageKey")
class StorageKeyReply(msgspec.Struct, rename="camel"):
    """The storage key of a frame."""

    storage_key: str


@reply("DOMStorage.getDOMStorageItems")
class DOMStorageItemsReply(msgspec.Struct):
    """The items of a local or session storage, each a key and its value."""

    entries: list[list[str]]


@reply("IndexedDB.requestDatabaseNames")
class DatabaseNamesReply(msgspec.Struct, rename="camel"):
    """The databases of a storage key."""

    database_names: list[str]


class ObjectStore(msgspec.Struct):
    """An object store of a database."""

    name: str = ""


class DatabaseWithObjectStores(msgspec.Struct, rename="camel"):
    """A database, without its content."""

    name: str
    version: float = 0
    object_stores: list[ObjectStore] = msgspec.field(default_factory=list)


@reply("IndexedDB.requestDatabase")
class DatabaseReply(msgspec.Struct, rename="camel"):
    """One database."""

    database_with_object_stores: DatabaseWithObjectStores


class Cache(msgspec.Struct, rename="camel"):
    """A cache that a site's scripts created."""

    cache_id: str
    cache_name: str


@reply("CacheStorage.requestCacheNames")
class CacheNamesReply(msgspec.Struct):
    """The caches of a storage key."""

    caches: list[Cache]
