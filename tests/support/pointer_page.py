"""A page that records its mouse, touch and drag events, for tests of the pointer through Page."""

from __future__ import annotations

from typing import Any

import cdpengine

RECORDER = """<script>
  record = [];
  const names = "pointerdown mousedown pointerup mouseup click auxclick dblclick contextmenu mousemove wheel " +
    "touchstart touchend dragstart dragover drop dragend input change";
  for (const name of names.split(" ")) addEventListener(name, (event) => {
    const inner = event.composedPath()[0];
    record.push({ type: event.type, target: inner.id || inner.localName || "document", trusted: event.isTrusted,
      x: event.clientX, y: event.clientY, button: event.button, buttons: event.buttons, detail: event.detail,
      shift: event.shiftKey, pointer: event.pointerType, deltaX: event.deltaX, deltaY: event.deltaY,
      data: event.dataTransfer ? event.dataTransfer.getData("text/plain") : "" });
  }, true);
</script>"""


async def show(page: cdpengine.Page, body: str, *, head: str = "") -> None:
    await page.set_content(f"<!doctype html>{head}{RECORDER}<body style='margin:0'>{body}</body>")


async def node(page: cdpengine.Page, expression: str) -> cdpengine.BackendNode:
    found = await page.session.call("Runtime.evaluate", expression=expression)
    assert "objectId" in found["result"], found
    described = await page.session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    return cdpengine.BackendNode(described["node"]["backendNodeId"])


async def record(page: cdpengine.Page, *types: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await page.evaluate("record")
    return [entry for entry in found if not types or entry["type"] in types]


def at(left: int, top: int, width: int = 80, height: int = 30) -> str:
    return f"position:absolute;left:{left}px;top:{top}px;width:{width}px;height:{height}px"
