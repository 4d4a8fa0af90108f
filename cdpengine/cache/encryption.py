"""Encryption of what a store keeps: AES-256-GCM, and where its key comes from.

Rule: what is sealed is bound to its place (`about`): moved to another entry, owner or version, it does not open.
A key comes from the caller, else from the environment, else from the user's keyring, which gets a new one for each
new file. It is never written beside the file, and never in an error.
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import sqlite3
from collections.abc import Mapping

from cdpengine.errors import CacheKeyError, packages_named

KEY_VARIABLE = "CDPENGINE_CACHE_KEY"
"""The variable of the environment with the key: 32 bytes, in base64 or as 64 hexadecimal digits."""

KEYRING_SERVICE = "cdpengine"

_KEY_BYTES, _NONCE_BYTES = 32, 12

_HINT = f"Set {KEY_VARIABLE} to 32 bytes in base64, such as of: openssl rand -base64 32"


class Cipher:
    """Seals texts and opens them. Nonces are random: one key is good for 2**32 texts (NIST SP 800-38D, 8.3)."""

    def __init__(self, key: bytes) -> None:
        """Raise PackageMissingError where the package `cryptography` is not installed."""
        with packages_named():
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        self._aead = AESGCM(key)

    def seal(self, text: str, about: str) -> bytes:
        """Return the text, encrypted and bound to what it is about."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, text.encode(), about.encode())

    def open(self, sealed: bytes, about: str) -> str:
        """Return the text. Raises ValueError where it was changed, is about something else, or of another key."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._aead.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode()).decode()
        except (InvalidTag, ValueError):
            raise ValueError("it cannot be decrypted") from None


def key_of_environment(path: str, environment: Mapping[str, str]) -> bytes | None:
    """Return the key of the environment; None without one. Raises CacheKeyError for a text that is not a key."""
    text = environment.get(KEY_VARIABLE, "").strip()
    if not text:
        return None
    try:
        key = bytes.fromhex(text) if len(text) == 2 * _KEY_BYTES else _from_base64(text)
    except (ValueError, binascii.Error):
        key = b""
    return check_key_bytes(path, key, f"what {KEY_VARIABLE} holds is no key of 32 bytes")


def check_key_bytes(
    path: str, key: bytes, reason: str = "the key that was passed is not of 32 bytes"
) -> bytes:
    """Return the key. Raises CacheKeyError where it has another length."""
    if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
        raise CacheKeyError(path, reason, _HINT)
    return key


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)


def key_of_keyring(file_id: str, *, make: bool) -> bytes | None:
    """Return the key that the user's keyring has for a file; with `make`, a new one where it has none.

    None where there is no keyring, or it is locked. It blocks, and may ask the user.
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
            keyring.set_password(KEYRING_SERVICE, name, base64.b64encode(os.urandom(_KEY_BYTES)).decode())
            text = keyring.get_password(KEYRING_SERVICE, name)
        key = None if text is None else _from_base64(text)
    except (KeyringError, RuntimeError, OSError, binascii.Error):
        return None
    return key if key is not None and len(key) == _KEY_BYTES else None


def missing_key(path: str) -> CacheKeyError:
    """Return the error for a key that is needed and not there."""
    return CacheKeyError(path, "there is no key to encrypt with, and the keyring has none", _HINT)


def wrong_key(path: str) -> CacheKeyError:
    """Return the error for a key that is not that of the file."""
    return CacheKeyError(
        path, "it was encrypted with another key", f"Set {KEY_VARIABLE} to the key it was made with"
    )


def find_cipher(
    connection: sqlite3.Connection, path: str, key: bytes | None, *, keyring: bool
) -> Cipher | None:
    """Return what encrypts the file: with its own key, or from now on with that which there is; None without.

    It runs in a transaction, so of several processes that find a new file one makes its key.
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
