"""Private files: written whole or not at all, and readable by their owner only.

Rule: what stood there before stays until the new one is whole, also where the writer dies half-way.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, content: bytes) -> Path:
    """Write a file, in place of what has that name, and return its path. Raises OSError; nothing is left then."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return path
