"""A page that changes at random, and an oracle in it that identifies each element across all changes.

The oracle is a symbol on the element's object in the page's main world. It moves with the element between
documents, and it shares nothing with the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._api.page.core import resolve
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import Node
from cdpengine._snapshot.refs import Ref
from cdpengine.errors import RemoteError, StaleRefError

SPOTS = "<div class=spot><button class=item>a</button><a class=item href=/x>b</a></div><div class=spot></div>"

OUTER = """<!doctype html><title>outer</title>
<div class=spot><button class=item>a</button><button class=item>a</button><button class=item>b</button></div>
<div class=spot><a class=item href=/x>a</a></div>
<iframe src="/inner?A"></iframe><iframe src="/inner?B"></iframe><iframe src="OTHER/inner?C"></iframe>
<script>
const kept = [];
const docs = () => [document, ...document.querySelectorAll("iframe")].map(each => each.contentDocument || each)
  .filter(each => each.nodeType === 9);
const all = (selector) => docs().flatMap(each => [...each.querySelectorAll(selector)]);
const pick = (list, index) => list[index % list.length];
const changes = {
  move(i, j) { const item = pick(all(".item"), i); if (item) pick(all(".spot"), j).append(item); },
  take(i) { const item = pick(all(".item"), i); if (item) { item.remove(); kept.push(item); } },
  give(i, j) { if (kept.length) pick(all(".spot"), j).prepend(kept.splice(i % kept.length, 1)[0]); },
  write(i) { pick(all(".spot"), i).innerHTML = "<button class=item>a</button><a class=item href=/x>b</a>"; },
  copy(i, j) { const item = pick(all(".item"), i); if (item) item.after(item.cloneNode(true)); },
  rename(i, j) { const item = pick(all(".item"), i); if (item) item.textContent = "ab"[j % 2]; },
};
</script>"""

IDENTITY = """function () {
  const known = Symbol.for("oracle");
  this[known] ??= `${Math.random()} ${Math.random()}`;
  return this[known];
}"""


def serve(server: HTTPServer) -> tuple[str, str]:
    """Serve the page. Return its origin, and the same server's origin under another site."""
    own, other = (f"http://{host}:{server.port}" for host in ("127.0.0.1", "localhost"))
    server.expect_request("/").respond_with_data(OUTER.replace("OTHER", other), content_type="text/html")
    inner = f"<!doctype html><title>inner</title>{SPOTS}"
    server.expect_request("/inner").respond_with_data(inner, content_type="text/html")
    return own, other


async def frame_with(page: cdpengine.Page, end: str) -> Frame:
    """Return the frame whose URL has this ending, once its document is loaded."""

    def loaded() -> Frame | None:
        return next(
            (
                each
                for each in page.internals.target.frames
                if each.url.endswith(end) and each.reached(each.loader_id, "load")
            ),
            None,
        )

    return await page.internals.target.changes.wait_for(loaded)


async def identity(node: Node) -> str | None:
    """Ask the oracle which element a node is. Return None if Chrome no longer has the node."""
    try:
        resolved = await node.session.call("DOM.resolveNode", backendNodeId=node.backend_node_id)
        reply: dict[str, Any] = await node.session.call(
            "Runtime.callFunctionOn",
            objectId=resolved["object"]["objectId"],
            functionDeclaration=IDENTITY,
            returnByValue=True,
        )
    except RemoteError:
        return None
    return str(reply["result"]["value"])


@attrs.define
class Record:
    """The history: the element of each ref, and the ref of each element."""

    element_of: dict[str, str] = attrs.field(factory=dict)
    ref_of: dict[str, str] = attrs.field(factory=dict)
    stale: int = 0

    async def check(self, page: cdpengine.Page, given: Mapping[str, Ref]) -> None:
        """Compare the new refs and all earlier refs with the oracle."""
        for ref in given.values():
            element = await identity(resolve(page.internals.target, page.internals.refs, ref))
            assert element is not None, f"{ref} was given for nothing"
            assert self.element_of.setdefault(ref.id, element) == element, f"{ref.id} named another element"
            assert self.ref_of.setdefault(element, ref.id) == ref.id, f"an element has {ref.id} as well"
        for ref_id in self.element_of.keys() - given.keys():
            try:
                node = resolve(page.internals.target, page.internals.refs, ref_id)
            except StaleRefError:
                self.stale += 1
                continue
            element = await identity(node)
            assert element in (None, self.element_of[ref_id]), f"{ref_id} hits another element"
