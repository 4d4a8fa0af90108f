"""HTTP connections to a server: TCP and TLS, refused websocket handshakes, and GET of one document.

Rule: each kind of failure has a specific reason and advice. The first bytes of an answer decide, and reading stops
at a length limit. Errors repeat only the status, the reason phrase and the origin of a redirect, and never a
secret that was sent, since a server may echo a token. A GET follows redirects to the same host only, because it
sends the caller's headers again. No proxy is used.
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

from cdpengine._checks import invalid
from cdpengine._urls.hosts import UnreadableUrl
from cdpengine._urls.reading import DEFAULT_PORTS, WEB, parse_url
from cdpengine.errors import ConnectFailedError, InvalidArgumentError, Shortage, os_reason, shortage_of

_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"(?:[^\x00-\x20\x7f](?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?")


async def open_stream(
    host: str, port: int, *, tls: bool, endpoint: str
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    """Connect to a host.

    Raises ConnectFailedError with the reason; `endpoint` is the endpoint in its message.
    """
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise lacking(endpoint, shortage) from error
        raise ConnectFailedError(endpoint=endpoint, reason=_os_reason(error)) from None
    if not tls:
        return stream
    secure = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        raise failed(endpoint, tls_obstacle(error.__cause__)) from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secure


def _os_reason(error: OSError) -> str:
    # trio raises "all attempts to connect failed", and its cause is a group of the attempts' errors.
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, ConnectionRefusedError):
        return "nothing listens there (connection refused)"
    return os_reason(cause if isinstance(cause, OSError) else error)


def lacking(endpoint: str, shortage: Shortage) -> ConnectFailedError:
    """Return the error for an endpoint that could not be reached because this machine lacks a resource."""
    return ConnectFailedError(
        endpoint=endpoint, reason=f"{shortage.reason} ({shortage.name})", advice=shortage.advice
    )


def failed(endpoint: str, obstacle: Obstacle) -> ConnectFailedError:
    """Return the error for an `endpoint` that an obstacle made unreachable."""
    return ConnectFailedError(
        endpoint=endpoint, reason=obstacle.reason, advice=obstacle.advice, status=obstacle.status
    )


def host_and_port(host: str, port: int, default: int) -> str:
    """Return the value of the Host header."""
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed if port == default else f"{bracketed}:{port}"


def checked_header(name: str, value: str) -> tuple[bytes, bytes]:
    """Return a header as bytes. Raises InvalidArgumentError for a name or value that HTTP does not allow."""
    # The error does not repeat the value, since headers carry tokens.
    if not _HEADER_NAME.fullmatch(name):
        raise invalid("header", name, "a name as HTTP allows it")
    if not _HEADER_VALUE.fullmatch(value):
        raise InvalidArgumentError(
            what=f"header {name}",
            given="a value with control characters, or with space around it",
            expected="one line of text",
        )
    return name.encode(), value.encode()


_LONGEST_HEAD = 65_536
"""Maximum length of a response head, in bytes. A longer one is not HTTP."""

_LONGEST_PHRASE = 80
_SHORTEST_SECRET = 3
"""Minimum length of a sent value that is redacted from a phrase, in characters.

