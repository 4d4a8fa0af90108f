"""Pausing Python's cycle collector while many lasting objects are created.

Rule: the collector would traverse the growing objects repeatedly without finding garbage. That takes at least half
of the time for a big tree of nodes, and a tenth for imported modules. No code may await meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """Disable the cycle collector inside the block, and restore its state afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
