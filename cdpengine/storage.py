"""Cookies, storages and databases of contexts, pages and origins."""

from cdpengine._api.scopes.storage import ContextStorage, DocumentStorage, OriginStorage, PageStorage
from cdpengine._storage.cookies import CookiePartition
from cdpengine._storage.storage_items import Database
from cdpengine._storage.storage_state import OriginState

__all__ = [
    "ContextStorage",
    "CookiePartition",
    "Database",
    "DocumentStorage",
    "OriginState",
    "OriginStorage",
    "PageStorage",
]
