"""Secrets in bodies: what the protocol carries as base64, or in pieces, is decoded and looked through. Pure.

Rule: a body that is a text is redacted as one; in other bytes only what is known to be secret is found. A body
above the bound is withheld. Of a stream's pieces, the ends are looked at too, as a secret may be cut in two.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from cdpengine.debug.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.secret_text import redact_text

LARGEST = 16_000_000
"""Bytes that are decoded and looked through."""

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")


@attrs.frozen(eq=False)
class BodyRedactor:
    """Redacts bodies: as texts by `text`, as bytes by what is `known`.

    Where bytes in lower case look as if there was a secret in a text among them, they are read as one.
    """

    text: Callable[[str], str]
    known: KnownSecrets
    looks_secret: Callable[[bytes], bool]

    def redact_fields(self, payload: dict[str, Any], names: Sequence[str], *, stream: bool) -> dict[str, Any]:
        """Return parameters or a result with the bodies in fields of those names redacted.

        `base64Encoded`, or the opcode of a websocket's frame, says whether they are base64; else they may be.
        """
        encoded = payload.get("base64Encoded")
        if encoded is True:
            names = (*names, "body", "data", "content")
        clean = payload
        for name in names:
            held = clean.get(name)
            if isinstance(held, dict):
                clean = {**clean, name: self.redact_fields(held, ("payloadData", "body"), stream=stream)}
            elif not isinstance(held, str) or name not in payload:
                continue
            elif encoded is False or payload.get("opcode") == 1:
                clean = {**clean, name: self._redact_edges(held)} if stream else clean
            else:
                clean = {**clean, name: self.redact_base64(held, stream=stream)}
        return clean

    def redact_base64(self, encoded: str, *, stream: bool = False) -> str:
        """Return base64 without the secrets in what it encodes; the same text where there is none."""
        if len(encoded) > LARGEST * 4 // 3:
            return REDACTED
        plain = encoded.replace("%3D", "=").replace("%3d", "=").replace("-", "+").replace("_", "/")
        try:
            data = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except (binascii.Error, ValueError):
            return encoded  # a text, which is looked through as one
        clean = self.redact_bytes(data)
        if stream:
            clean = self.known.replace_edges(clean)
        return encoded if clean == data else base64.b64encode(clean).decode()

    def redact_bytes(self, data: bytes) -> bytes:
        """Return bytes without the secrets in them; the same object where there is none."""
        if data.startswith(_GZIP):
            return self._redact_compressed(data)
        encoding = "utf-16" if data.startswith(_BYTE_ORDER_MARKS) else "utf-8"
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            return self._redact_binary(data)
        if "\0" in text:
            return self._redact_binary(data)
        clean = self.text(text)
        return data if clean == text else clean.encode(encoding)

    def _redact_binary(self, data: bytes) -> bytes:
        data = self.known.replace_bytes(data)
        if not self.looks_secret(data.lower()):
            return data
        text = data.decode("latin-1")
        clean = redact_text(text)
        return data if clean == text else clean.encode("latin-1")

    def _redact_compressed(self, data: bytes) -> bytes:
        """Return compressed bytes, or a word in their place where there are secrets in what they hold."""
        decompressor = zlib.decompressobj(wbits=31)
        try:
            plain = decompressor.decompress(data, LARGEST)
        except zlib.error:
            return self.known.replace_bytes(data)
        if decompressor.unconsumed_tail or self.redact_bytes(plain) is not plain:
            return REDACTED.encode()
        return data

    def _redact_edges(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        clean = self.known.replace_edges(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")
