"""Keys of the store: a key encrypts everything and binds it to its place; without a key, typed text is
refused.
"""

from __future__ import annotations

import base64
import sqlite3
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import pytest
from cache_stores import KEY, OTHER_KEY, VIEWPORT, entry, key, opened

from cdpengine._storage.encryption import Cipher
from cdpengine.cache import ImportReport, make_key
from cdpengine.cache.encryption import KEY_VARIABLE
from cdpengine.errors import CacheUnavailableError, FileUnreadableError

pytestmark = pytest.mark.usefixtures("no_key")


def files_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir())


async def test_without_a_key_typed_text_is_refused_and_templates_are_kept(path: Path) -> None:
    async with opened(path) as store:
        assert not store.encrypted
        with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE) as caught:
            await store.put(entry(text="canary"))
        assert KEY_VARIABLE in str(caught.value)
        assert "canary" not in str(caught.value)
        made = make_key("login", "https://a.example/", VIEWPORT, ["password"])
        await store.put(entry(key=made, text="${password}"))
        assert b"canary" not in files_of(path)


@pytest.mark.parametrize("way", ["argument", "base64", "urlsafe", "hex"])
async def test_with_a_key_nothing_is_plain(path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = bytes(range(224, 256))
    texts = {
        "base64": base64.b64encode(secret).decode(), "urlsafe": base64.urlsafe_b64encode(secret).decode().rstrip("="),
        "hex": secret.hex(),
    }  # fmt: skip
    if way != "argument":
        monkeypatch.setenv(KEY_VARIABLE, texts[way])
    async with opened(path, key=secret if way == "argument" else None) as store:
        assert store.encrypted
        kept = await store.put(entry(text="canary", description="canary"))
        assert await store.get(key()) == kept
        assert b"canary" not in files_of(path)
    async with opened(path, key=secret) as store:
        assert await store.get(key()) == kept


@pytest.mark.parametrize("more", [{"key": OTHER_KEY}, {"key": None}])
async def test_a_wrong_or_missing_key_is_reported(path: Path, more: dict[str, Any]) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry())
    with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE):
        async with opened(path, **more):
            pass
    async with opened(path, key=KEY) as store:
        assert len(await store.entries()) == 1


@pytest.mark.parametrize("text", ["short", "x" * 64, "!" * 44, "é"])
async def test_an_environment_without_a_real_key_is_refused(
    path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, text)
    with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE) as caught:
        async with opened(path):
            pass
    assert text not in str(caught.value)
    with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE):
        async with opened(path, key=b"short"):
            pass


class Ring(keyring.backend.KeyringBackend):
    priority = 1.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


async def test_the_keyring_keeps_a_key_for_each_file(path: Path) -> None:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    try:
        for file in (path, path.with_name("other.sqlite3")):
            async with opened(file, keyring=True) as store:
                await store.put(entry(text="canary"))
            async with opened(file, keyring=True) as store:
                assert (await store.get(key())).holds_typed_text
        assert len(set(ring.kept.values())) == 2
        assert b"canary" not in files_of(path)
        ring.kept.clear()
        # no new key while entries are encrypted with a lost one
        with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE):
            async with opened(path, keyring=True):
                pass
        assert ring.kept == {}
    finally:
        keyring.set_keyring(before)


def test_encrypted_data_is_bound_to_its_place() -> None:
    cipher = Cipher(KEY)
    sealed = cipher.seal("canary", "here")
    assert cipher.open(sealed, "here") == "canary"
    assert cipher.seal("canary", "here") != sealed
    wrong = [(cipher, sealed, "there"), (cipher, sealed[:-1] + bytes([sealed[-1] ^ 1]), "here")]
    wrong += [(Cipher(OTHER_KEY), sealed, "here"), (cipher, b"", "here")]
    for other, given, about in wrong:
        with pytest.raises(ValueError, match="cannot be decrypted"):
            other.open(given, about)


@pytest.mark.parametrize("address", ["https://a.example/1", "https://b.test/", "odd"])
async def test_a_changed_address_leads_to_no_other_page(path: Path, address: str) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(2))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET address = ?", (address,))
        database.commit()
        database.close()
        assert await store.find("login", key(1).address) == ()


async def test_a_moved_entry_is_damaged(path: Path) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET id = ?", (key(2).id,))
        database.commit()
        database.close()
        with pytest.raises(FileUnreadableError):
            await store.get(key(2))


async def test_an_export_contains_typed_text_only_on_request(path: Path) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        await store.put(entry(2, text="canary"))
        made = await store.export()
        assert (made.entries, made.left_out) == (1, 1)
        assert "canary" not in made.text + repr(await store.export(typed=True))
        whole = await store.export(typed=True)
        assert (whole.entries, whole.left_out) == (2, 0)
        everything = await store.entries()
    async with opened(path.with_name("other.sqlite3"), key=OTHER_KEY) as other:
        assert await other.import_entries(whole.text) == ImportReport(added=2)
        assert set(map(str, await other.entries())) == set(map(str, everything))
        changed = whole.text.replace('"name": "Go"', '"name": "Gone"')
        assert await other.import_entries(changed) == ImportReport(kept=2)
        assert await other.import_entries(changed, replace=True) == ImportReport(replaced=2)
        assert [each.version for each in await other.versions(key(1))] == [2, 1]
    async with opened(path.with_name("plain.sqlite3")) as plain:
        with pytest.raises(CacheUnavailableError, match=KEY_VARIABLE):
            await plain.import_entries(whole.text)
        assert await plain.entries() == ()  # an import is complete or has no effect
