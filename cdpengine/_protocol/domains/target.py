"""Target: the pages, out-of-process frames and workers of a browser, and sessions with them."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, reply


class TargetInfo(msgspec.Struct, frozen=True, rename="camel"):
    """Chrome's description of a target. `type` is "page", "iframe", "worker", "service_worker", ..., or newer."""

    target_id: str
    type: str = "other"
    title: str = ""
    url: str = ""
    attached: bool = False
    opener_id: str | None = None
    opener_frame_id: str | None = None
    parent_frame_id: str | None = None
    browser_context_id: str | None = None
    subtype: str | None = None


@event("Target.attachedToTarget")
class AttachedToTarget(msgspec.Struct, rename="camel"):
    """A session begins. `waiting_for_debugger`: its target is paused until `Runtime.runIfWaitingForDebugger`."""

    session_id: str
    target_info: TargetInfo
    waiting_for_debugger: bool = False


@event("Target.detachedFromTarget")
class DetachedFromTarget(msgspec.Struct, rename="camel"):
    """A session ended."""

    session_id: str


@event("Target.targetCreated")
class TargetCreated(msgspec.Struct, rename="camel"):
    """A target was created."""

    target_info: TargetInfo


@event("Target.targetInfoChanged")
class TargetInfoChanged(msgspec.Struct, rename="camel"):
    """The description of a target changed."""

    target_info: TargetInfo


@event("Target.targetDestroyed")
class TargetDestroyed(msgspec.Struct, rename="camel"):
    """A target was closed."""

    target_id: str


@event("Target.targetCrashed")
class TargetCrashed(msgspec.Struct, rename="camel"):
    """The process of a target crashed."""

    target_id: str


@reply("Target.attachToTarget")
class AttachToTargetReply(msgspec.Struct, rename="camel"):
    """The new session."""

    session_id: str


@reply("Target.createTarget")
class CreateTargetReply(msgspec.Struct, rename="camel"):
    """The new target."""

    target_id: str


@reply("Target.createBrowserContext")
class CreateBrowserContextReply(msgspec.Struct, rename="camel"):
    """The new browser context."""

    browser_context_id: str


@reply("Target.getBrowserContexts")
class BrowserContextsReply(msgspec.Struct, rename="camel"):
    """`default_browser_context_id` is None in an older Chrome."""

    default_browser_context_id: str | None = None