Shorter matches are coincidences.
"""


@attrs.frozen
class Obstacle:
    """The reason why a connection failed, and the advice. `status` is the HTTP status, if any."""

    reason: str
    advice: str
    status: int | None = None


_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LOCATION = re.compile(rb"\r?\nlocation[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_TLS_RECORD = (b"\x15\x03", b"\x16\x03")
"""The first bytes of a TLS alert and a TLS handshake, which a TLS server sends to a plain client."""

ELSE = "Check host and port: another service listens there"
"""Advice if a service other than a browser answers."""

CLOSED = Obstacle(
    "the server closed the connection without an answer",
    "Something listens there: check host and port, and whether it expects TLS (wss://, https://). A forwarded "
    "port also closes connections when nothing listens behind it",
)

_OK = range(200, 300)
_REDIRECTS = range(300, 400)
_FAILURES = range(500, 600)

_CREDENTIALS = "It requires credentials: pass a token in the URL's query, or pass headers="
_TOO_MANY = "It accepts no more clients now: end other sessions of yours there, or try again later"
_ADVICE = {
    401: _CREDENTIALS,
    402: "The service asks for payment, or for another plan",
    403: f"{_CREDENTIALS} (Chrome itself also refuses any Origin header with 403)",
    404: "A server answers there, but has no browser at this path. Chrome makes a new path at each start: "
    "http://host:port finds it",
    407: _CREDENTIALS,
    408: _TOO_MANY,
    429: _TOO_MANY,
    503: _TOO_MANY,
}


@attrs.define
class ServerAnswer:
    """A server's answer while it arrives. `secrets` are the secrets that were sent.

    `what` is the path requested over HTTP, whose expected status is 200. "" means a websocket (status 101).
    """

    secrets: Collection[str] = ()
    what: str = ""
    _head: bytearray = attrs.field(factory=bytearray, init=False)

    def feed(self, data: bytes | bytearray) -> Obstacle | None:
        """Accept incoming bytes. Return the obstacle as soon as the bytes show one."""
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
            return None  # success, or the address of the redirect has not arrived
        return self._read_refusal(found)

    def end(self) -> Obstacle | None:
        """Return the obstacle when the server has closed the connection, or None if it did not refuse."""
        found = _STATUS_LINE.match(self._head)
        return self._read_refusal(found) if found is not None and self._refuses(int(found[1])) else None

    @property
    def location(self) -> str:
        """The address of the redirect, as the server wrote it; "" if it is not a redirect."""
        found = _LOCATION.search(self._head)
        return "" if found is None else found[1].decode("latin-1")

    @property
    def is_empty(self) -> bool:
        """Whether no bytes have arrived."""
        return not self._head

    def _refuses(self, status: int) -> bool:
        return status >= HTTPStatus.OK and not (self.what and status == HTTPStatus.OK)

    @property
    def _is_whole(self) -> bool:
        return _HEAD_END.search(self._head) is not None or len(self._head) > _LONGEST_HEAD

    def _read_refusal(self, found: re.Match[bytes]) -> Obstacle:
        return self._describe_status(int(found[1]), (found[2] or b"").decode("latin-1"), self.location)

    def _describe_status(self, status: int, phrase: str, location: str) -> Obstacle:
        described = f"{status} ({named})" if (named := _phrase(status, phrase, self.secrets)) else f"{status}"
        if self.what:
            reason = f"{self.what} was answered with HTTP status {described}"
        else:
            reason = f"the server refused the websocket with HTTP status {described}"
        return Obstacle(reason, _advice(status, location), status)

    def _describe_foreign(self) -> Obstacle:
        if self._head.startswith(_TLS_RECORD):
            return Obstacle(
                "the server speaks TLS", "Use wss:// instead of ws://, or https:// instead of http://"
            )
        speaks = "HTTP" if self.what else "the websocket protocol or HTTP"
        return Obstacle(f"the server does not speak {speaks}", ELSE)


def sent_secrets(url: str, headers: Mapping[str, str]) -> list[str]:
    """Return the possible secrets: the values of the URL's query, and the words of the headers."""
    parts = urlsplit(url)
    words: list[str] = [part for value in headers.values() for part in value.split()]
    words += [value for _name, value in parse_qsl(parts.query)]
    words += [part.partition("=")[2] or part for part in parts.query.split("&")]
    return [word for word in dict.fromkeys(words) if len(word) >= _SHORTEST_SECRET]


def holds_secret(text: str, secrets: Iterable[str]) -> bool:
    """Return whether a string contains one of the secrets."""
    low = text.lower()
    return any(secret.lower() in low for secret in secrets)


def tls_obstacle(error: BaseException | None) -> Obstacle:
    """Return why a TLS handshake failed. Without an `error`, the server closed the connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Obstacle(
            f"its TLS certificate is not accepted: {error.verify_message}",
            "Check the host's name; set SSL_CERT_FILE to trust your own certificate authority",
        )
    why = "the server closed the connection" if error is None else str(error)
    return Obstacle(
        f"TLS failed: {why}",
        "Something listens there that does not speak TLS as expected: is it ws:// or http://?",
    )


def _can_be_http(head: bytearray) -> bool:
    return head.startswith(b"HTTP/1.") or b"HTTP/1.".startswith(head)


def _phrase(status: int, phrase: str, secrets: Iterable[str]) -> str:
    """Return the server's reason phrase, or the standard one if the server's may contain a secret."""
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
        return "A web server answers there, not a browser's debugging port: check host, port and path"
    if status in _REDIRECTS:
        origin = _origin(location)
        return f"Pass the address that it redirects to{f' (at {origin})' if origin else ''}"
    if status in _FAILURES:
        return "The server failed. See its log for the reason"
    return "A server answers there but does not accept this request: check the URL and the server's documentation"


def _origin(location: str) -> str:
    """Return scheme, host and port of a redirect's address; the rest may contain a secret."""
    try:
        parts = parse_url(location)
    except UnreadableUrl:
        return ""
    return parts.origin if len(parts.host) <= 100 else ""


_RECEIVE = 65_536
_SAFE = "/%:@!$&'()*+,;=~-._?[]"


_FOLLOWED = frozenset((301, 302, 303, 307, 308))
_MOST_REDIRECTS = 5
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


