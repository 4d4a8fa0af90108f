"""Credentials: a name and a password for servers, or proxies, that ask for them.

Rule: they are given to whom they are for and to nobody else, once for each request: a server that asks again has
refused them, and then the page sees that refusal. No message and no log holds them.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import attrs

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine.errors import InvalidArgumentError, shown_url

logger = get_logger("cdpengine.network")


@attrs.frozen(eq=False)
class Credentials:
    """`origin` ("https://example.com:8443"): whose question they answer; None: anybody's. `proxy`: a proxy's."""

    username: str = attrs.field(repr=False)
    password: str = attrs.field(repr=False)
    origin: str | None = None
    proxy: bool = False
    _refused: RepeatedWarning = attrs.field(
        init=False,
        repr=False,
        factory=lambda: RepeatedWarning(logger, "%s refused the credentials that it was given"),
    )

    @classmethod
    def checked(cls, username: str, password: str, origin: str | None, proxy: bool) -> Credentials:
        """Return them checked. Raises InvalidArgumentError."""
        for what, value in (("username", username), ("password", password)):
            if not isinstance(value, str):
                raise InvalidArgumentError(what=what, given=f"a {type(value).__name__}", expected="a str")
        return cls(username, password, None if origin is None else _origin(origin), bool(proxy))

    def fit(self, origin: str, source: str) -> bool:
        """Whether they are for whoever asks: the server or proxy (`source`) at `origin`."""
        if self.proxy != (source == "Proxy"):
            return False
        return self.origin is None or self.origin == _normal(origin)

    def patterns(self) -> list[dict[str, str]]:
        """Return what Chrome has to stop: it asks for credentials only where a request may be stopped."""
        # A request anywhere can be redirected to the origin, or go by the proxy.
        return [{"urlPattern": "*", "requestStage": "Request"}]

    def refused(self, origin: str) -> None:
        """Note that a server, or proxy, does not take them."""
        self._refused.tell(origin)


def _origin(given: str) -> str:
    if isinstance(given, str):
        try:
            normal = _normal(given)
            parts = urlsplit(given)
            if normal and not parts.path.strip("/") and not parts.query and parts.username is None:
                return normal
        except ValueError:
            pass
    expected = 'scheme, host and port, such as "https://example.com:8443"'
    what = repr(shown_url(given)) if isinstance(given, str) else f"a {type(given).__name__}"
    raise InvalidArgumentError(what="origin", given=what, expected=expected)


def _normal(origin: str) -> str:
    parts = urlsplit(origin)
    if not parts.scheme or not parts.hostname:
        return ""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"
