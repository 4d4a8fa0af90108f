"""Compare the snapshots of this checkout with those of another revision, on random documents.

Usage: python scripts/compare_snapshots.py REVISION [--documents N] [--first SEED]. Both engines read each
document right after it has loaded, and again after some changes. They read a plain document without Chrome's
accessibility tree, and with it. A document that differs is read once more by itself: Chrome's choice among
contested owners depends on the documents before. Prints the differences. Exit status: 0 if there are none, else 1.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests/support"
NAMES = ("first", "after changes", "first, with the tree", "after changes, with the tree")
MOST_SHOWN = 10

sys.path[:0] = [str(ROOT), str(SUPPORT)]
from random_documents import random_document  # noqa: E402 - in the folder added above


class Documents(BaseHTTPRequestHandler):
    """Serves the document of each seed, and a plain one."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Serve the document whose seed is the path."""
        name = self.path.strip("/")
        html = random_document(int(name)) if name.isdecimal() else "<!doctype html><p>plain</p>"
        body = html.encode("utf-8", "surrogatepass")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(BrokenPipeError):  # the browser no longer wants an icon
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve the documents, and yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Documents) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def read(checkout: Path, address: str, first: int, count: int) -> subprocess.Popen[str]:
    """Start to read the documents with the engine of a checkout."""
    command = [sys.executable, str(SUPPORT / "snapshot_digests.py"), address, str(first), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def difference(old: str, new: str) -> str:
    """Return the different lines, shortened."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "old", "new", lineterm="", n=1)
    return "\n".join(line[:600] for line in lines)


def compare(revision: str, first: int, count: int) -> int:
    """Print the differences, and return their number."""
    with tempfile.TemporaryDirectory(prefix="compare-snapshots-") as folder, served() as address:
        command = ["git", "archive", "--format=tar", revision, "cdpengine"]
        archive = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
            packed.extractall(folder, filter="data")
        compared, plain, different = read_both(Path(folder), address, first, count)
        different = {
            seed: said for seed in different for said in read_both(Path(folder), address, seed, 1)[2].values()
        }
    for seed, said in list(different.items())[:MOST_SHOWN]:
        print(f"document {seed}, {said}")
    print(f"{compared} of {count} documents compared, {plain} of them plain, {len(different)} differ")
    return len(different) + (compared < count)


def read_both(checkout: Path, address: str, first: int, count: int) -> tuple[int, int, dict[int, str]]:
    """Read the documents with both engines.

    Returns the number of documents, the number of plain ones, and the differences by seed.
    """
    compared = plain = 0
    different: dict[int, str] = {}
    with read(checkout, address, first, count) as old, read(ROOT, address, first, count) as new:
        assert old.stdout is not None
        assert new.stdout is not None
        for before, after in zip(old.stdout, new.stdout, strict=True):
            seed, was_plain, *olds = json.loads(before)
            _, is_plain, *news = json.loads(after)
            compared += 1
            plain += is_plain
            if was_plain != is_plain:
                print(f"document {seed} is {'' if is_plain else 'not '}plain now")
            for name, one, other in zip(NAMES, olds, news, strict=False):
                if one != other:
                    different.setdefault(seed, f"{name}:\n{difference(one, other)}")
    return compared, plain, different


def main() -> int:
    """Compare by the arguments of the command line, and return the exit status."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("revision")
    made.add_argument("--documents", type=int, default=100, metavar="N")
    made.add_argument("--first", type=int, default=1, metavar="SEED")
    options = made.parse_args()
    return 1 if compare(options.revision, options.first, options.documents) else 0


if __name__ == "__main__":
    sys.exit(main())
