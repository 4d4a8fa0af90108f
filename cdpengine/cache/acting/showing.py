"""Showing: the results of an entry's runs, and the rule that ends its use. Pure.

Rule: all clients show the same fields and the same wording.
"""

from __future__ import annotations

from typing import Any

import attrs

from cdpengine.act.fields import camel_case
from cdpengine.cache.entries import CacheEntry
from cdpengine.cache.judging.faults import describe_rule


def describe_runs(entry: CacheEntry, failures: int) -> dict[str, Any]:
    """Return the figures of an entry's runs and the rule that ends its use, as JSON data.

    failures: the option `failures`.
    """
    figures = {camel_case(name): value for name, value in attrs.asdict(entry.statistics).items()}
    return {"statistics": figures, "rule": describe_rule(failures)}
