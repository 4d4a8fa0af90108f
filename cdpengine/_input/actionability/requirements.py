"""Requirements: what has to hold of a node before it is pressed, or used without a pointer. Pure."""

from __future__ import annotations

import attrs


@attrs.frozen
class Requirements:
    """What has to hold before an action. Without `area`, a corner will do as a point: for nodes of no size."""

    visible: bool = True
    enabled: bool = True
    stable: bool = True
    receives_events: bool = True
    area: bool = True


NO_REQUIREMENTS = Requirements(visible=False, enabled=False, stable=False, receives_events=False)


@attrs.frozen
class Usability:
    """What has to hold before a node is used without a pointer, beside that it is enabled.

    `reached`: no modal dialog is in the way. `editable`: it takes typed text. `writable`: it is not read-only, or
    it is given its value by a choice from a list.
    """

    visible: bool = True
    reached: bool = True
    editable: bool = False
    writable: bool = False
