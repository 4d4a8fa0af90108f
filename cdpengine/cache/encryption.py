"""The key of the action cache, and its source.

Rule: the key comes from the caller, else from the environment, else from the user's keyring. The keyring gets a
new key for each new file. The key is never stored next to the file, and no error contains it.
"""

from __future__ import annotations

import base64
import os
import secrets
import sqlite3
from collections.abc import Mapping

from cdpengine._storage.encryption import KEY_BYTES, Cipher, key_of_text
from cdpengine.errors import CacheUnavailableError

KEY_VARIABLE = "CDPENGINE_CACHE_KEY"
"""The environment variable with the key: 32 bytes, in base64 or as 64 hexadecimal digits."""

KEYRING_SERVICE = "cdpengine"

_HINT = f"Set {KEY_VARIABLE} to 32 bytes in base64, such as of: openssl rand -base64 32"


def key_of_environment(path: str, environment: Mapping[str, str]) -> bytes | None:
    """Return the key from the environment, or None. Raises CacheUnavailableError for an invalid key."""
    text = environment.get(KEY_VARIABLE, "").strip()
    if not text:
        return None
    return check_key_bytes(path, key_of_text(text), f"the value of {KEY_VARIABLE} is not a key of 32 bytes")


def check_key_bytes(
    path: str, key: bytes, reason: str = "the key that was passed is not of 32 bytes"
) -> bytes:
    """Return the key. Raises CacheUnavailableError for a wrong length."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise _key_error(path, f"{reason}. {_HINT}")
    return key


def key_of_keyring(file_id: str, *, make: bool) -> bytes | None:
    """Return the key of a file from the user's keyring. With `make`, create a missing key.

    Return None if the keyring is missing or locked. The call blocks and can ask the user.
    """
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    name = f"cache {file_id}"
    try:
        text = keyring.get_password(KEYRING_SERVICE, name)
        if text is None and make:
            keyring.set_password(KEYRING_SERVICE, name, base64.b64encode(os.urandom(KEY_BYTES)).decode())
            text = keyring.get_password(KEYRING_SERVICE, name)
    except (KeyringError, RuntimeError, OSError):
        return None
    return None if text is None else key_of_text(text) or None


def missing_key(path: str) -> CacheUnavailableError:
    """Return the error for a missing key."""
    return _key_error(path, f"there is no key to encrypt with, and the keyring has none. {_HINT}")


def wrong_key(path: str) -> CacheUnavailableError:
    """Return the error for the key of another file."""
    return _key_error(
        path, f"it was encrypted with another key. Set {KEY_VARIABLE} to the key it was made with"
    )


def _key_error(path: str, reason: str) -> CacheUnavailableError:
    return CacheUnavailableError(path, "use the key of", reason, needs_key=True)


def find_cipher(
    connection: sqlite3.Connection, path: str, key: bytes | None, *, keyring: bool
) -> Cipher | None:
    """Return the cipher of the file, or None without a key. A new file gets the available key.

    The call runs in a transaction, so that only one process creates the key of a new file.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if "id" not in meta:
        meta["id"] = secrets.token_hex(8).encode()
        connection.execute("INSERT INTO meta VALUES ('id', ?)", (meta["id"],))
    check = meta.get("key_check")
    found = key or key_of_environment(path, os.environ)
    if found is None and keyring:
        found = key_of_keyring(bytes(meta["id"]).decode(), make=check is None)
    if found is None:
        if check is not None:
            raise missing_key(path)
        return None
    cipher = Cipher(found)
    if check is None:
        connection.execute("INSERT INTO meta VALUES ('key_check', ?)", (cipher.seal("cdpengine", "key"),))
        return cipher
    try:
        cipher.open(bytes(check), "key")
    except ValueError:
        raise wrong_key(path) from None
    return cipher
