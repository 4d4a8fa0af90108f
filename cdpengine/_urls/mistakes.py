"""Strings that are no absolute URLs: what is wrong with them, and what was probably meant. Pure."""

from __future__ import annotations

import re

from cdpengine._urls.reading import clean_up

EXAMPLE = "https://example.com/"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOST_AND_PORT = re.compile(
    r"(?!(?:data|about|blob|file|javascript|mailto|tel|sms|urn):)[^/?#:@\s]+:([0-9]+)(?:[/?#]|$)",
    re.IGNORECASE,
)
"""Pattern of a host with a port. Chrome parses the host in "localhost:8000/x" as a scheme."""
_NO_HOST = re.compile(r"https?:[/\\]*(?:[?#]|$)", re.IGNORECASE)
_FILE = re.compile(
    r"[^?#]*\.(?:html?|xhtml|mhtml|pdf|svg|png|jpe?g|gif|webp|txt|json|xml|csv)", re.IGNORECASE
)
_HOST = re.compile(
    r"(?:localhost|(?:[^\s/?#@:.]+\.)+[^\s/?#@:.]{2,}\.?|[0-9]+(?:\.[0-9]+){3}|\[[0-9a-f:.]+\](?::[0-9]+)?)(?:[/?#]|$)",
    re.IGNORECASE,
)
_LOCAL = ("localhost", "127.", "[::1]")


def explain_no_url(text: str) -> tuple[str, str]:
    """Return why a string is no absolute URL, and the URL that was probably meant; ("", "") if it is one.

    The reason continues a sentence: "'/a' is a path without a host". An unknown scheme is no fault here.
    """
    text = clean_up(text)
    if not text:
        return "is empty", EXAMPLE
    if _DRIVE.match(text):
        return "is a file name", f"file:///{text.replace(chr(92), '/')}"
    if _NO_HOST.match(text):
        return "names no host", EXAMPLE
    plain_http = text.lower().startswith(_LOCAL)
    if (port := _HOST_AND_PORT.match(text)) is not None:
        plain_http = plain_http or not port[1].endswith("443")
    else:
        if _SCHEME.match(text):
            return "", ""
        if text.startswith("//"):
            return "has no scheme", f"https:{text}"
        if text[0] in "/.?#":
            return "is a path without a host", f"{EXAMPLE}{text.lstrip('./')}"
        host = _HOST.match(text)
        if _FILE.fullmatch(text) and (host is None or "/" not in text):
            return "is a file name", "file:///folder/name.html"
        if host is None:
            return "is not an address", EXAMPLE
    return "has no scheme", f"{'http' if plain_http else 'https'}://{text}"
