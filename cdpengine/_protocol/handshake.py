"""Handshakes: what a server answers in place of a websocket, or of /json/version, and what to do about it. Pure.

Rule: an answer is judged by its first bytes, as soon as they tell; nothing is waited for that does not. Of what
the server wrote only the status, its reason phrase and the origin that it redirects to are repeated, and not a
phrase that holds what was sent to it as a secret: a server may echo a token.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

import attrs

_LONGEST_HEAD = 65_536
"""Bytes of a head that has no end, after which it is no HTTP."""

_LONGEST_PHRASE = 80
_SHORTEST_SECRET = 3
"""Characters from which on a sent value in a phrase is taken for a secret, and not for a coincidence."""


@attrs.frozen
class Obstacle:
    """What stands in the way of a connection, and what to do about it. `status` is the HTTP status, if any."""

    reason: str
    advice: str
    status: int | None = None


_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LOCATION = re.compile(rb"\r?\nlocation[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_TLS_RECORD = (b"\x15\x03", b"\x16\x03")
"""An alert and a handshake of TLS: what a server that expects TLS sends to who does not speak it."""

ELSE = "Something else listens there: check host and port"
"""The advice where what answers is no browser, whatever it is."""

CLOSED = Obstacle(
    "the server closed the connection without an answer",
    "Something listens there: check host and port, and whether it expects TLS (wss://, https://). A forwarded "
    "port does so where nothing listens behind it",
)

_OK = range(200, 300)
_REDIRECTS = range(300, 400)
_FAILURES = range(500, 600)

_CREDENTIALS = "It wants credentials: pass a token in the URL's query, or what else it asks for with headers="
_TOO_MANY = "It takes no more clients now: end other sessions of yours there, or try again later"
_ADVICE = {
    401: _CREDENTIALS,
    402: "The service asks for payment, or for another plan",
    403: f"{_CREDENTIALS} (Chrome itself refuses any Origin header so)",
    404: "There is something, but no browser at this path. Chrome makes a new one at each start: "
    "http://host:port asks for it",
    407: _CREDENTIALS,
    408: _TOO_MANY,
    429: _TOO_MANY,
    503: _TOO_MANY,
}


@attrs.define
class ServerAnswer:
    """What a server answers, while it comes in. `secrets` are what it was sent.

    `what` was asked for over HTTP, and is answered with 200; "" is a websocket, and is answered with 101.
    """

    secrets: Collection[str] = ()
    what: str = ""
    _head: bytearray = attrs.field(factory=bytearray, init=False)

    def feed(self, data: bytes | bytearray) -> Obstacle | None:
        """Take the bytes that came in. Return what stands in the way, as soon as they tell."""
        self._head += data
        if not _can_be_http(self._head):
            return self._foreign()
        found = _STATUS_LINE.match(self._head)
        if found is None:
            return self._foreign() if b"\n" in self._head or len(self._head) > _LONGEST_HEAD else None
        status = int(found[1])
        if not self._refuses(status) or (status in _REDIRECTS and not self._is_whole):
            return None  # what was asked for, or the address to go to is still to come
        return self._refusal(found)

    def end(self) -> Obstacle | None:
        """Return what stands in the way when the server ended the connection; None when it has not refused."""
        found = _STATUS_LINE.match(self._head)
        return self._refusal(found) if found is not None and self._refuses(int(found[1])) else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come in."""
        return not self._head

    def _refuses(self, status: int) -> bool:
        return status >= HTTPStatus.OK and not (self.what and status == HTTPStatus.OK)

    @property
    def _is_whole(self) -> bool:
        return _HEAD_END.search(self._head) is not None or len(self._head) > _LONGEST_HEAD

    def _refusal(self, found: re.Match[bytes]) -> Obstacle:
        location = _LOCATION.search(self._head)
        return self._refused(
            int(found[1]),
            (found[2] or b"").decode("latin-1"),
            "" if location is None else location[1].decode("latin-1"),
        )

    def _refused(self, status: int, phrase: str, location: str) -> Obstacle:
        shown = f"{status} ({named})" if (named := _phrase(status, phrase, self.secrets)) else f"{status}"
        if self.what:
            reason = f"{self.what} was answered with HTTP status {shown}"
        else:
            reason = f"the server refused the websocket with HTTP status {shown}"
        return Obstacle(reason, _advice(status, location), status)

    def _foreign(self) -> Obstacle:
        if self._head.startswith(_TLS_RECORD):
            return Obstacle(
                "the server speaks TLS", "Write wss:// in place of ws://, https:// in place of http://"
            )
        speaks = "HTTP" if self.what else "the websocket protocol, nor HTTP"
        return Obstacle(f"what answers there does not speak {speaks}", ELSE)


def sent_secrets(url: str, headers: Mapping[str, str]) -> list[str]:
    """Return what of a URL and of headers can be a secret: values of the query, and what headers hold."""
    parts = urlsplit(url)
    words: list[str] = [part for value in headers.values() for part in value.split()]
    words += [value for _name, value in parse_qsl(parts.query)]
    words += [part.partition("=")[2] or part for part in parts.query.split("&")]
    return [word for word in dict.fromkeys(words) if len(word) >= _SHORTEST_SECRET]


def holds_secret(text: str, secrets: Iterable[str]) -> bool:
    """Say whether one of the secrets is in a text."""
    low = text.lower()
    return any(secret.lower() in low for secret in secrets)


def tls_obstacle(error: BaseException | None) -> Obstacle:
    """Return what a handshake of TLS failed for; None: the server closed the connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Obstacle(
            f"its TLS certificate is not accepted: {error.verify_message}",
            "Check the host's name; a certificate authority of your own goes into SSL_CERT_FILE",
        )
    why = "the server closed the connection" if error is None else str(error)
    return Obstacle(
        f"TLS failed: {why}",
        "Something listens there that does not speak TLS as expected: is it ws:// or http://?",
    )


def _can_be_http(head: bytearray) -> bool:
    return head.startswith(b"HTTP/1.") or b"HTTP/1.".startswith(head)


def _phrase(status: int, phrase: str, secrets: Iterable[str]) -> str:
    """Return the reason phrase of a status: the server's own, or the standard one where that may hold a secret."""
    phrase = phrase.strip()
    readable = phrase.isascii() and phrase.isprintable() and 0 < len(phrase) <= _LONGEST_PHRASE
    if readable and not holds_secret(phrase, secrets):
        return phrase
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _advice(status: int, location: str) -> str:
    if (advice := _ADVICE.get(status)) is not None:
        return advice
    if status in _OK:
        return "A web server answers there, and no browser's debugging port: check host, port and path"
    if status in _REDIRECTS:
        origin = _origin(location)
        return f"Pass the address that it redirects to{f' (at {origin})' if origin else ''}"
    if status in _FAILURES:
        return "Something answers there, and failed. Its own log says why"
    return (
        "Something answers there, and does not take this request: check the URL, and what the server expects"
    )


def _origin(location: str) -> str:
    """Return scheme, host and port of where a redirection leads; the rest of it may hold a secret."""
    try:
        parts = urlsplit(location)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if (
        not host
        or not re.fullmatch(r"[\w.:-]{1,100}", host)
        or parts.scheme not in ("http", "https", "ws", "wss")
    ):
        return ""
    bracketed = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{bracketed}" + ("" if port is None else f":{port}")
