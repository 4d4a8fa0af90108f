"""Redaction of bodies: base64 and pieces of streams are decoded and searched for secrets. Pure.

Rule: a textual body is redacted as one string. In other bytes only known secrets are found. A body above the size
bound is withheld. Pieces of a stream are redacted together: the end of a piece may begin a secret, so it is
searched again with the next piece. A secret may therefore be cut anywhere, into any number of pieces, and have any
length. A written piece cannot be changed later, so it ends before anything that may already be secret: a value
with a secret's name, credentials, the beginning of a known secret, a password in a URL. A piece without a known
position (`content_streams.py`) is withheld, because it may begin with the rest of a secret.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Self

import attrs

from cdpengine.debug.recording.content_streams import MOST_STREAMS, Piece, StreamName
from cdpengine.debug.recording.known_secrets import REDACTED, KnownSecrets
from cdpengine.debug.recording.secret_pieces import StreamMatcher
from cdpengine.debug.recording.secret_text import redact_text

LARGEST = 16_000_000
"""Maximum size of a decoded body, in bytes."""

_UNFINISHED = re.compile(
    r"""(?P<name>\\*["'`]?(?<![\w\-.$])[\w\-.$]{1,2000}\\*["'`]?\s*(?:(?:[=:]|%3[dD])\s*\\*)?)"""
    r"""(?P<value>(?<=[\s=:\\dD])(?:"[^"]*|'[^']*|`[^`]*|[^"'`&;\s,<>)}\]]*))?\Z"""
)
"""End of a piece at which a name or its value may continue in the next piece."""

_NAME = re.compile(r"""(?:\\*\s*(?:[=:]|[dD]3%))?\s*["'`]?\\*[\w.\-$]{1,2000}+(?![\w\-.$])["'`]?\\*""")
_SIGN = re.compile(r"[\s=:\\]|(?<=%3)[dD]")
_BARE = re.compile(r"""[^"'`&;\s,<>)}\]]*""")
_LONGEST_NAME = 2_300
"""Maximum length that `_UNFINISHED` matches for a name with its sign. `_NAME` and `_SIGN` match backwards."""

_USER_BEGUN = re.compile(rb"://[^/?#\s\"'<>@\[({\\|*:]*:(?![0-9]*\Z)[^/?#\s\"'<>@\[({\\|*]+\Z")
"""A user and the beginning of a password at the end of a URL. A host and its port do not match."""

_LONGEST_UNFINISHED = 8_192

_CONTEXT = 160
"""Length of the context before unfinished content, such as a parameter's name, in characters."""

_VALUE_HEAD, _VALUE_END = 2_000, 100
"""Number of stored characters of a secret that has begun, whatever its length."""

_GZIP = b"\x1f\x8b"
_ZLIB = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
_COMPRESSED = (_GZIP, *_ZLIB)
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_REDACTED = REDACTED.encode()


class CleanBody(str):
    """A redacted body as it appears in its message. It is not searched again as a string.

    `version` is the version of the known secrets (`KnownSecrets.version`) used for it.
    """

    version: int

    def __new__(cls, text: str, version: int) -> Self:
        """Mark `text` as redacted with that version of the known secrets."""
        made = super().__new__(cls, text)
        made.version = version
        return made


@attrs.frozen
class _Unfinished:
    """The unfinished end of a piece: the redacted text before it, a name, and the beginning of its value."""

    before: str
    name: str
    value: str

    def cut_from(self, clean: bytes) -> bytes | None:
        """Return the second piece's part of the redacted text of two pieces, or None if it is unknown.

        The next piece may show that the value, or the whole unfinished end, is secret.
        """
        named = self.before + self.name
        for each in (named + self.value, named + self.value[:1], named, self.before):
            begin = _encode(each)
            if clean.startswith(begin or _REDACTED):
                return clean[len(begin) :]
        return None if named else clean


_NOTHING = _Unfinished("", "", "")


@attrs.frozen(eq=False)
class BodyRedactor:
    """Redactor of bodies: strings by the function `text`, bytes by the `known` secrets.

    Bytes are decoded as a string if their lower-case form may contain a secret. With `patterned`, base64 itself is
    also searched as a string, because the patterns may match it.
    """

    text: Callable[[str], str]
    known: KnownSecrets
    looks_secret: Callable[[bytes], bool]
    patterned: bool = False
    _ends: OrderedDict[StreamName, _Unfinished] = attrs.field(factory=OrderedDict)
    """The end of the latest piece of each stream."""

    _inflating: dict[StreamName, zlib._Decompress] = attrs.field(factory=dict)
    """Decompressors of compressed streams."""

    _matching: dict[StreamName, StreamMatcher] = attrs.field(factory=dict)
    """Matchers for known secrets that are split between the pieces of a stream."""

    def redact_fields(
        self, payload: dict[str, Any], names: Sequence[str], *, piece: Piece | None
    ) -> dict[str, Any]:
        """Return parameters or a result with the bodies in these fields redacted.

        `base64Encoded`, or the opcode of a websocket frame, decides whether they are base64; without either they
        may be. `piece` is their position in the stream, None for whole bodies.
        """
        encoded = payload.get("base64Encoded")
        if encoded is True:
            names = (*names, "body", "data", "content")
        clean = payload
        for name in names:
            value = clean.get(name)
            if isinstance(value, dict):
                clean = {
                    **clean,
                    name: self.redact_fields(value, ("payloadData", "body", "data"), piece=piece),
                }
            elif not isinstance(value, str) or isinstance(value, CleanBody) or name not in payload:
                continue
            elif encoded is False or payload.get("opcode") == 1:
                clean = self.redact_text_piece(clean, name, piece)
            else:
                clean = {**clean, name: self._redact_base64_body(value, piece)}
        return clean

    def redact_text_piece(self, payload: dict[str, Any], name: str, piece: Piece | None) -> dict[str, Any]:
        """Return parameters or a result with the text piece in that field redacted.

        A whole text (`piece` is None) is left for the redaction of strings.
        """
        text = payload.get(name)
        if piece is None or not isinstance(text, str):
            return payload
        return {**payload, name: self._redact_text(text, piece)}

    def redact_base64(self, encoded: str) -> str:
        """Return base64 without the secrets in its content; the same string if there are none.

        Strings that are not base64 are returned unchanged.
        """
        clean = self._redact_base64_body(encoded, None)
        return str(clean) if isinstance(clean, CleanBody) else clean

    def _redact_base64_body(self, encoded: str, piece: Piece | None) -> str:
        if len(encoded) > LARGEST * 4 // 3:
            if piece is not None:
                self._ends.pop(piece.stream, None)
            return REDACTED
        plain = encoded
        if "%" in encoded or "-" in encoded or "_" in encoded:
            plain = encoded.replace("%3D", "=").replace("%3d", "=").replace("-", "+").replace("_", "/")
        try:
            data = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except (binascii.Error, ValueError):
            return encoded if piece is None else self._redact_text(encoded, piece)
        clean = self.redact_bytes(data) if piece is None else self._redact_piece(data, piece)
        return self._mark(encoded if clean == data else base64.b64encode(clean).decode())

    def _redact_text(self, text: str, piece: Piece) -> str:
        data = text.encode("utf-8", "surrogatepass")
        clean = self._redact_piece(data, piece)
        return self._mark(text if clean == data else clean.decode("utf-8", "surrogatepass"))

    def _mark(self, text: str) -> str:
        return text if self.patterned else CleanBody(text, self.known.version)

    # --- pieces of streams -----------------------------------------------------------------------------------

    def _redact_piece(self, data: bytes, piece: Piece) -> bytes:
        """Return a piece of a stream without secrets, including those begun in earlier pieces."""
        begins = piece.place == "first" or (piece.place == "message" and piece.stream not in self._ends)
        matcher = None if begins else self._matching.get(piece.stream)
        clean = self._redact_by_look(data, piece)
        if piece.stream not in self._ends:
            self._matching.pop(piece.stream, None)
            return clean
        if matcher is None:
            matcher = self._matching[piece.stream] = StreamMatcher(self.known)
        return matcher.take(data).take_out(data, clean)

    def _redact_by_look(self, data: bytes, piece: Piece) -> bytes:
        """Return a piece without known or apparent secrets, seen together with the end of the previous piece."""
        last = self._ends.pop(piece.stream, None)
        inflating = self._inflating.pop(piece.stream, None)
        if piece.place == "first" or (last is None and piece.place == "message"):
            last, inflating = _NOTHING, None
        if last is None or piece.place == "unknown":
            return _REDACTED if data else data
        if not data:
            self._note_end(piece, last, inflating)
            return data
        if inflating is None and piece.place == "first" and _GZIP.startswith(data[: len(_GZIP)]):
            inflating = zlib.decompressobj(wbits=31)
        if inflating is None:
            return self._redact_following(data, last, piece)
        try:
            plain = inflating.decompress(data, LARGEST)
        except zlib.error:
            return self._redact_following(data, last, piece)  # only its beginning looked compressed
        if inflating.unconsumed_tail:
            return _REDACTED
        clean = self._redact_following(plain, last, piece)
        self._inflating[piece.stream] = inflating
        return data if clean == plain else _REDACTED

    def _redact_following(self, data: bytes, last: _Unfinished, piece: Piece) -> bytes:
        text = _decode(data)
        for before in dict.fromkeys((last, attrs.evolve(last, before=""))):
            joined = before.before + before.name + before.value + text
            whole = self.redact_bytes(_encode(joined))
            if (clean := before.cut_from(whole)) is not None:
                self._note_end(piece, _find_end(joined, whole, text))
                return self.known.replace_edges(_drop_begun_password(data if clean == data else clean))
        # The earlier content reads differently together with this piece, so its end is unknown.
        self._note_end(piece, _find_end(text, self.redact_bytes(data), text))
        return _REDACTED

    def _note_end(self, piece: Piece, end: _Unfinished, inflating: zlib._Decompress | None = None) -> None:
        self._ends[piece.stream] = end
        if inflating is not None:
            self._inflating[piece.stream] = inflating
        if len(self._ends) > MOST_STREAMS:
            forgotten, _ = self._ends.popitem(last=False)
            self._inflating.pop(forgotten, None)
            self._matching.pop(forgotten, None)

    # --- whole bodies ----------------------------------------------------------------------------------------

    def redact_bytes(self, data: bytes) -> bytes:
        """Return bytes without secrets; the same object if there are none."""
        if data.startswith(_COMPRESSED) and (clean := self._redact_compressed(data)) is not None:
            return clean
        encoding = "utf-16" if data.startswith(_BYTE_ORDER_MARKS) else "utf-8"
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            return self._redact_binary(data)
        if "\0" in text:
            return self._redact_binary(data)
        redacted = self.text(text)
        return data if redacted == text else redacted.encode(encoding)

    def _redact_binary(self, data: bytes) -> bytes:
        data = self.known.replace_bytes(data)
        if not self.looks_secret(data.lower()):
            return data
        text = data.decode("latin-1")
        clean = redact_text(text)
        return data if clean == text else clean.encode("latin-1")

    def _redact_compressed(self, data: bytes) -> bytes | None:
        """Return compressed bytes, or the placeholder if their content has secrets.

        Returns None if they are not compressed.
        """
        decompressor = zlib.decompressobj(wbits=47)  # gzip or zlib
        try:
            plain = decompressor.decompress(data, LARGEST)
        except zlib.error:
            return None
        if decompressor.unconsumed_tail or self.redact_bytes(plain) is not plain:
            return _REDACTED
        return data


def _drop_begun_password(data: bytes) -> bytes:
    found = _USER_BEGUN.search(data, max(0, len(data) - _LONGEST_UNFINISHED))
    return data if found is None else data[: found.start()] + b"://" + _REDACTED


def _find_end(joined: str, clean: bytes, piece: str) -> _Unfinished:
    """Return the possible beginning of a secret at the end of a piece, seen with the earlier content."""
    if "\0" in piece:
        return _NOTHING
    return _find_begun_secret(joined, clean) or _find_unfinished(joined, clean) or _NOTHING


def _find_begun_secret(joined: str, clean: bytes) -> _Unfinished | None:
    """Return the secret that extends to the end of the content, or None. The redacted form shows it."""
    if not clean.endswith(_REDACTED):
        return None
    before = _what_stands_before(clean[: -len(_REDACTED)])
    anchor = before.rpartition(REDACTED)[2][-60:]
    start = joined.rfind(anchor) + len(anchor)
    if not anchor or start < len(anchor):
        return None
    value = joined[start:]
    if len(value) > _VALUE_HEAD + _VALUE_END:
        value = value[:_VALUE_HEAD] + value[-_VALUE_END:]
    return _Unfinished(before, "", value)


def _find_unfinished(joined: str, clean: bytes) -> _Unfinished | None:
    """Return the name and the begun value at the end of the content."""
    start = _where_unfinished(joined, max(0, len(joined) - _LONGEST_UNFINISHED))
    found = None if start is None else _UNFINISHED.match(joined, start)
    if found is None:
        before = _what_stands_before(clean)
        return _Unfinished(before, "", "") if before.startswith("<") else None
    tail = _encode(found[0])
    before = _what_stands_before(clean[: -len(tail)]) if clean.endswith(tail) else ""
    return _Unfinished(before, found["name"], found["value"] or "")


def _where_unfinished(text: str, lowest: int) -> int | None:
    """Return the first match position of `_UNFINISHED`, in a hundredth of the time of its search.

    Its search tries every word. This goes back from the possible starts of the value: the end of the text, the
    last quote of each kind, and the last characters without quotes.
    """

    def find_name(end: int) -> int | None:
        name = _NAME.match(text[max(lowest, end - _LONGEST_NAME) : end][::-1])
        return None if name is None else end - name.end()

    quotes = (place for quote in "\"'`" if (place := text.rfind(quote, lowest)) > lowest)
    ends = [len(text), *(place for place in quotes if _SIGN.match(text, place - 1))]
    starts = [start for end in ends if (start := find_name(end)) is not None]
    bare = _BARE.match(text[lowest:][::-1])
    begins = len(text) - (0 if bare is None else bare.end())
    for sign in _SIGN.finditer(text, max(lowest, begins - 1)):
        if (start := find_name(sign.end())) is not None:
            starts.append(start)
            break
    return min(starts, default=None)


def _what_stands_before(clean: bytes) -> str:
    """Return the end of the content as context for the following content: the open tag, or some words."""
    text = _decode(clean[-_LONGEST_UNFINISHED:])
    tag = text.rfind("<")
    if tag >= 0 and ">" not in text[tag:]:
        return text[tag:]
    if len(text) <= _CONTEXT:
        return text
    text = text[-_CONTEXT:]
    cut = re.match(r"[\w.\-$]+", text)  # a cut word may read as another word
    return text if cut is None or cut.end() == len(text) else text[cut.end() :]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
