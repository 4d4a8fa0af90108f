"""Local and session storage: the items of one storage key, read and written through DevTools.

Rule: no script runs in the page for it; the page sees writes as it sees those of another tab. The session has to
be that of a page in which a frame has the storage key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from cdpengine._protocol.domains.storage import DOMStorageItemsReply, StorageKeyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, RemoteError, StorageUnavailableError


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
            raise self._unavailable(error) from None
        return {entry[0]: entry[1] for entry in reply.entries if len(entry) == 2}

    async def write(self, items: Mapping[str, str], *, entered: bool = True) -> None:
        """Set items; others stay. Raises StorageUnavailableError, also where they do not fit: none is set then.

        `entered`: the values are this program's, not the page's own that are put back. Those who watch the wire
        then get to know them as secrets, before anything is asked of the storage.
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
                raise self._unavailable(error) from None
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
            raise self._unavailable(error) from None

    async def clear(self) -> None:
        """Remove all items."""
        try:
            await self.session.call("DOMStorage.clear", storageId=self._id)
        except RemoteError as error:
            raise self._unavailable(error) from None

    @property
    def _id(self) -> dict[str, object]:
        return {"storageKey": self.storage_key, "isLocalStorage": self.local}

    def _post(self, method: str, **params: str) -> None:
        if self.session.error() is None:
            self.session.post(method, storageId=self._id, **params)

    def _unavailable(self, error: RemoteError) -> StorageUnavailableError:
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
