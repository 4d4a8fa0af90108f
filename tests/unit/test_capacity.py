"""The model of machines and schedulers for a number of pages a day, and its table in the documentation."""

from __future__ import annotations

from pathlib import Path

import attrs

from benchmarks.capacity import SMALLEST, row_of, table

DEPLOYMENT = Path(__file__).parents[2] / "docs/deployment.md"


def test_the_documentation_has_the_table_of_the_model() -> None:
    assert "\n".join(table()) in DEPLOYMENT.read_text("utf-8")


def test_the_scarcer_of_processors_and_memory_decides_the_machines() -> None:
    by_processor, by_memory = (
        row_of(attrs.evolve(SMALLEST, cpu=cpu, mb=mb), 86_400_000)
        for cpu, mb in ((1.12, 1), (0.001, 4_587.52))
    )
    assert by_processor[2] == by_memory[2] == "1,000"
    assert by_processor[5] == "100"
    assert by_memory[5] == "168"
