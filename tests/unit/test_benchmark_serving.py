"""The loop of the benchmarks' peers: every order has an answer, whatever the library does, and the browser is
closed.
"""

from __future__ import annotations

import asyncio
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import serve

PEERS = Path(serve.__file__).parent


class Library:
    """Answers, fails and hangs on command. Records its start and its end."""

    version = "1.2"
    attached = "pipe"

    def __init__(self, lacks: Mapping[str, str] | None = None, failing: Exception | None = None) -> None:
        self.lacks = (
            {"fill": "has no fill", "snapshot": "has no accessibility tree"} if lacks is None else lacks
        )
        self.failing = failing
        self.closed = 0

    async def begin(self) -> None:
        if self.failing is not None:
            raise self.failing

    async def end(self) -> None:
        self.closed += 1

    async def do_click(self, repeats: int) -> dict[str, Any]:
        return {"values": [1.5] * repeats, "note": "by hand"}

    async def do_memory(self) -> list[float]:
        return [7.0]

    async def do_hover(self) -> dict[str, Any]:
        raise serve.Cannot("the page was told of 0 moves")

    async def do_type(self) -> dict[str, Any]:
        raise ValueError("first line\nsecond line")

    async def do_hung(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("unused attribute")

    async def do_late(self) -> dict[str, Any]:
        raise TimeoutError("its own")

    async def do_fill(self) -> dict[str, Any]:
        raise AssertionError("it has none")


ANSWERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"do": "click", "repeats": 2}, {"values": [1.5, 1.5], "note": "by hand"}),
    ({"do": "memory"}, {"values": [7.0]}),
    ({"do": "hover"}, {"cannot": "the page was told of 0 moves"}),
    ({"do": "type"}, {"cannot": "ValueError: first line"}),
    ({"do": "hung", "patience": 0.01}, {"cannot": "did not end within 0.01 s"}),
    ({"do": "late"}, {"cannot": "TimeoutError: its own"}),
    ({"do": "fill"}, {"cannot": "has no fill"}),
    ({"do": "dance"}, {"cannot": "this peer knows no 'dance'"}),
    ({"do": "step"}, {"cannot": "has no accessibility tree"}),
    ({"do": "ready", "verb": "first_look"}, {"cannot": "has no accessibility tree"}),
    ({"do": "ready", "verb": "click"}, {"values": []}),
    ({"do": "ready", "verb": "fill"}, {"cannot": "has no fill"}),
    ({"do": "ready", "verb": "dance"}, {"cannot": "this peer knows no 'dance'"}),
]


def served(library: Library, *orders: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the loop's whole output for these orders."""
    replies: list[dict[str, Any]] = []
    lines = io.StringIO("".join(json.dumps(order) + "\n" for order in orders))
    asyncio.run(serve.obey(library, serve.lines_of(lines), replies.append))
    return replies


def test_every_order_has_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        serve, "descendants_of", lambda _process: []
    )  # lines of the tests, not of the library
    library = Library()
    first, *answers, last = served(library, *[order for order, _ in ANSWERS])
    assert first == {"ready": True, "version": "1.2", "attached": "pipe"}
    assert answers == [answer for _, answer in ANSWERS]
    assert last == {"values": []}
    assert library.closed == 1


def test_stop_ends_the_loop_before_later_orders_and_a_failed_start_gives_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "descendants_of", lambda _process: [])
    library = Library()
    assert served(library, {"do": "stop"}, {"do": "memory"})[1:] == [{"values": []}]
    assert library.closed == 1
    failing = Library(failing=serve.Cannot("there is no chromedriver here"))
    assert served(failing)[0] == {"ready": False, "cannot": "there is no chromedriver here"}
    assert failing.closed == 1


SCRIPT = """
import subprocess, sys
sys.path.insert(0, sys.argv[2])
from serve import serve
class Library:
    version, attached, lacks = "1", "pipe", {}
    def __init__(self, order): self.order = order
    async def begin(self):
        print("a banner")
        self.child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    async def end(self): raise RuntimeError("cannot close")
    async def do_memory(self): return [self.child.pid]
serve(Library)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("how", ["the orders end", "it is told to terminate"])
def test_a_peer_takes_its_children_along(how: str) -> None:
    command = [sys.executable, "-c", SCRIPT, '{"a": 1}', str(PEERS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["ready"] is True  # and not the banner
        process.stdin.write('{"do": "memory"}\n')
        process.stdin.flush()
        [child] = json.loads(process.stdout.readline())["values"]
        assert child in serve.descendants_of(process.pid)
        deadline = time.monotonic() + 20
        while serve.resident(child) <= 1:  # briefly after its start the child is still executing its program
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert serve.resident(process.pid) > serve.resident(child)
        if how == "the orders end":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    deadline = time.monotonic() + 20
    while serve.is_alive(child):  # it was killed; the kernel may need a moment
        assert time.monotonic() < deadline
        time.sleep(0.01)
