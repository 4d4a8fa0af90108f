r"""JSON for every file, socket and stream, with one rule for unpaired surrogates. Pure.

A JavaScript string is a sequence of UTF-16 code units. A page that cuts one in the middle of an emoji makes an
unpaired surrogate: a code unit from D800 to DFFF that encodes no character by itself. JSON can escape it (RFC
8259, section 8.2). UTF-8 has no form for it, and msgspec refuses it, even inside `msgspec.Raw`.

The rule: an unpaired surrogate is kept wherever the format can represent it.

- Python strings have it as one code point, in everything that is decoded here.
- JSON has it as an escape, such as `\ud83d`, in everything that is encoded here, and in `msgspec.Raw`.
- Formats without escapes (a file of text, YAML, HTML, XML) get U+FFFD in its place: `replace_unpaired`.

Only this module calls the JSON functions of msgspec and of the standard library (`tests/unit/test_json.py`).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from copy import copy
from typing import Any, Generic, TypeVar, cast, overload

import attrs
import msgspec

T = TypeVar("T")

_UNPAIRED = re.compile("[\ud800-\udfff]")

# Any complete escape, so that backslashes are counted right. Group 1: the digits of an unpaired surrogate.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)

_TOO_DEEP = "the JSON is nested too deeply"


def replace_unpaired(text: str) -> str:
    """Return the string with U+FFFD for each unpaired surrogate, for formats without escapes.

    A high surrogate followed by a low one becomes the character that they encode.
    """
    if text.isascii() or _UNPAIRED.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def replace_all_unpaired(value: Any) -> Any:
    """Return a copy of a value with U+FFFD for each unpaired surrogate in its strings, including keys."""
    return _map_strings(value, lambda text: replace_unpaired(text) if isinstance(text, str) else text)


def has_unpaired(text: str) -> bool:
    """Return whether a string has an unpaired surrogate."""
    return not text.isascii() and _UNPAIRED.search(text) is not None


def has_unpaired_escape(text: str) -> bool:
    """Return whether a JSON document has an escape of an unpaired surrogate."""
    return any(found[1] for found in _ESCAPE.finditer(text))


def hide_unpaired(value: Any) -> Any:
    """Return a copy of a value with marks for unpaired surrogates, for another library's encoder and decoder.

    `show_unpaired` undoes this, in the same process.
    """
    return _map_strings(value, _marks.hide)


def show_unpaired(value: Any) -> Any:
    """Return a copy of a value in which the marks of `hide_unpaired` are unpaired surrogates again."""
    return _map_strings(value, _marks.show)


def is_too_deep(error: msgspec.DecodeError) -> bool:
    """Return whether JSON was refused because it is nested too deeply."""
    return str(error) == _TOO_DEEP


def to_bytes(text: str) -> bytes:
    """Return the UTF-8 of a JSON document, with an escape for each unpaired surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _UNPAIRED.sub(_write_escape, text).encode()


def encode(value: object, *, sort_keys: bool = False, indent: int | None = None) -> bytes:
    """Return the JSON of a value in UTF-8: without spaces, or on lines that are indented by `indent` spaces.

    Accepts the types of msgspec: structs, attrs classes, raw JSON, dates, bytes (as base64) and JSON values. The
    strings and numbers may be of subclasses. NaN and the infinities become null. Raises TypeError for another
    type, RecursionError for a value that is nested too deeply, and OverflowError for an integer beyond 64 bits.
    """
    write = _encode_sorted if sort_keys else _encode
    try:
        raw = write(value)
    except UnicodeEncodeError:
        marks = _Marks()
        raw = marks.to_escapes(write(_map_strings(value, marks.hide)))
    return raw if indent is None else _format(raw, indent)


