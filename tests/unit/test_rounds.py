"""Samples: spread over all tables, with at least one case of each member."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from rounds import sample_of

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent


@pytest.mark.parametrize("tables", [(4, 4), (5, 3), (3, 5, 2), (2, 2, 9)])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_member_of_every_table_is_in_the_sample(tables: tuple[int, ...], n: int) -> None:
    cases = list(product(*map(range, tables)))
    sample = sample_of(cases, n)
    assert sample < set(cases)
    for table, size in enumerate(tables):
        assert {case[table] for case in sample} == set(range(size))
    assert len(sample) <= len(cases) / n + sum(tables)


def test_of_one_table_each_nth_is_in_it() -> None:
    assert sample_of([(n,) for n in range(7)], 3) == {(0,), (3,), (6,)}
    assert sample_of([(n,) for n in range(7)], 3, start=1) == {(1,), (4,)}
    assert sample_of([(0,), (1,)], 5, start=3) == {(1,)}, "no test is left out whole"


def test_a_table_with_holes_keeps_all_members() -> None:
    cases = [(0, 1), (1, 0), (2, 3), (3, 2)]
    assert sample_of(cases, 2) == set(cases)


SAMPLED = """
import pytest

@pytest.mark.sample(2)
@pytest.mark.parametrize("one, other", [(0, 0), (1, 0), (2, 0), pytest.param(3, 0, marks=pytest.mark.always)])
def test_table(one, other):
    pass

@pytest.mark.sample(2)
@pytest.mark.parametrize("one", range(4))
@pytest.mark.parametrize("other", "ab")
def test_product(one, other):
    pass

@pytest.mark.slow
def test_slow():
    pass
"""


def collect(folder: Path, files: dict[str, str], *options: str) -> list[str]:
    """Return the ids of the tests in these files that a run with the options has."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow: x\n    sample: x\n    always: x\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conftest", *options],
        cwd=folder,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS / "support"), str(ROOT)]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.parametrize(("options", "tests"), [([], 7), (["--run-slow"], 13)])
def test_a_normal_run_omits_slow_tests_and_unsampled_cases(
    tmp_path: Path, options: list[str], tests: int
) -> None:
    names = [line.partition("::")[2] for line in collect(tmp_path, {"test_sampled.py": SAMPLED}, *options)]
    assert len(names) == tests
    assert {"test_table[0-0]", "test_table[2-0]", "test_table[3-0]"} <= set(names)
    assert ("test_table[1-0]" in names, "test_slow" in names) == (bool(options), bool(options))