async def get(
    url: str, headers: Mapping[str, str], *, endpoint: str, longest: int, name: str = ""
) -> tuple[str, bytes]:
    """Return the final URL and the beginning of the body of an http or https URL, at most `longest` bytes.

    Follows redirects on the same host. `name` is another name of the host, `endpoint` the URL in errors. Has no
    timeout: put it in a cancel scope.

    Raises ConnectFailedError for a missing answer and any status except 200, InvalidArgumentError for headers that
    HTTP does not allow.
    """
    secrets = sent_secrets(url, headers)
    for left in reversed(range(_MOST_REDIRECTS + 1)):
        answer = ServerAnswer([*secrets, *sent_secrets(url, {})], what=urlsplit(url).path)
        try:
            return url, await _get(url, headers, answer, longest, endpoint)
        except ConnectFailedError as error:
            followed = left and error.status in _FOLLOWED
            moved = _moved(url, answer.location, name, bool(headers)) if followed else None
            if moved is None:
                raise
            url = moved
    raise AssertionError("unreachable")


def _moved(url: str, location: str, name: str, with_headers: bool) -> str | None:
    """Return the address of a redirect, or None if it must not be followed.

    Another port can belong to another server, so it must not get the headers. The exception is a redirect from
    http to https.
    """
    try:
        moved, old = urlsplit(urljoin(url, location)), urlsplit(url)
        place, before = (moved.scheme, _port(moved)), (old.scheme, _port(old))
    except ValueError:
        return None
    host, hosts = moved.hostname or "", {old.hostname, name}
    if not location or moved.scheme not in WEB or moved.username is not None:
        return None
    if host not in hosts and not (host in _LOOPBACK and hosts & _LOOPBACK):
        return None
    secured = (before, place) == (("http", DEFAULT_PORTS["http"]), ("https", DEFAULT_PORTS["https"]))
    if with_headers and place != before and not secured:
        return None
    if moved.scheme == "http":  # the resolved address: Chrome refuses host names
        port = "" if moved.port is None else f":{moved.port}"
        moved = moved._replace(
            netloc=(f"[{old.hostname}]" if ":" in str(old.hostname) else f"{old.hostname}") + port
        )
    return moved._replace(fragment="").geturl()


def _port(parts: SplitResult) -> int | None:
    return parts.port or DEFAULT_PORTS.get(parts.scheme)


async def _get(
    url: str, headers: Mapping[str, str], answer: ServerAnswer, longest: int, endpoint: str
) -> bytes:
    parts = urlsplit(url)
    request = _request(url, headers)
    client = h11.Connection(h11.CLIENT)
    sent = (client.send(request) or b"") + (client.send(h11.EndOfMessage()) or b"")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    stream = await open_stream(parts.hostname or "", port, tls=parts.scheme == "https", endpoint=endpoint)
    async with stream:
        try:
            await stream.send_all(sent)
            return await _read(stream, client, answer, longest, endpoint)
        except trio.BrokenResourceError:
            raise failed(endpoint, answer.end() or CLOSED) from None
        except h11.RemoteProtocolError as error:
            # The message may repeat the server's bytes as a Python object, and so a secret that the server echoed.
            why = str(error).partition(": bytearray(")[0]
            reason = f"the server does not speak HTTP as expected ({why})"
            raise failed(endpoint, answer.end() or Obstacle(reason, ELSE)) from None


def _request(url: str, headers: Mapping[str, str]) -> h11.Request:
    parts = urlsplit(url)
    checked = [checked_header(name, value) for name, value in headers.items()]
    default = DEFAULT_PORTS[parts.scheme]
    host = host_and_port(parts.hostname or "", parts.port or default, default)
    own = [(b"Host", host.encode("idna" if not host.isascii() else "ascii")), (b"Connection", b"close")]
    own.append((b"Accept", b"*/*"))
    names = {name.lower() for name, _value in checked}
    target = quote(parts.path or "/", safe=_SAFE) + (
        f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    )
    return h11.Request(
        method="GET",
        target=target,
        headers=[*(pair for pair in own if pair[0].lower() not in names), *checked],
    )


async def _read(
    stream: trio.abc.ReceiveStream, client: h11.Connection, answer: ServerAnswer, longest: int, endpoint: str
) -> bytes:
    body = bytearray()
    while len(body) <= longest:
        event = client.next_event()
        if event is h11.NEED_DATA:
            data = await stream.receive_some(_RECEIVE)
            if (obstacle := answer.feed(data) if data else answer.end()) is not None:
                raise failed(endpoint, obstacle)
            if not data and answer.is_empty:
                raise failed(endpoint, CLOSED)
            client.receive_data(bytes(data))
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
    return bytes(body)
