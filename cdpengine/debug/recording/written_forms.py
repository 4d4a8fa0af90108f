"""How a text may be written: in URLs, HTML, JSON, base64, hexadecimal digits, as numbers. Pure."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from cdpengine import _json

_URI = "-_.!~*'()"  # left alone by encodeURIComponent (ECMA-262)
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
    """Return a text as hexadecimal digits of UTF-16, as PDF writes titles."""
    digits = {secret.encode(f"utf-16-{order}", "surrogatepass").hex() for order in ("le", "be")}
    return digits | {each.upper() for each in digits}


def by_number(secret: str) -> set[str]:
    """Return a text letter by letter: percent-encoded, as escapes of JSON, as references of HTML, as bytes."""
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
    """Return a text in a URL as `write` writes it."""
    return write(_json.replace_unpaired(text))  # as browsers do


def lower_hexadecimal(text: str) -> str:
    """Return a text with the digits of its percent-encoding in lower case."""
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), text)


def escape_in_html(text: str) -> set[str]:
    """Return the ways of the HTML standard's serialization, and of libraries."""
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
    """Return, for each offset of the first byte, the base64 that does not depend on the bytes around."""
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        first = (0, 2, 3)[before]  # characters that also hold bits of what stands before
        whole = (before + len(data)) * 8 // 6  # characters that hold no bits of what stands behind
        form = encoded[first:whole]
        forms |= {form, form.replace("+", "-").replace("/", "_")}
    return forms


_PLAIN = re.compile(r"[\w%+/=;#,.\- ]*", re.ASCII)
"""Texts that JSON writes as they are, or with its slashes escaped."""


def in_json(text: str) -> set[str]:
    """Return how JSON writes a text: non-ASCII letters and signs of markup escaped or not, in either case."""
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
    """Return the bytes of a text, halves of surrogate pairs too."""
    return text.encode("utf-8", "surrogatepass")
