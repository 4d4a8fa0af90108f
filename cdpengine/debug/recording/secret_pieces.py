"""Detection of known secrets that are cut between the pieces of one stream. Pure.

Rule: the end of a piece that may begin a form of a known secret is carried over to the next piece. A written piece
cannot be changed later, so its end is redacted immediately if it matches LEAST_BEGUN or more bytes of a form. The
decompressed content of a stream is searched too. A piece is withheld if its content has a part of a secret.
"""

from __future__ import annotations

import zlib

import attrs

from cdpengine.debug.recording.known_secrets import LEAST_BEGUN, REDACTED, KnownSecrets, common

_REDACTED = REDACTED.encode()
_AROUND = 16
"""Bytes around a redacted part that identify it."""

_LARGEST = 16_000_000
_FORMATS = (31, 15, -15)  # gzip, zlib and deflate as `wbits` of zlib


@attrs.frozen
class Parts:
    """Number of bytes at the start and the end of a piece that belong to cut secrets."""

    head: int = 0
    tail: int = 0

    def take_out(self, data: bytes, clean: bytes) -> bytes:
        """Return the redacted form of a piece without these parts, or `clean` if they are not found."""
        if not self.head and not self.tail:
            return clean
        if self.head + self.tail >= len(data):
            return _REDACTED
        if self.head:
            if clean.startswith(data[: self.head + _AROUND]):
                clean = _REDACTED + clean[self.head :]
            elif not clean.startswith(_REDACTED) or not self._goes_on(data, clean[len(_REDACTED) :]):
                if self.tail:
                    return _REDACTED
                same = min(common(data[::-1], clean[::-1]), len(data) - self.head)
                return _REDACTED + data[len(data) - same :]
        if self.tail:
            start = len(data) - self.tail
            if clean.endswith(data[max(self.head, start - _AROUND) :]):
                clean = clean[: len(clean) - self.tail] + _REDACTED
            elif not clean.endswith(_REDACTED) or not self._went_before(data, clean[: -len(_REDACTED)]):
                return _REDACTED if self.head else data[: min(common(data, clean), start)] + _REDACTED
        return clean

    def _goes_on(self, data: bytes, rest: bytes) -> bool:
        """Return whether the content after a redacted beginning equals the content after the head."""
        return data.find(rest[:_AROUND]) >= self.head if rest else True

    def _went_before(self, data: bytes, rest: bytes) -> bool:
        """Return whether the content before a redacted end equals the content before the tail."""
        before = rest[-_AROUND:]
        return data.rfind(before) + len(before) <= len(data) - self.tail and (not before or before in data)


_NO_PARTS = Parts()


@attrs.define(eq=False)
class PieceMatcher:
    """Matcher of the `known` secrets over the pieces of one stream, in order."""

    known: KnownSecrets
    _carried: bytes = b""

    def take(self, data: bytes) -> Parts:
        """Return the parts of the next piece that belong to secrets cut between pieces."""
        carried = self._carried
        head = self.known.reach_over(carried, data) if carried else 0
        joined = carried + data
        begun = self.known.begun(joined)
        self._carried = joined[len(joined) - begun :]
        tail = min(begun, len(data)) if begun >= LEAST_BEGUN else 0
        return Parts(head, tail) if head or tail else _NO_PARTS


@attrs.define(eq=False)
class _Unpacking:
    """Decompression of one stream under the assumption of one format."""

    unpack: zlib._Decompress
    matcher: PieceMatcher

    def holds_part(self, data: bytes) -> bool | None:
        """Return whether the decompressed next piece contains a part of a secret, or None for another format.

        Content that is too large to search counts as containing one.
        """
        try:
            plain = self.unpack.decompress(data, _LARGEST)
        except zlib.error:
            return None
        if self.unpack.unconsumed_tail:
            return True
        if not plain:
            return False
        parts = self.matcher.take(plain)
        return bool(parts.head or parts.tail) or self.matcher.known.is_in(plain)


@attrs.define(eq=False)
class StreamMatcher:
    """Matcher of secrets in the pieces of one stream: in its bytes and in the decompressed content."""

    known: KnownSecrets
    _plain: PieceMatcher = attrs.field(init=False)
    _unpacking: list[_Unpacking] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._plain = PieceMatcher(self.known)
        self._unpacking = [
            _Unpacking(zlib.decompressobj(wbits=bits), PieceMatcher(self.known)) for bits in _FORMATS
        ]

    def take(self, data: bytes) -> Parts:
        """Return the parts of the next piece to remove."""
        parts = self._plain.take(data)
        for each in tuple(self._unpacking):
            found = each.holds_part(data)
            if found is None or each.unpack.eof:
                self._unpacking.remove(each)
            if found:
                parts = Parts(len(data), 0)
        return parts
