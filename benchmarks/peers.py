"""Peers: other engines, each in a process of its own, that do one thing when told and say how long it took.

Rule: they live in a virtual environment of their own (`benchmarks/.peers`, made here at the versions of `peers.txt`),
and speak one line of JSON a turn over their standard streams, so that turns can alternate A B A B in one run. What a
peer cannot do it says in words, not as a zero.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PEERS = HERE / ".peers"


def peers_python() -> Path:
    """Return the peers' interpreter, made on first use."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / ".ready"
    wanted = (HERE / "peers.txt").read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", PEERS], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", HERE / "peers.txt"], check=True)
        stamp.write_text(wanted, "utf-8")
    return python


class Peer:
    """A peer that waits for its turn."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **turn: object) -> dict[str, Any]:
        """Have it take a turn, and return what it says. Raises RuntimeError when it ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(turn) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer ended with {self._process.wait(10)} at {turn}")
        said: dict[str, Any] = json.loads(line)
        return said


@contextmanager
def peer(script: str, *args: str) -> Iterator[Peer]:
    """Start `benchmarks/<script>` with the peers' interpreter; end it when the block ends."""
    with subprocess.Popen(
        [peers_python(), HERE / script, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Peer(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
