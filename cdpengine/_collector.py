"""Python's cycle collector, paused while much is made that lasts.

Rule: it would go through all that is growing again and again and find nothing. That takes half of the time and
more for a big tree of nodes, and a tenth for modules that are imported. Nothing is awaited meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """Keep the cycle collector from running inside of the block; afterwards it is as it was before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
