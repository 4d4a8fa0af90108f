"""What `make test` makes of tests that fail beside others and pass by themselves: it names them, and takes three at most."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTEST = """#!/bin/sh
if [ -n "$CDPENGINE_FAILED_TESTS" ]; then
    cat first > "$CDPENGINE_FAILED_TESTS"
    [ ! -s first ]
else
    exit "$(cat alone)"
fi
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


def ends(folder: Path, failing: int, alone: int, types: int | None = None) -> tuple[int, str]:
    """Run the check `tests` with a pytest that says what a run would; return the status and the closing lines.

    `types` is the status of the check beside it, which is not asked for when None.
    """
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "check.sh", folder / "scripts")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "pytest").write_text(PYTEST)
    (programs / "pytest").chmod(0o755)
    (folder / "first").write_text("".join(f"tests/test_a.py::test_{n}[x y]\n" for n in range(failing)))
    (folder / "alone").write_text(str(alone))
    (programs / "mypy").write_text(f"#!/bin/sh\necho what mypy found\nexit {types}\n")
    (programs / "mypy").chmod(0o755)
    done = subprocess.run(
        ["bash", "scripts/check.sh", *(["types"] if types is not None else []), "tests"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "CDPENGINE_FAILED_TESTS"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.partition("== tests    ")[2]


@pytest.mark.parametrize(("failing", "status"), [(0, 0), (1, 0), (3, 0), (4, 1), (15, 1), (16, 1)])
def test_what_passes_by_itself_is_named_and_three_are_taken(
    tmp_path: Path, failing: int, status: int
) -> None:
    ended, closing = ends(tmp_path, failing, alone=0)
    assert ended == status
    assert ("ok" in closing, "FAILED" in closing) == (status == 0, status == 1)
    named = failing if failing <= 15 else 0  # of more than that none is run again
    assert closing.count("tests/test_a.py::test_") == named
    assert (f"passed by themselves ({failing}, at most 3 may)" in closing) is (named > 0)


def test_what_fails_by_itself_too_fails_the_run(tmp_path: Path) -> None:
    ended, closing = ends(tmp_path, 1, alone=1)
    assert ended == 1
    assert "passed by themselves" not in closing


@pytest.mark.parametrize("types", [0, 1])
def test_the_types_are_checked_beside_the_tests_and_count(tmp_path: Path, types: int) -> None:
    ended, closing = ends(tmp_path, 0, alone=0, types=types)
    assert ended == types
    assert "what mypy found" in closing
    assert re.search(rf"^   types    {('ok', 'FAILED')[types]} ", closing, re.MULTILINE)
    assert re.search(r"^   tests    ok ", closing, re.MULTILINE)
