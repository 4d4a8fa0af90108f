"""A site over HTTPS with the certificate of LOOPBACK_TLS, which no browser trusts. It remembers its requests."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_httpserver import HTTPServer
from raw_server import LOOPBACK_TLS


@contextmanager
def tls_site(*, client_certificate: bool = False) -> Iterator[HTTPServer]:
    """Serve during the block. Register handlers on the server; `server.log` has the requests.

    With `client_certificate`, the server accepts only clients with a certificate.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(LOOPBACK_TLS)
    if client_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(LOOPBACK_TLS)
    server = HTTPServer(host="localhost", port=0, ssl_context=context, threaded=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()
