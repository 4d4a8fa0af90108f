"""Tiles: a large area in pieces that Chrome can draw. Pure.

Rule: a graphics processor draws up to the size of its largest texture and repeats or leaves out what is beyond,
without a word (measured: 8,192 pixels with SwiftShader; 16,384 is usual). So what is larger is taken in pieces,
cut where CSS pixels and the picture's pixels meet.
"""

from __future__ import annotations

import math

import attrs

LARGEST = 8192
"""Pixels of a side of one piece."""

_CUT = 100
"""CSS pixels that a cut is a multiple of: whole pixels of the picture for every scale of two decimals."""


def whole_pixels(length: float) -> int:
    """Round to the nearest, halves upwards: pieces that are cut at whole pixels add up to the whole then."""
    return math.floor(length + 0.5)


@attrs.frozen
class Area:
    """A rectangle of the document, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float

    def pixels(self, scale: float) -> tuple[int, int]:
        """Return its size in pixels of a picture."""
        return max(1, whole_pixels(self.width * scale)), max(1, whole_pixels(self.height * scale))


def rows_of_tiles(area: Area, scale: float, largest: int = LARGEST) -> tuple[tuple[Area, ...], ...]:
    """Return the pieces of an area, row by row; one where that is enough. `scale` is pixels per CSS pixel."""
    across, down = _cuts(area.width, scale, largest), _cuts(area.height, scale, largest)
    return tuple(
        tuple(Area(area.x + left, area.y + top, width, height) for left, width in across)
        for top, height in down
    )


def _cuts(length: float, scale: float, largest: int) -> list[tuple[float, float]]:
    if whole_pixels(length * scale) <= largest:
        return [(0, length)]
    step = max(1.0, math.floor(largest / scale / _CUT) * _CUT or math.floor(largest / scale))
    count = math.ceil(length / step)
    return [(index * step, min(step, length - index * step)) for index in range(count)]
