"""A recording as a page: its contents can be read back, none of them is markup, and nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

from recorded import HEADER, Recorded, small

from cdpengine.debug.reading.display import LONGEST, page_document
from cdpengine.debug.recording_format import Line

HOSTILE = "</script><!--<script>alert(1)</script>\u2028<img src=x onerror=alert(1)>"


def page(lines: list[Line], name: str = "a.jsonl", limit: int = 1000) -> str:
    return b"".join(page_document(HEADER, name, lines, limit)).decode()


def script(document: str, name: str) -> str:
    found = re.search(rf'<script type="[^"]+" id="{name}">(.*?)</script>', document, re.DOTALL)
    assert found is not None
    return found[1]


def rows(document: str) -> tuple[list[list[Any]], dict[str, Any]]:
    text = zlib.decompress(base64.b64decode(script(document, "data"), validate=True)).decode()
    *lines, tables = text.split("\n")
    return [json.loads(line) for line in lines], json.loads(tables)


def test_every_line_is_a_row() -> None:
    recorded = small()
    found, tables = rows(page(recorded.lines))
    assert len(found) == len(recorded.lines)
    assert [tables["methods"][row[4]] for row in found] == [line.m for line in recorded.lines]
    sessions = [tables["sessions"][row[3]]["label"] if row[3] >= 0 else None for row in found]
    assert set(sessions) == {"browser", "5E55 page https://example.com/", None}
    assert found[7][6] == 251.0
    assert json.loads(found[7][9]) == {"frameId": "7A26", "loaderId": "10AD"}


def test_two_connections_are_distinguished() -> None:
    lines = [Line(k="event", m="A.b", c=c, n=n) for n, c in enumerate(("one", "two"))]
    _, tables = rows(page(lines))
    assert [session["label"] for session in tables["sessions"]] == ["browser", "browser (2)"]


class Elements(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_everything_in_a_recording_is_text() -> None:
    recorded = Recorded()
    from cdpengine._protocol.instruments import Span

    recorded.attach("5E55", "7A26", url=HOSTILE)
    recorded.exchange(HOSTILE, "5E55", span=Span(1, HOSTILE), text=HOSTILE)
    document = page(recorded.lines, name=HOSTILE)
    tags = [tag for tag, _ in Elements(document).seen]
    assert tags == [tag for tag, _ in Elements(page(small().lines)).seen]
    assert "img" not in tags
    assert json.loads(script(document, "facts"))["actions"] == {"1": HOSTILE}


def test_the_page_loads_nothing_and_runs_only_its_own_script() -> None:
    document = page(small().lines)
    policy = next(
        a["content"] for t, a in Elements(document).seen if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", document, re.DOTALL)
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:; ")
    links = [
        value
        for _, attributes in Elements(document).seen
        for name, value in attributes.items()
        if name in ("src", "href")
    ]
    assert links == ["data:,"]
    assert "http:" not in document
    assert "url(" not in document


def test_lines_beyond_the_limit_are_counted_and_long_payloads_cut() -> None:
    recorded = Recorded()
    for _ in range(10):
        recorded.event("A.b", data="é" * 5000)
    document = page(recorded.lines, limit=4)
    found, _ = rows(document)
    assert len(found) == 4
    assert len(found[0][9].encode()) in (LONGEST, LONGEST - 1)
    assert found[0][10] == 10_000 + len('{"data": ""}')
    assert "10 lines in 0.0 s · the first 4 are here · secrets redacted" in script(document, "facts")


def test_large_data_is_encoded_in_pieces_that_join() -> None:
    lines = [
        Line(k="event", m="A.b", n=n, url="", t=n / 7, z=n * 7919 % 100_003, id=n * 31_337)
        for n in range(15_000)
    ]
    found, _ = rows(page(lines, limit=100_000))
    assert [row[5] for row in found] == [line.id for line in lines]
