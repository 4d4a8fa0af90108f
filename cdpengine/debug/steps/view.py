"""The page of a step trace: one HTML file with all data, which loads nothing.

Rule: the index is small and read at once. Everything else is packed, and read when a step is opened: the versions
of a document, the snapshots, the messages, the requests, pictures and resources.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, TypeVar

import attrs

from cdpengine import _json
from cdpengine.debug.steps.reading import StepTrace

T = TypeVar("T")

_SCRIPTS = ("packs", "documents", "stage", "panes", "timeline", "viewer")
_PACKED = 1 << 20
"""Size of a pack of messages or requests, in bytes before compression."""


@attrs.define
class _Index:
    """The steps and everything around them, with places of the packed parts."""

    steps: dict[int, dict[str, Any]] = attrs.field(factory=dict)
    pages: list[dict[str, Any]] = attrs.field(factory=list)
    events: list[dict[str, Any]] = attrs.field(factory=list)
    pictures: list[dict[str, Any]] = attrs.field(factory=list)
    requests: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    resources: dict[str, str] = attrs.field(factory=dict)
    refs: dict[int, dict[str, list[int]]] = attrs.field(factory=dict)
    """Numbers of the document and the node of each ref, by page."""
    given: list[dict[str, Any]] = attrs.field(factory=list)
    entries: list[tuple[str, dict[str, Any]]] = attrs.field(factory=list)

    def take(self, line: dict[str, Any]) -> None:
        """Add one line of the steps."""
        kind = line.pop("k", "")
        step = self.steps.get(line.get("n", 0))
        if kind == "step":
            self.steps[line["n"]] = {**line, "nodes": []}
        elif kind == "end" and step is not None:
            step.update(
                {key: line[key] for key in ("error", "log", "outcome", "frame", "timeout")}, end=line["t"]
            )
        elif kind == "state" and step is not None:
            step[line["when"]] = line["frames"]
        elif kind == "node" and step is not None:
            step["nodes"].append(line)
        elif kind == "given" and step is not None:
            step["given"] = {
                key: line[key] for key in ("tokens", "chars", "lines", "mode", "gaps", "sources", "whole")
            }
            self.given.append(line)
        elif kind == "refs":
            self.refs.setdefault(line["page"], {}).update(line["refs"])
        elif kind in ("console", "error"):
            self.events.append({"kind": kind, **line})
        elif kind == "picture":
            self.pictures.append(line)
        elif kind == "page":
            self.pages.append(line)
        elif kind == "resource":
            self.resources.setdefault(line["url"], line["name"])
        elif kind == "request":
            self.requests[line["id"]] = line
        elif kind == "response":
            self._take_response(line)

    def _take_response(self, line: dict[str, Any]) -> None:
        entry = line.pop("entry")
        response = entry["response"]
        known = self.requests.setdefault(
            line["id"],
            {"id": line["id"], "page": line["page"], "t": line["t"], "url": entry["request"]["url"],
             "method": entry["request"]["method"], "type": line["type"], "at": line["began"]},
        )  # fmt: skip
        known.update(
            status=response["status"], failure=line["failure"], began=line["began"], ended=line["ended"],
            size=response["content"]["size"], mime=response["content"]["mimeType"],
        )  # fmt: skip
        self.entries.append((line["id"], entry))


def page_of(trace: StepTrace) -> Iterator[bytes]:
    """Yield the HTML of the viewer with the trace, in pieces."""
    index = _Index()
    for line in trace.lines("steps"):
        index.take(line)
    packs: dict[str, bytes] = {"given": _packed(index.given)}
    documents: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in trace.lines("documents"):
        documents[line["d"]].append({"v": line["v"], **line["data"]})
    for number, versions in documents.items():
        packs[f"document-{number}"] = _packed(sorted(versions, key=lambda version: version["v"]))
    _pack_messages(trace, index.steps, packs)
    for number, entries in enumerate(_chunks(index.entries)):
        packs[f"requests-{number}"] = _packed(dict(entries))
        for request_id, _ in entries:
            index.requests[request_id]["pack"] = number
    facts = {
        **trace.header, "name": trace.path.name, "complete": trace.complete,
        "steps": [index.steps[number] for number in sorted(index.steps)], "pages": index.pages,
        "events": index.events, "pictures": index.pictures, "requests": list(index.requests.values()),
        "resources": index.resources, "refs": index.refs,
    }  # fmt: skip
    yield from _document(trace, facts, packs)


def _pack_messages(trace: StepTrace, steps: dict[int, dict[str, Any]], packs: dict[str, bytes]) -> None:
    """Pack the messages of each step: its commands and their replies, and the events meanwhile."""
    spans = {step["span"]: number for number, step in steps.items()}
    ordered = sorted(steps.values(), key=lambda step: float(step["t"]))
    begins = [float(step["t"]) for step in ordered]
    messages: dict[int, list[dict[str, Any]]] = {number: [] for number in steps}
    for line in trace.lines("protocol"):
        if line.get("k") not in ("call", "reply", "error", "event"):
            continue
        number = spans.get(line.get("span", 0), 0)
        if line["k"] == "event" and (place := bisect_right(begins, line["t"])):
            step = ordered[place - 1]
            number = step["n"] if line["t"] <= step.get("end", line["t"]) else 0
        if number:
            messages[number].append(line)
    for number, lines in messages.items():
        steps[number]["messages"] = len(lines)
    for chunk, group in enumerate(_chunks(list(messages.items()))):
        packs[f"messages-{chunk}"] = _packed({str(number): lines for number, lines in group})
        for number, _ in group:
            steps[number]["pack"] = chunk


def _chunks(items: Sequence[tuple[T, Any]]) -> Iterator[list[tuple[T, Any]]]:
    """Yield the items in groups of about `_PACKED` bytes."""
    group: list[tuple[T, Any]] = []
    size = 0
    for item in items:
        group.append(item)
        size += len(_json.encode(item[1]))
        if size > _PACKED:
            yield group
            group, size = [], 0
    if group:
        yield group


def _document(trace: StepTrace, facts: dict[str, Any], packs: dict[str, bytes]) -> Iterator[bytes]:
    script = "\n".join(_part(f"{name}.js") for name in _SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}\n}})();'
    style = _part("viewer.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    head, rest = _part("viewer.html").split("{{data}}")
    tail_head, tail = rest.split("{{script}}")
    title = html.escape(f"{trace.path.name} - step trace")
    for name, value in {"title": title, "style": style, "script-hash": f"sha256-{digest}"}.items():
        head = head.replace(f"{{{{{name}}}}}", value)
    yield head.encode()
    yield b'<script type="application/json" id="index">%b</script>\n' % _for_html(facts)
    for name, data in packs.items():
        yield _data_element(name, data, packed=True)
    for name in trace.names:
        if name.startswith(("pictures/", "resources/", "given/")):
            yield _data_element(name, trace.read(name), packed=False)
    yield f"{tail_head}{script}{tail}".encode()


def _data_element(name: str, data: bytes, *, packed: bool) -> bytes:
    kind = b"gzip" if packed else b"raw"
    encoded = base64.b64encode(data)
    return b'<script type="application/octet-stream" data-kind="%b" id="%b">%b</script>\n' % (
        kind, name.encode(), encoded,
    )  # fmt: skip


def _part(name: str) -> str:
    return resources.files(__package__).joinpath("viewer", name).read_text("utf-8")


def _packed(value: object) -> bytes:
    return gzip.compress(_json.encode(value), 6, mtime=0)


def _for_html(value: object) -> bytes:
    """Return JSON that ends no element: `<` occurs only in strings, which can escape it."""
    return _json.encode(value).replace(b"<", b"\\u003c")
