"""The format of recordings: one JSON object a line, a header first. Pure.

Rule: what does not apply to a line is left out of it. A reader passes over fields and kinds of lines that it does
not know, so that a newer version may add both.
"""

from __future__ import annotations

from typing import Literal, get_args
from urllib.parse import urlsplit

import msgspec

from cdpengine import _json

VERSION = 1

CUT = "cdpengine.cut"
"""The key of the marker that stands for a payload above the limit; its value is the payload's size in bytes."""

Kind = Literal[
    "call", "reply", "error", "event", "stray", "target", "span", "span-end", "http", "entered", "lost", "end"
]
KINDS = frozenset(get_args(Kind))


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line.

    `started` is the wall clock, ISO 8601 in UTC; `monotonic` the engine's clock then, in seconds;
    `limit` is the size in bytes above which payloads are cut, 0 for none; `salt` that of the fingerprints of
    entered texts, in hexadecimal, "" where there are none.
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
        """Return the line."""
        # Its first fields tell a recording from other files, so they are written although they are defaults.
        fields = {"cdpengine": self.cdpengine, "version": self.version, **msgspec.to_builtins(self)}
        return _json.encode(fields) + b"\n"


class Line(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One thing that happened, in the order of the wire. What does not apply is left out of the file.

    t       seconds since the recording began
    n       sequence number, from 1; a gap is where lines were lost
    k       call, reply, error (a reply that refuses), event, stray (a message that is none of these);
            target (a session and what it belongs to), span and span-end (one action of the program's own),
            http (something that a client asked over HTTP, and the answer), entered (the fingerprints of what was
            entered by the call on line `of`: `entered_texts.py`),
            lost (`count` messages came faster than they could be written), end (the recorder was closed in order)
    c       the connection's name
    d       ">" sent, "<" received
    s       session id, absent for the browser's own session
    T       target id of the session, where it is known
    id, m   id and method of a call; of its reply too; of http the method, such as PUT
    z       size of the message on the wire, in bytes
    ms      of replies: milliseconds since the call; of span-ends: how long the action took
    span    the action that a call, and so its reply, belongs to; of spans their own number
    name    of spans and their ends: the action, such as "page.click e7"
    failed  of span-ends: the name of the exception that ended the action; absent where it succeeded
    type    of targets: page, iframe, worker, ...
    url     of targets; of http what was asked, such as "/json/new?about:blank"
    count   of lost
    status  of http: the status of the answer
    of      of entered: the number n of the call's line
    h       of entered: the fingerprints of the call's redacted texts in their order, "" for one without
    typed   of entered: the fingerprint of what was typed in the call's session since the last one
    withheld  of replies: whether something in what a script returned was withheld, as nobody knows what is secret
            in it (`keep_arguments` keeps it)
    msg     the message: as it was, or redacted; where its payload is above the limit, {"cdpengine.cut": bytes,
            "head": "..."} stands in the payload's place; of http the body of the answer, a text unless it is JSON
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
    """The message of a line, its payloads left raw."""

    id: int | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


def http_params(target: str) -> dict[str, str]:
    """Return what is asked over HTTP as parameters: the path, and the URL for a new tab."""
    path, _, query = target.partition("?")
    if not target.startswith("/"):
        path = urlsplit(target).path
    path = path.rstrip("/")
    return {"path": "/json/list" if path == "/json" else path, "url": query}
