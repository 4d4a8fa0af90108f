"""The confidence of decisions from few rounds. Pure.

Rule: no distribution of the values is assumed. A round is above the true median with probability 1/2, so the number of
rounds above a limit follows the binomial distribution (the sign test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Decision = Literal["kept", "failed", "unknown"]

ERROR_OF_RANGE = 1 / 8
"""Maximum probability that the true median is outside its range. The extremes of four rounds reach it."""

ERROR_OF_FAILED = 1 / 128
"""Maximum probability of a false failure. Seven rounds reach it. It is low, because a check judges 150 rows."""


def tail(rounds: int, most: int) -> float:
    """Return the probability that at most `most` of the rounds are above the true median."""
    return sum(math.comb(rounds, above) for above in range(most + 1)) * 0.5**rounds


def median_range(values: Sequence[float]) -> tuple[float, float]:
    """Return two of the values, the narrowest range of the true median with 87 % confidence.

    Fewer than four values have less confidence: their range is that of all values.
    """
    ordered = sorted(values)
    cut = 0
    while 2 * tail(len(ordered), cut + 1) <= ERROR_OF_RANGE:
        cut += 1
    return ordered[cut], ordered[-1 - cut]


def decide(rounds: Sequence[bool]) -> Decision:
    """Decide about a promise, given whether each round kept it.

    It is "kept" if the range of the median keeps it, "failed" with 99 % confidence, and "unknown" otherwise.
    """
    broken = rounds.count(False)
    if tail(len(rounds), broken) <= ERROR_OF_RANGE / 2:
        return "kept"
    return "failed" if tail(len(rounds), len(rounds) - broken) <= ERROR_OF_FAILED else "unknown"
