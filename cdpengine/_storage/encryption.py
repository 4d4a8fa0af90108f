"""Encryption of stored data with AES-256-GCM.

Rule: sealed data is bound to its place (`about`), and does not open in another one. No error contains a key.
"""

from __future__ import annotations

import base64
import binascii
import os

from cdpengine.errors import packages_named

KEY_BYTES = 32
_NONCE_BYTES = 12


class Cipher:
    """A cipher for strings. Nonces are random, so a key is safe for 2**32 strings (NIST SP 800-38D, 8.3)."""

    def __init__(self, key: bytes) -> None:
        """Raise PackageMissingError if the package `cryptography` is not installed."""
        with packages_named():
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        self._aead = AESGCM(key)

    def seal(self, text: str, about: str) -> bytes:
        """Encrypt a string and bind it to `about`."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, text.encode(), about.encode())

    def open(self, sealed: bytes, about: str) -> str:
        """Decrypt a string. Raises ValueError for changed data, another `about` or another key."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._aead.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode()).decode()
        except (InvalidTag, ValueError):
            raise ValueError("it cannot be decrypted") from None


def key_of_text(text: str) -> bytes:
    """Return the key of 32 bytes in a string, in base64 or as 64 hexadecimal digits, or b"" for another string."""
    text = text.strip()
    try:
        if len(text) == 2 * KEY_BYTES:
            return bytes.fromhex(text)
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        key = base64.b64decode(padded, validate=True)
    except (ValueError, binascii.Error):
        return b""
    return key if len(key) == KEY_BYTES else b""
