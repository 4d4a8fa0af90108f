"""The pages for benchmarks, and their server on loopback.

Rule: a page depends only on its address (`body_of`, pure), so that every side gets the same bytes. The server is a
separate process, so that it takes no time of the measured interpreter, and it ends with the program that started
it. Run alone, `python -m benchmarks.site` prints its address and serves until its input ends.

    /blank          only a title                     /rows/N       N rows, 16 accessibility nodes each
    /fragments/N    N links to parts of the page     /frames/N     N frames of ten rows each
    /scene          the target of actions            /burst        functions that generate load
    /nav/N          a small page                     /n?...        200 bytes of text
    /stock/N        a form above N such rows, with a record of the actions
    /shop/N         N such rows; a click on a button changes it to “Sold”, and the title with it
"""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

WORDS = (
    "of", "the", "item", "list", "page", "blue", "large", "first", "wooden", "paper", "kettle",
    "garden", "river", "monday", "kitchen", "window",
)  # fmt: skip
"""Words of generated texts."""

SMALL = b"x" * 200  # response of `/n?...`
SCENE = (
    "<button id=go onclick='clicks++'>Go</button> <button id=other onmouseover='overs++'>Over</button>"
    "<textarea id=field></textarea><script>clicks = 0; overs = 0</script>"
)
"""`clicks` counts the clicks on #go, `overs` the times that the mouse entered #other."""

STOCK = """<form aria-label="Shown" onsubmit="apply(this); return false"><label>Product <input name=product></label>
<label>Order <select name=order><option>Name<option>Price</select></label>
<label><input type=checkbox name=left> Only what is left</label> <button>Apply</button></form><p role=status></p><script>
record = []
const status = () => document.querySelector("[role=status]")
function note(what) { if (!record.includes(what)) record.push(what) }
function apply(form) { status().textContent = "Applied to " + form.product.value }
addEventListener("input", ({target}) => { if (target.name === "product") note("input product") })
addEventListener("change", ({target}) => {
  const box = target.type === "checkbox" && !target.name
  if (target.name !== "product") note("change " + (box ? target.parentNode.textContent.trim().toLowerCase() : target.name)) })
addEventListener("click", ({target}) => {
  if (target.localName !== "button") return
  note("click " + target.textContent.toLowerCase())
  if (!target.form) status().textContent = target.textContent.replace("Buy", "Bought") })
</script>"""
"""A form above rows. `record` lists distinct actions: fields, buttons and boxes by name."""

BURST = """<script>
async function messages(count) { for (let i = 0; i < count; i++) console.log("message", i, "of a burst"); return count }
async function requests(count) {
  let next = 0
  const one = async () => { while (next < count) await fetch("/n?" + next++).then(r => r.text()) }
  await Promise.all(Array.from({length: 20}, one)); return count }
function reply(bytes) { return "x".repeat(bytes) }
</script>"""


def rows(count: int) -> str:
    """Return a page of rows of link, text, button and checkbox: 16 accessibility nodes a row."""
    line = (
        '<li><a href="/item/{0}">Item {0}</a> <span>In stock: {0} pieces</span> <button>Buy {0}</button>'
        ' <label><input type="checkbox"> Compare {0}</label></li>'
    )
    return "<h1>Stock</h1><ul>" + "".join(line.format(number) for number in range(count)) + "</ul>"


SHOP = """<script>addEventListener("click", ({target}) => {
  if (target.localName !== "button") return
  target.textContent = target.textContent.replace("Buy", "Sold")
  document.title = target.textContent.toLowerCase() })</script>"""


def fragment_links(count: int) -> str:
    """Return a page of links to its fragments, which make Chrome's accessibility tree quadratic."""
    return "".join(f'<p><a href="#part{number}">Part {number}</a></p>' for number in range(count))


def nav(number: int) -> str:
    """Return a typical small page: a heading, text, links, a form."""
    links = "".join(
        f'<li><a href="/nav/{number + step}">Page {number + step}</a></li>' for step in range(1, 6)
    )
    return (
        f"<h1>Page {number}</h1><p>What there is to say of {number}, in a sentence or two.</p><ul>{links}</ul>"
        "<form><input name=q aria-label=Search> <button>Search</button></form>"
    )


_WITHOUT_NUMBER = {"blank": "", "scene": SCENE, "burst": BURST}
_WITH_NUMBER: dict[str, Callable[[int], str]] = {
    "rows": rows,
    "stock": lambda count: STOCK + rows(count),
    "shop": lambda count: rows(count) + SHOP,
    "fragments": fragment_links,
    "frames": lambda count: "<h1>Frames</h1>" + '<iframe src="/rows/10" title="part"></iframe>' * count,
    "nav": nav,
}


@functools.lru_cache(maxsize=64)
def body_of(path: str) -> bytes | None:
    """Return the page at `path` (without its query), or None."""
    kind, _, count = path.strip("/").partition("/")
    if kind in _WITHOUT_NUMBER and not count:
        inner = _WITHOUT_NUMBER[kind]
    elif kind in _WITH_NUMBER and count.isdecimal():
        inner = _WITH_NUMBER[kind](int(count))
    else:
        return None
    return f"<!doctype html><title>{path.strip('/')}</title>{inner}".encode()


def answer(target: bytes) -> bytes:
    path, query, _ = target.partition(b"?")
    if query and path == b"/n":
        status, kind, body = b"200 OK", b"text/plain", SMALL
    else:
        page = body_of(path.decode("latin-1"))
        status, kind = (
            (b"404 Not Found", b"text/plain") if page is None else (b"200 OK", b"text/html; charset=utf-8")
        )
        body = page or b""
    return (
        b"HTTP/1.1 %b\r\nCache-Control: no-store\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
        % (status, kind, len(body), body)
    )  # fmt: skip


class _Server(asyncio.Protocol):
    """A minimal HTTP server: responses to requests without a body, over persistent connections."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in whole:
            self._transport.write(answer(request.split(b" ", 2)[1]))


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Server, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    # Ends with the program that started it, even if that is killed.
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


@contextmanager
def serve() -> Iterator[str]:
    """Run the server in a separate process during the block. Yield its address without a trailing slash."""
    command = [sys.executable, "-m", "benchmarks.site"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise RuntimeError("the server of the benchmarks' pages did not start")
            yield address
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(_serve())
