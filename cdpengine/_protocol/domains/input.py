"""Input: events that Chrome reports about sent input."""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._protocol.domains import event


@event("Input.dragIntercepted")
class DragIntercepted(msgspec.Struct):
    """A drag began; `data` is the dragged content, to be sent with each step of the drag."""

    data: dict[str, Any]
