"""Encodings of a string in URLs, HTML, JSON, base64, hexadecimal digits and numbers. Pure."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from cdpengine import _json

_URI = "-_.!~*'()"  # unchanged by encodeURIComponent (ECMA-262)
_WHOLE_URI = ";,/?:@&=+$#" + _URI  # by encodeURI
_FORM = "*-._"  # by application/x-www-form-urlencoded (URL standard)
URLS: tuple[Callable[[str], str], ...] = (
    lambda text: quote(text, safe=""),
    quote,
    lambda text: quote(text, safe=_URI),
    lambda text: quote(text, safe=_WHOLE_URI),
    lambda text: quote_plus(text, safe=_FORM),
)


def wide_digits(secret: str) -> set[str]:
    """Return the hexadecimal digits of a string's UTF-16 forms, as in PDF titles."""
    digits = {secret.encode(f"utf-16-{order}", "surrogatepass").hex() for order in ("le", "be")}
    return digits | {each.upper() for each in digits}


def by_number(secret: str) -> set[str]:
    """Return the encodings letter by letter: percent-encoding, JSON escapes, HTML references, bytes."""
    data = utf8(secret)
    units = [f"{unit:04x}" for unit in memoryview(secret.encode("utf-16-le", "surrogatepass")).cast("H")]
    escapes = "".join(rf"\u{unit}" for unit in units)
    percent = "".join(f"%{byte:02X}" for byte in data)
    return {
        percent,
        percent.lower(),
        escapes,
        "".join(rf"\u{unit.upper()}" for unit in units),
        escapes.replace("\\", "\\\\"),
        "".join(f"&#{ord(letter)};" for letter in secret),
        "".join(f"&#x{ord(letter):x};" for letter in secret),
        ",".join(map(str, data)),
        ", ".join(map(str, data)),
    }


def in_url(write: Callable[[str], str], text: str) -> str:
    """Return a string encoded for a URL by `write`."""
    return write(_json.replace_unpaired(text))  # like browsers


def lower_hexadecimal(text: str) -> str:
    """Return a string with the digits of its percent-encoding in lower case."""
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), text)


def escape_in_html(text: str) -> set[str]:
    """Return the encodings of the HTML standard's serialization and of libraries."""
    in_text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    spaces = text.replace("&", "&amp;").replace("\u00a0", "&nbsp;")
    in_value = spaces.replace('"', "&quot;")
    escaped = html.escape(text)
    forms = {in_text, in_text.replace("\u00a0", "&nbsp;"), in_value}
    forms |= {in_value.replace("<", "&lt;").replace(">", "&gt;"), spaces, escaped}
    forms |= {escaped.replace("&#x27;", "&#39;"), escaped.replace("&#x27;", "'")}
    forms |= {escaped.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")}
    return forms


def in_base64(data: bytes) -> set[str]:
    """Return the base64 forms for each offset of the first byte.

    Characters that depend on other bytes are removed.
    """
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        first = (0, 2, 3)[before]  # characters that include bits of the preceding bytes
        whole = (before + len(data)) * 8 // 6  # characters without bits of the following bytes
        form = encoded[first:whole]
        forms |= {form, form.replace("+", "-").replace("/", "_")}
    return forms


_PLAIN = re.compile(r"[\w%+/=;#,.\- ]*", re.ASCII)
"""Strings that JSON writes unchanged, or with escaped slashes."""


def in_json(text: str) -> set[str]:
    """Return the JSON encodings of a string.

    With and without escapes for non-ASCII letters and markup, whose digits may have either case.
    """
    if _PLAIN.fullmatch(text):
        return {text, text.replace("/", "\\/")}
    plain = _json.encode_text(text)[1:-1]
    escaped = _json.encode_ascii(text)[1:-1]
    forms = {plain, escaped, escaped.replace("/", "\\/"), plain.replace("/", "\\/")}
    if "<" in text or ">" in text or "&" in text:
        for form in list(forms):
            signs = form.replace("<", "\\u003c").replace(">", "\\u003e")
            forms |= {form.replace("<", "\\u003c"), signs, signs.replace("&", "\\u0026")}
    return forms | {re.sub(r"\\u[0-9a-f]{4}", _upper_escape, form) for form in forms if "\\u" in form}


def _upper_escape(found: re.Match[str]) -> str:
    return "\\u" + found[0][2:].upper()


def utf8(text: str) -> bytes:
    """Encode a string as UTF-8, including unpaired surrogates."""
    return text.encode("utf-8", "surrogatepass")
