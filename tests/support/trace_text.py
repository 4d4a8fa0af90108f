"""The text of a step trace: what a reader of its viewer sees, without pages and protocol messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cdpengine.debug.steps.reading import open_step_trace


def text_of(path: Path) -> str:
    """Return the steps, snapshots, console and requests of a trace, one of them a line."""
    return "\n".join(" | ".join(line.splitlines()) for line in _lines(path))


def _lines(path: Path) -> Iterator[str]:
    verbs: dict[int, str] = {}
    for line in open_step_trace(path).lines("steps"):
        kind = line["k"]
        if kind == "step":
            verbs[line["n"]] = f"{line['verb']} {line['args']}"
            yield f"step {line['n']} of page {line['page']}: {verbs[line['n']]} {line['url']} {line['at']}"
        elif kind == "end":
            yield f"{verbs[line['n']]} {_outcome(line)}"
        elif kind == "given":
            yield from line["text"]
        elif kind == "console":
            yield f"console {line['level']} {line['text']} {line['at']}"
        elif kind == "error":
            yield f"error {line['text']} {line['stack']}"
        elif kind == "response":
            yield _response(line)


def _outcome(line: dict[str, Any]) -> str:
    error, log = line["error"], ", ".join(text for _, text in line["log"])
    if error is None:
        return f"{line['outcome']} ({log})"
    return f"{error['kind']} {error['message']} {' '.join(error['notes'])} ({log})"


def _response(line: dict[str, Any]) -> str:
    request, response = line["entry"]["request"], line["entry"]["response"]
    status = " ".join(filter(None, (str(response["status"] or ""), line["failure"]))) or "pending"
    return f"request {status} {request['url']} {response['content'].get('text', '')}"
