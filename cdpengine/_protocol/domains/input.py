"""Input: what Chrome says of input that it was given."""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._protocol.domains import event


@event("Input.dragIntercepted")
class DragIntercepted(msgspec.Struct):
    """A drag began; `data` is what is dragged, to be given back with each step of the drag."""

    data: dict[str, Any]
