"""Quantiles: the median and its like of any number of values, in bounded memory. Pure.

Rule: counts in buckets whose bounds grow by a fixed factor. So each quantile is at most 1 % away from the value
that sorting all of them would give, however they are spread and in whatever order they come; what samples or an
adaptive sketch give depends on both. From a microsecond to a day, in milliseconds, that is some 1,300 buckets.
"""

from __future__ import annotations

import math

PRECISION = 0.01
"""The most by which a quantile is off, as a part of it."""

_GROWTH = (1 + PRECISION) / (1 - PRECISION)
_LOG_GROWTH = math.log(_GROWTH)
_MIDDLE = 2 / (_GROWTH + 1)
"""Of a bucket's upper bound: where the value lies that is no more than PRECISION from both ends."""

_LEAST, _MOST = 1e-3, 1e11
"""What is less counts as zero; what is more, as this."""


class Quantiles:
    """Values of zero or more, counted. `most` is the largest one, exactly."""

    __slots__ = ("_buckets", "_zeros", "count", "most")

    def __init__(self) -> None:
        self.count = 0
        self.most = 0.0
        self._zeros = 0
        self._buckets: dict[int, int] = {}

    def add(self, value: float) -> None:
        """Count one value."""
        self.count += 1
        if value > self.most:
            self.most = value
        if value < _LEAST:
            self._zeros += 1
            return
        bucket = math.ceil(math.log(value if value < _MOST else _MOST) / _LOG_GROWTH)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def at(self, part: float) -> float | None:
        """Return the value below which `part` (0 to 1) of all are, None when there are none."""
        if not self.count:
            return None
        rank = max(1, math.ceil(part * self.count))
        seen = self._zeros
        if rank <= seen:
            return 0.0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if rank <= seen:
                return min(_GROWTH**bucket * _MIDDLE, self.most)
        return self.most
