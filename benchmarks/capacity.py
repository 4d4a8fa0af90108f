"""`python -m benchmarks.capacity`: print the machines and schedulers that a number of pages a day needs. Pure.

Rule: the inputs are measured by the cases `pool` and `scale`. The heavy page is an assumption: ten times the processor
time and four times the memory of the smallest one.
"""

from __future__ import annotations

import math

import attrs

DAY = 86_400
USED = 0.7  # share of each processor and of the memory that is planned for
CORES, MEMORY_MB = 16, 65_536  # of a machine
HALF = 0.5  # share of a scheduler's core that is planned for


@attrs.frozen
class Page:
    """A kind of page: processor seconds, megabytes while open, and seconds until its job ends."""

    name: str
    cpu: float
    mb: float
    seconds: float


SMALLEST = Page("the smallest page", cpu=1 / 3.0, mb=22.4, seconds=1.67)
HEAVY = Page("a heavy page", cpu=3.3, mb=90, seconds=10)

SCHEDULER_SECONDS = 0.00132
"""Processor time of the scheduler for a job, with 100 workers."""

LEDGER_BYTES = 338  # of a started job
RATES = (1_000_000, 1_000_000_000)


def row_of(page: Page, pages_a_day: int) -> list[str]:
    rate = pages_a_day / DAY
    open_pages = rate * page.seconds
    machines = max(rate * page.cpu / (CORES * USED), open_pages * page.mb / (MEMORY_MB * USED))
    schedulers = rate * SCHEDULER_SECONDS / HALF
    return [
        f"{pages_a_day:,}",
        page.name,
        f"{rate:,.0f}",
        f"{rate * page.cpu:,.0f}",
        f"{open_pages:,.0f}",
        f"{math.ceil(machines):,}",
        f"{math.ceil(schedulers)}",
        f"{open_pages * LEDGER_BYTES / 1e6:.2f} MB",
    ]


def table() -> list[str]:
    heads = "pages a day", "page", "jobs/s", "busy cores", "open pages", "machines", "schedulers", "ledgers"
    rows = [row_of(page, rate) for rate in RATES for page in (SMALLEST, HEAVY)]
    lines = [heads, ("--:", "---", *["--:"] * 6), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


if __name__ == "__main__":
    print("\n".join(table()))
