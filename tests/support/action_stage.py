"""A page for the tests of the action layer. It uses layers 1 to 4 only, without the API above them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio
from kept_window import Window

from cdpengine._budget import Budget, within
from cdpengine._input.action import ActionContext, ActionOutcome, click, hover
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.mouse import HeldKeys, MouseDevice, TouchDevice
from cdpengine._input.forms.text_entry import press, type_text
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session, open_connection
from cdpengine._protocol.websocket_transport import open_websocket

RECORDER = """
window.record = [];
window.watch = function (names, root) {
  const path = (node) => !node || !node.nodeType ? "window" : node.nodeType === 9 ? "document" : node.id || node.localName;
  for (const name of names.split(" ")) {
    (root || document).addEventListener(name, (event) => {
      const inner = event.composedPath()[0];
      window.record.push({
        type: event.type, target: path(inner), trusted: event.isTrusted,
        x: event.clientX, y: event.clientY, button: event.button, buttons: event.buttons, detail: event.detail,
        key: event.key, code: event.code, keyCode: event.keyCode, location: event.location, repeat: event.repeat,
        shift: event.shiftKey, ctrl: event.ctrlKey, alt: event.altKey, meta: event.metaKey,
        data: event.data ?? null, inputType: event.inputType ?? null,
      });
    }, true);
  }
};
"""

MOUSE_EVENTS = "mousemove mousedown mouseup click dblclick auxclick contextmenu"
KEY_EVENTS = "keydown keypress beforeinput input keyup"
BUTTON = "<button id=go style='position:absolute;left:100px;top:50px;width:80px;height:20px'>Go</button>"


class DialogWatch:
    """Interruptions that leave dialogs open, so that tests can observe actions while a dialog is open."""

    unconfirmed = 0
    dialog_timeout = 0.0
    """No handler answers these dialogs, so actions do not wait for one."""

    def __init__(self, session: Session) -> None:
        self._opened = trio.Event()
        self._listeners: list[Callable[[], None]] = []
        session.on_event("Page.javascriptDialogOpening", lambda _event: self._open())
        session.on_event("Page.javascriptDialogClosed", lambda _event: self._renew())

    @property
    def dialog_is_open(self) -> bool:
        return self._opened.is_set()

    def on_dialog(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def off_dialog(self, listener: Callable[[], None]) -> None:
        self._listeners.remove(listener)

    def _open(self) -> None:
        self._opened.set()
        for listener in tuple(self._listeners):
            listener()

    def _renew(self) -> None:
        self._opened = trio.Event()

    async def dialog_opened(self) -> None:
        await self._opened.wait()


@attrs.define(eq=False)
class Stage:
    session: Session
    dialogs: DialogWatch
    mouse: MouseDevice
    keyboard: KeyboardDevice
    touch: TouchDevice
    worlds: IsolatedWorlds = attrs.field(factory=IsolatedWorlds)
    untouched: bool = False
    """Whether the page still shows its initial empty document."""

    async def show(self, body: str, *, events: str = MOUSE_EVENTS + " " + KEY_EVENTS) -> None:
        """Load a document into the page, with the recorder watching `events`."""
        html = f"<!doctype html><body style='margin:8px'>{body}</body>"
        if not self.untouched:
            await self.goto("about:blank")
        self.untouched = False
        frame = self.session.target_id
        await self.session.call("Page.setDocumentContent", frameId=frame, html=html)
        await self.js(f"(() => {{ {RECORDER} watch({json.dumps(events)}) }})()")
        await self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def goto(self, url: str) -> None:
        self.untouched = False
        async with self.session.subscribe("Page.loadEventFired") as events:
            await self.session.call("Page.navigate", url=url)
            await events.receive()

    async def js(self, expression: str) -> Any:
        reply = await self.session.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    async def record(self, *kinds: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.js("record")
        return [entry for entry in found if not kinds or entry["type"] in kinds]

    async def types(self, *kinds: str) -> list[str]:
        return [entry["type"] for entry in await self.record(*kinds)]

    async def node(self, expression: str, *, frame: str | None = None) -> Node:
        """Return the node of a JavaScript expression or of `#id`."""
        if expression.startswith("#"):
            expression = f"document.querySelector({json.dumps(expression)})"
        reply = await self.session.call("Runtime.evaluate", expression=expression)
        described = await self.session.call("DOM.describeNode", objectId=reply["result"]["objectId"])
        assert self.session.target_id is not None
        return Node(
            self.session,
            described["node"]["backendNodeId"],
            frame or self.session.target_id,
            f"e1 {described['node']['nodeName'].lower()}",
        )

    async def child_frames(self) -> list[dict[str, Any]]:
        tree = await self.session.call("Page.getFrameTree")
        return [child["frame"] for child in tree["frameTree"].get("childFrames", [])]

    async def click(self, target: str | Node, *, timeout: float = 20, **options: Any) -> ActionOutcome:
        return await self._pointer(click, target, timeout, options)

    async def hover(self, target: str | Node, *, timeout: float = 20, **options: Any) -> ActionOutcome:
        return await self._pointer(hover, target, timeout, options)

    def context(self, budget: Budget) -> ActionContext:
        """Return the context of one action on this page."""
        return ActionContext(self.keyboard, self.mouse, self.touch, self.worlds, budget, self.dialogs)

    async def _pointer(
        self, action: Callable[..., Any], target: str | Node, timeout: float, options: dict[str, Any]
    ) -> ActionOutcome:
        node = await self.node(target) if isinstance(target, str) else target
        with within("act on " + node.description, timeout) as budget:
            outcome: ActionOutcome = await action(
                node,
                context=self.context(budget),
                **options,
            )
        return outcome

    async def type(
        self, target: str | Node, text: str, *, timeout: float = 20, **options: Any
    ) -> ActionOutcome:
        node = await self.node(target) if isinstance(target, str) else target
        with within("type into " + node.description, timeout) as budget:
            return await type_text(
                node,
                text,
                context=self.context(budget),
                **options,
            )

    async def press(
        self, key: str, target: str | Node | None = None, *, timeout: float = 20
    ) -> ActionOutcome:
        node = await self.node(target) if isinstance(target, str) else target
        with within("press " + key, timeout) as budget:
            return await press(
                key,
                context=self.context(budget),
                node=node,
            )


@asynccontextmanager
async def open_stage(window: Window) -> AsyncIterator[Stage]:
    """Reset the window's page to an empty document of 800 x 600. Session and emulation end with the block."""
    async with open_websocket(window.endpoint) as transport, open_connection(transport) as connection:
        attached = await connection.root.call(
            "Target.attachToTarget", targetId=window.target_id, flatten=True
        )
        session = connection.targets.sessions[attached["sessionId"]]
        dialogs = DialogWatch(session)
        # Never released: Chrome reports dialogs only while the domain is enabled.
        session.domains.add_user("Page")
        await session.call("Page.enable")
        await session.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await session.call(
            "Emulation.setDeviceMetricsOverride", width=800, height=600, deviceScaleFactor=1, mobile=False
        )
        held = HeldKeys(mac=False)
        keyboard = KeyboardDevice(session, dialogs, held=held)
        stage = Stage(
            session,
            dialogs,
            MouseDevice(session, dialogs, held=held),
            keyboard,
            TouchDevice(session, dialogs, held=held),
        )
        await stage.goto("about:blank")
        stage.untouched = True
        yield stage


async def clicked(stage: Stage) -> list[str]:
    """Return the elements that were clicked, according to the page."""
    return [entry["target"] for entry in await stage.record("click")]
