"""HTTP connections to a server: TCP and TLS, what it answers instead of a websocket, and GET of one document.

Rule: each way to fail has its own reason, with advice that fits it. An answer is judged by its first bytes, and
read no further than it may be long. Of what the server wrote, only the status, the reason phrase and the origin of
a redirect are repeated, and nothing that holds a secret that was sent: a server may echo a token. A GET follows
redirects to the same host alone, since it sends the caller's headers again. No proxy is used.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from urllib.parse import SplitResult, parse_qsl, quote, urljoin, urlsplit

import attrs
import h11
import trio

from cdpengine.errors import ConnectFailedError, InvalidArgumentError, Shortage, os_reason, shortage_of

_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"(?:[^\x00-\x20\x7f](?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?")


async def open_stream(
    host: str, port: int, *, tls: bool, shown: str
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    """Connect to a host.

    Raises ConnectFailedError, in which `shown` is the endpoint, with what stood in the way.
    """
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise lacking(shown, shortage) from error
        raise ConnectFailedError(endpoint=shown, reason=_os_reason(error)) from None
    if not tls:
        return stream
    secure = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        raise failed(shown, tls_obstacle(error.__cause__)) from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secure


def _os_reason(error: OSError) -> str:
    # trio raises "all attempts to connect failed", with the attempts in a group behind it.
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, ConnectionRefusedError):
        return "nothing listens there (connection refused)"
    return os_reason(cause if isinstance(cause, OSError) else error)


def lacking(endpoint: str, shortage: Shortage) -> ConnectFailedError:
    """Return the error for an endpoint that was not reached because this side lacks something."""
    return ConnectFailedError(
        endpoint=endpoint, reason=f"{shortage.reason} ({shortage.name})", advice=shortage.advice
    )


def failed(shown: str, obstacle: Obstacle) -> ConnectFailedError:
    """Return the error that says what stood in the way to an endpoint (`shown`)."""
    return ConnectFailedError(
        endpoint=shown, reason=obstacle.reason, advice=obstacle.advice, status=obstacle.status
    )


def host_and_port(host: str, port: int, default: int) -> str:
    """Return what stands in the Host header."""
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed if port == default else f"{bracketed}:{port}"


def checked_header(name: str, value: str) -> tuple[bytes, bytes]:
    """Return a header as bytes. Raises InvalidArgumentError for what HTTP does not allow."""
    # The value is not repeated in the error: headers carry tokens.
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidArgumentError(what="header", given=repr(name), expected="a name as HTTP allows it")
    if not _HEADER_VALUE.fullmatch(value):
        raise InvalidArgumentError(
            what=f"header {name}",
            given="a value with control characters, or with space around it",
            expected="one line of text",
        )
    return name.encode(), value.encode()


_LONGEST_HEAD = 65_536
"""Bytes after which a head without an end is not taken for HTTP."""

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
"""An alert and a handshake of TLS: what a server that expects TLS sends to a client that does not speak it."""

ELSE = "Something else listens there: check host and port"
"""The advice where something else than a browser answers."""

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
    404: "Something answers there, but no browser at this path. Chrome makes a new path at each start: "
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
        """Take the bytes that came in. Return what stands in the way, as soon as the bytes show it."""
        self._head += data
        if not _can_be_http(self._head):
            return self._describe_foreign()
        found = _STATUS_LINE.match(self._head)
        if found is None:
            return (
                self._describe_foreign() if b"\n" in self._head or len(self._head) > _LONGEST_HEAD else None
            )
        status = int(found[1])
        if not self._refuses(status) or (status in _REDIRECTS and not self._is_whole):
            return None  # what was asked for, or the address to go to is still to come
        return self._read_refusal(found)

    def end(self) -> Obstacle | None:
        """Return what stands in the way when the server ended the connection; None when it has not refused."""
        found = _STATUS_LINE.match(self._head)
        return self._read_refusal(found) if found is not None and self._refuses(int(found[1])) else None

    @property
    def location(self) -> str:
        """The address that the answer redirects to, as the server wrote it; "" for none."""
        found = _LOCATION.search(self._head)
        return "" if found is None else found[1].decode("latin-1")

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come in."""
        return not self._head

    def _refuses(self, status: int) -> bool:
        return status >= HTTPStatus.OK and not (self.what and status == HTTPStatus.OK)

    @property
    def _is_whole(self) -> bool:
        return _HEAD_END.search(self._head) is not None or len(self._head) > _LONGEST_HEAD

    def _read_refusal(self, found: re.Match[bytes]) -> Obstacle:
        return self._describe_status(int(found[1]), (found[2] or b"").decode("latin-1"), self.location)

    def _describe_status(self, status: int, phrase: str, location: str) -> Obstacle:
        shown = f"{status} ({named})" if (named := _phrase(status, phrase, self.secrets)) else f"{status}"
        if self.what:
            reason = f"{self.what} was answered with HTTP status {shown}"
        else:
            reason = f"the server refused the websocket with HTTP status {shown}"
        return Obstacle(reason, _advice(status, location), status)

    def _describe_foreign(self) -> Obstacle:
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
    """Return why a TLS handshake failed; without an `error`, the server closed the connection."""
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


