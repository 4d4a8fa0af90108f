"""collector_paused: Python's cycle collector stands still while a big tree is made, and only then.

Rule: nothing is awaited inside. The collector would go through all of the tree again and again as it grows, and
find nothing: half of the time and more went into that.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cycle collector from running inside of the block; afterwards it is as it was before."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