def encode_text(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    """Return the JSON of a value for readers: with a space after each comma and colon, unless `compact`.

    Accepts only JSON values, but integers of any size. NaN and the infinities get their JavaScript names. Raises
    TypeError for another type, RecursionError for a value that is nested too deeply.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, separators=(",", ":") if compact else None)
    return text if text.isascii() else _UNPAIRED.sub(_write_escape, text)


def encode_ascii(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    """Return the JSON of a value with all characters beyond ASCII escaped, for scripts and for old terminals.

    Accepts the same values and raises the same errors as `encode_text`.
    """
    return json.dumps(value, indent=indent, separators=(",", ":") if compact else None)


JSON = bytes | bytearray | memoryview | msgspec.Raw | str


@overload
def decode(raw: JSON) -> Any: ...


@overload
def decode(raw: JSON, kind: type[T], *, strict: bool = True) -> T: ...


def decode(raw: JSON, kind: Any = Any, *, strict: bool = True) -> Any:
    """Decode JSON as `kind`: a struct, an attrs class, `dict[str, Any]`, ... Any value by default.

    Without `strict`, a number may be written as a string.

    Raises msgspec.ValidationError for JSON of another shape, msgspec.DecodeError for other faults: invalid JSON or
    UTF-8, nesting deeper than Python's stack allows.
    """
    try:
        return msgspec.json.decode(raw, type=kind, strict=strict)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeError, RecursionError) as refused:
        return _decode_unpaired(raw, kind, refused, strict=strict)


class Decoder(Generic[T]):
    """Decodes JSON as one type, like `decode`, for types that are decoded often."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def decode(self, raw: JSON) -> T:
        """Decode JSON. Raises the errors of the module's `decode`."""
        try:
            return self._decode(raw)
        except msgspec.ValidationError:
            raise
        except (msgspec.DecodeError, UnicodeError, RecursionError) as refused:
            return _decode_unpaired(raw, self._kind, refused)


def decode_leniently(raw: bytes | bytearray | str) -> Any:
    """Decode JSON of any source: numbers of any size, and UTF-16 and UTF-32.

    Raises ValueError with the fault, such as "text that is not JSON at line 1, column 5".
    """
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"text that is not JSON at line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError:
        raise ValueError("bytes that are not UTF-8") from None
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def decode_beginning(text: str, place: int = 0) -> tuple[Any, int]:
    """Decode the JSON that begins at an index of a string. Return it and the index after it. Raises ValueError."""
    try:
        return _decoder.raw_decode(text, place)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name}, which is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def _to_plain(value: object) -> str | int | float:
    """Return the plain string or number of an instance of a subclass. PyCDP's ids are such instances."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


_encode = msgspec.json.Encoder(enc_hook=_to_plain).encode
_encode_sorted = msgspec.json.Encoder(enc_hook=_to_plain, order="sorted").encode


def _format(raw: bytes, indent: int) -> bytes:
    """Return JSON on indented lines. Marks replace unpaired surrogates meanwhile, because msgspec refuses them."""
    try:
        return msgspec.json.format(raw, indent=indent)
    except msgspec.DecodeError:
        marks = _Marks()
        return marks.to_escapes(
            msgspec.json.format(_ESCAPE.sub(marks.hide_escape, raw.decode()), indent=indent).encode()
        )


def _write_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _decode_unpaired(raw: JSON, kind: type[T], refused: Exception, *, strict: bool = True) -> T:
    """Decode JSON that msgspec refuses, possibly only because of unpaired surrogates."""
    if isinstance(refused, RecursionError):
        raise msgspec.DecodeError(_TOO_DEEP) from None
    try:
        text = (to_bytes(raw) if isinstance(raw, str) else bytes(raw)).decode()
    except UnicodeDecodeError:
        raise msgspec.DecodeError("the JSON is not UTF-8") from None
    marks = _Marks()
    hidden = _ESCAPE.sub(marks.hide_escape, text)
    if hidden == text:
        raise (
            refused if isinstance(refused, msgspec.DecodeError) else msgspec.DecodeError(str(refused))
        ) from None
    try:
        return cast("T", _map_strings(msgspec.json.decode(hidden, type=kind, strict=strict), marks.show))
    except msgspec.ValidationError:
        raise
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None


class _Marks:
    """Replacements for the unpaired surrogates of one document that msgspec accepts.

    A mark consists of a noncharacter, a random number that occurs in no text by chance, and the surrogate's four
    digits.
    """

    def __init__(self) -> None:
        self._mark = f"\ufdd0{secrets.token_hex(8)}"
        self._find = re.compile(f"{self._mark}([0-9a-fA-F]{{4}})")
        self._find_bytes = re.compile(f"{self._mark}([0-9a-fA-F]{{4}})".encode())

    def hide(self, value: str | msgspec.Raw) -> str | msgspec.Raw:
        """Return a string without unpaired surrogates. Raw JSON is unchanged, because msgspec copies it unread."""
        if isinstance(value, msgspec.Raw):
            return value
        return _UNPAIRED.sub(lambda found: f"{self._mark}{ord(found[0]):04x}", value)

    def hide_escape(self, found: re.Match[str]) -> str:
        """Return a mark for the escape of an unpaired surrogate; other escapes are unchanged."""
        return f"{self._mark}{found[1]}" if found[1] else found[0]

    def show(self, value: str | msgspec.Raw) -> str | msgspec.Raw:
        """Return the original string or raw JSON."""
        if isinstance(value, msgspec.Raw):
            return msgspec.Raw(self.to_escapes(bytes(value)))
        return self._find.sub(lambda found: chr(int(found[1], 16)), value)

    def to_escapes(self, raw: bytes) -> bytes:
        """Return JSON with escapes instead of marks."""
        return self._find_bytes.sub(rb"\\u\1", raw)


_marks = _Marks()


def _map_strings(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a value with all strings and all raw JSON changed, including keys."""
    match value:
        case str() | msgspec.Raw():
            return change(value)
        case dict():
            return {_map_strings(key, change): _map_strings(each, change) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return type(value)(_map_strings(each, change) for each in value)
        case msgspec.Struct():
            changed = copy(value)
            for name in value.__struct_fields__:
                msgspec.structs.force_setattr(changed, name, _map_strings(getattr(value, name), change))
            return changed
        case _ if attrs.has(type(value)):
            changed = copy(value)
            for field in attrs.fields(type(value)):
                object.__setattr__(changed, field.name, _map_strings(getattr(value, field.name), change))
            return changed
        case _:
            return value