_RECEIVE = 65_536
_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~-._?[]"


_FOLLOWED = frozenset((301, 302, 303, 307, 308))
_MOST_REDIRECTS = 5
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


async def get(
    url: str, headers: Mapping[str, str], *, shown: str, longest: int, name: str = ""
) -> tuple[str, bytes]:
    """Return the body that an "http://..." or "https://..." URL is answered with, its beginning when it is long.

    Redirects on the same host are followed; the URL that answered comes with the body. `name` is another name of
    the host, `shown` the URL in errors. `longest` counts bytes. Has no timeout: put it in a cancel scope.

    Raises ConnectFailedError for every other answer but 200, and for none; InvalidArgumentError for headers that
    HTTP does not allow.
    """
    secrets = sent_secrets(url, headers)
    for left in reversed(range(_MOST_REDIRECTS + 1)):
        answer = ServerAnswer([*secrets, *sent_secrets(url, {})], what=urlsplit(url).path)
        try:
            return url, await _get(url, headers, answer, longest, shown)
        except ConnectFailedError as error:
            followed = left and error.status in _FOLLOWED
            moved = _moved(url, answer.location, name, bool(headers)) if followed else None
            if moved is None:
                raise
            url = moved
    raise AssertionError("unreachable")


def _moved(url: str, location: str, name: str, with_headers: bool) -> str | None:
    """Return where a redirect leads, None where it is not followed.

    Another port can be another server: it must not get the headers, unless it is the TLS port of a plain one.
    """
    try:
        moved, old = urlsplit(urljoin(url, location)), urlsplit(url)
        place, before = (moved.scheme, _port(moved)), (old.scheme, _port(old))
    except ValueError:
        return None
    host, hosts = moved.hostname or "", {old.hostname, name}
    if not location or moved.scheme not in _PORTS or moved.username is not None:
        return None
    if host not in hosts and not (host in _LOOPBACK and hosts & _LOOPBACK):
        return None
    secured = (before, place) == (("http", _PORTS["http"]), ("https", _PORTS["https"]))
    if with_headers and place != before and not secured:
        return None
    if moved.scheme == "http":  # the address that answered: Chrome refuses names
        port = "" if moved.port is None else f":{moved.port}"
        moved = moved._replace(
            netloc=(f"[{old.hostname}]" if ":" in str(old.hostname) else f"{old.hostname}") + port
        )
    return moved._replace(fragment="").geturl()


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)


async def _get(url: str, headers: Mapping[str, str], answer: ServerAnswer, longest: int, shown: str) -> bytes:
    parts = urlsplit(url)
    request = _request(url, headers)
    client = h11.Connection(h11.CLIENT)
    sent = (client.send(request) or b"") + (client.send(h11.EndOfMessage()) or b"")
    port = parts.port or _PORTS[parts.scheme]
    stream = await open_stream(parts.hostname or "", port, tls=parts.scheme == "https", shown=shown)
    async with stream:
        try:
            await stream.send_all(sent)
            return await _read(stream, client, answer, longest, shown)
        except trio.BrokenResourceError:
            raise failed(shown, answer.end() or CLOSED) from None
        except h11.RemoteProtocolError as error:
            # Its text may repeat what the server wrote, as a Python object: that may be what the server was sent.
            why = str(error).partition(": bytearray(")[0]
            reason = f"what answers there does not speak HTTP as expected ({why})"
            raise failed(shown, answer.end() or Obstacle(reason, ELSE)) from None


def _request(url: str, headers: Mapping[str, str]) -> h11.Request:
    parts = urlsplit(url)
    given = [checked_header(name, value) for name, value in headers.items()]
    default = _PORTS[parts.scheme]
    host = host_and_port(parts.hostname or "", parts.port or default, default)
    own = [(b"Host", host.encode("idna" if not host.isascii() else "ascii")), (b"Connection", b"close")]
    own.append((b"Accept", b"*/*"))
    names = {name.lower() for name, _value in given}
    target = quote(parts.path or "/", safe=_SAFE) + (
        f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    )
    return h11.Request(
        method="GET", target=target, headers=[*(pair for pair in own if pair[0].lower() not in names), *given]
    )


async def _read(
    stream: trio.abc.ReceiveStream, client: h11.Connection, answer: ServerAnswer, longest: int, shown: str
) -> bytes:
    body = bytearray()
    while len(body) <= longest:
        event = client.next_event()
        if event is h11.NEED_DATA:
            data = await stream.receive_some(_RECEIVE)
            if (obstacle := answer.feed(data) if data else answer.end()) is not None:
                raise failed(shown, obstacle)
            if not data and answer.is_empty:
                raise failed(shown, CLOSED)
            client.receive_data(bytes(data))
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
    return bytes(body)
