"""Showing: how the runs of an entry ended, and the rule by which it is not used any more. Pure.

Rule: all clients show the same fields and the same text.
"""

from __future__ import annotations

from typing import Any

import attrs

from cdpengine.act.fields import camel_case
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.judging.faults import describe_rule


def describe_runs(entry: CacheEntry, failures: int) -> dict[str, Any]:
    """Return the figures of an entry's runs and the rule that ends its use, as JSON has them.

    failures: the option of that name.
    """
    figures = {camel_case(name): value for name, value in attrs.asdict(entry.statistics).items()}
    return {"statistics": figures, "rule": describe_rule(failures)}
