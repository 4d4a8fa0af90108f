"""The format of recordings: one JSON object a line, beginning with a header. Pure.

Rule: a line omits the fields that do not apply. Readers ignore unknown fields and kinds of lines, so that newer
versions can add both.
"""

from __future__ import annotations

from typing import Literal, get_args
from urllib.parse import urlsplit

import msgspec

from cdpengine import _json

VERSION = 1

CUT = "cdpengine.cut"
"""Key of the marker that replaces a payload above the limit. Its value is the payload's size in bytes."""

Kind = Literal[
    "call", "reply", "error", "event", "stray", "target", "span", "span-end", "http", "entered", "lost", "end"
]
KINDS = frozenset(get_args(Kind))


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line.

    `started` is the wall clock as ISO 8601 in UTC. `monotonic` is the engine's clock at that time, in seconds.
    `limit` is the size in bytes above which payloads are cut, 0 for none. `salt` is the hexadecimal salt of the
    fingerprints of entered text, "" without fingerprints.
    """

    cdpengine: str = "recording"
    version: int = VERSION
    started: str = ""
    monotonic: float = 0.0
    product: str = ""
    redacted: bool = True
    limit: int = 0
    pid: int = 0
    salt: str = ""

    def encoded(self) -> bytes:
        """Return the encoded line."""
        # The first fields distinguish a recording from other files, so they are written although they are
        # defaults.
        fields = {"cdpengine": self.cdpengine, "version": self.version, **msgspec.to_builtins(self)}
        return _json.encode(fields) + b"\n"


class Line(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One event of the recording, in wire order. Fields that do not apply are omitted.

    t       seconds since the start of the recording
    n       sequence number, from 1; gaps are lost lines
    k       call, reply, error (a refusing reply), event, stray (any other message),
            target (a session and its target), span and span-end (an action of the program),
            http (an HTTP request of a client, and the response),
            entered (the fingerprints of text entered by the call on line `of`: `entered_texts.py`),
            lost (`count` messages arrived faster than they could be written), end (the recorder closed
            normally)
    c       name of the connection
    d       ">" sent, "<" received
    s       session id, absent for the browser's session
    T       target id of the session, if known
    id, m   id and method of a call and its reply; for http, the HTTP method, such as PUT
    z       size of the message on the wire, in bytes
    ms      for replies, milliseconds since the call; for span-ends, the duration of the action
    span    the action of a call and its reply; for spans, their number
    name    for spans and their ends, the action, such as "page.click e7"
    failed  for span-ends, the name of the exception that ended the action; absent on success
    type    for targets: page, iframe, worker, ...
    url     for targets, their URL; for http, the requested path, such as "/json/new?about:blank"
    count   for lost, the number of messages
    status  for http, the status of the response
    of      for entered, the number n of the call's line
    h       for entered, the fingerprints of the call's redacted strings in order, "" without one
    typed   for entered, the fingerprint of the text typed in the session since the last fingerprint
    withheld  for replies, whether a part of a script's result was withheld because its secrets are unknown
            (`keep_arguments` keeps it)
    msg     the message, possibly redacted; a payload above the limit is replaced by
            {"cdpengine.cut": bytes, "head": "..."}; for http, the body of the response, as a string unless it
            is JSON
    """

    t: float = 0.0
    n: int = 0
    k: str
    c: str = ""
    d: str = ""
    s: str = ""
    T: str = ""
    id: int | None = None
    m: str = ""
    z: int = 0
    ms: float | None = None
    span: int = 0
    name: str = ""
    failed: str = ""
    type: str = ""
    url: str = ""
    count: int = 0
    status: int = 0
    of: int = 0
    h: tuple[str, ...] = ()
    typed: str = ""
    withheld: bool = False
    msg: msgspec.Raw = msgspec.Raw(b"")


class Message(msgspec.Struct):
    """The message of a line, with raw payloads."""

    id: int | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


def http_params(target: str) -> dict[str, str]:
    """Return the path and the new tab's URL of an HTTP request, as parameters."""
    path, _, query = target.partition("?")
    if not target.startswith("/"):
        path = urlsplit(target).path
    path = path.rstrip("/")
    return {"path": "/json/list" if path == "/json" else path, "url": query}
