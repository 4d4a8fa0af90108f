"""A page of the engine with form controls, and the page's own record of their events."""

from __future__ import annotations

import json
from typing import Any

import attrs

import cdpengine

RECORDER = """
(() => {
  window.record = [];
  window.watch = (names, root = document) => {
    for (const name of names.split(" ")) {
      root.addEventListener(name, (event) => {
        const at = event.composedPath()[0];
        record.push({
          type: event.type, target: at.id || at.localName || "document", trusted: event.isTrusted,
          data: event.data ?? null, inputType: event.inputType ?? null, key: event.key ?? null,
          code: event.code ?? null, composing: event.isComposing ?? null, detail: event.detail ?? null,
          repeat: event.repeat ?? null, value: at.value ?? null, checked: at.checked ?? null,
        });
      }, true);
    }
  };
  watch("keydown keyup beforeinput input change click focus blur cancel compositionstart compositionupdate "
      + "compositionend submit");
})()
"""


@attrs.define(eq=False)
class FormPage:
    page: cdpengine.Page

    async def show(self, body: str) -> None:
        """Load a document into the page, with the recorder watching."""
        await self.page.set_content(f"<!doctype html><body style='margin:8px'>{body}</body>")
        await self.page.evaluate(RECORDER)

    async def js(self, expression: str) -> Any:
        return await self.page.evaluate(expression, timeout=20)

    async def record(self, *kinds: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.js("record")
        return [entry for entry in found if not kinds or entry["type"] in kinds]

    async def events(self, *kinds: str) -> list[tuple[str, str, bool]]:
        """Return type, target and isTrusted of the events of these kinds, in order."""
        return [(e["type"], e["target"], e["trusted"]) for e in await self.record(*kinds)]

    async def node(self, expression: str) -> cdpengine.BackendNode:
        """Return the node of a JavaScript expression or of `#id`."""
        if expression.startswith("#"):
            expression = f"document.querySelector({json.dumps(expression)})"
        session = self.page.session
        reply = await session.call("Runtime.evaluate", expression=expression)
        described = await session.call("DOM.describeNode", objectId=reply["result"]["objectId"])
        await session.call("Runtime.releaseObject", objectId=reply["result"]["objectId"])
        return cdpengine.BackendNode(described["node"]["backendNodeId"])
