"""Requirements: conditions on a node before it is pressed, or used without a pointer. Pure."""

from __future__ import annotations

import attrs


@attrs.frozen
class Requirements:
    """Conditions before a press. Without `area`, a corner of a node without size is accepted as a point."""

    visible: bool = True
    enabled: bool = True
    stable: bool = True
    receives_events: bool = True
    area: bool = True


NO_REQUIREMENTS = Requirements(visible=False, enabled=False, stable=False, receives_events=False)


@attrs.frozen
class Usability:
    """Conditions before a node is used without a pointer. It must always be enabled.

    `reached`: no modal dialog blocks it. `editable`: it accepts typed text. `writable`: it is not read-only,
    unless its value is chosen from a list.
    """

    visible: bool = True
    reached: bool = True
    editable: bool = False
    writable: bool = False
