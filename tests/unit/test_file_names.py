"""File names from servers become local names: one component, on every system, and nothing is overwritten."""

from __future__ import annotations

import ntpath
import os
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._page.downloads.file_names import LONGEST_NAME, numbered, place_file, safe_file_name

CASES = {
    "report.pdf": "report.pdf",
    "Bericht für Ω 日本.txt": "Bericht für Ω 日本.txt",
    "../../etc/passwd": "_.._etc_passwd",
    "..\\..\\boot.ini": "_.._boot.ini",
    "/etc/passwd": "_etc_passwd",
    "C:\\Windows\\x.exe": "C__Windows_x.exe",
    "..": "download",
    ".": "download",
    "": "download",
    "   ": "download",
    ".bashrc": "bashrc",
    "-rf": "_-rf",
    "CON": "_CON",
    "con.txt": "_con.txt",
    "Lpt1 .tar.gz": "_Lpt1 .tar.gz",
    "com¹.txt": "_com¹.txt",
    "console.txt": "console.txt",
    "a\x00b\x07.txt": "ab.txt",
    "line\nbreak.txt": "line break.txt",
    "invoice\u202efdp.exe": "invoicefdp.exe",
    "name. . .": "name",
    'a<b>c:"d|e?f*.txt': "a_b_c__d_e_f_.txt",
    "cafe\u0301.txt": "café.txt",
}


@pytest.mark.parametrize(("suggested", "name"), CASES.items())
def test_names(suggested: str, name: str) -> None:
    assert safe_file_name(suggested) == name


def test_long_names_keep_their_ending() -> None:
    name = safe_file_name("日" * 300 + ".pdf")
    assert name.endswith("日.pdf")
    assert LONGEST_NAME - 3 < len(name.encode()) <= LONGEST_NAME
    assert len(safe_file_name("x" * 300 + "." + "y" * 300).encode()) <= LONGEST_NAME


def is_reserved_on_windows(name: str) -> bool:
    """Return whether this Python considers a name reserved on Windows: a device, or a component ending with a
    dot or space.
    """
    if sys.version_info >= (3, 13):
        return ntpath.isreserved(name)
    return PureWindowsPath(name).is_reserved()


def test_names_of_devices_are_distinguished() -> None:
    assert [
        name for name in ("con", "console", "nul.txt", "lpt1", "lpt") if is_reserved_on_windows(name)
    ] == [
        "con",
        "nul.txt",
        "lpt1",
    ]


@given(st.text())
def test_any_text_becomes_one_harmless_component(suggested: str) -> None:
    name = safe_file_name(suggested)
    assert name == safe_file_name(name), "made safe, it is safe"
    assert 0 < len(name.encode()) <= LONGEST_NAME + 1
    assert PurePosixPath(name).parts == (name,)
    assert PureWindowsPath(name).parts == (name,)
    assert not is_reserved_on_windows(name)
    assert name.isprintable()
    assert name[0] not in ".- "
    assert name[-1] not in ". "


@given(st.sampled_from(["..", ".", "/", "\\", "CON", "\u202e", "\x00", "a", " ", "%2e", "~"]), st.text())
def test_no_name_escapes_from_the_directory(part: str, rest: str) -> None:
    for suggested in (part + rest, rest + part, part * 3 + rest):
        path = Path("/given/directory") / safe_file_name(suggested)
        assert Path(os.path.normpath(path)).parent == Path("/given/directory")


def test_numbers() -> None:
    assert numbered("a.tar.gz", 0) == "a.tar.gz"
    assert numbered("a.pdf", 2) == "a (2).pdf"
    assert numbered("README", 1) == "README (1)"


@pytest.mark.parametrize("hard_links", [True, False])
def test_existing_files_stay(tmp_path: Path, hard_links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hard_links:

        def no_link(_source: object, _target: object) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr("cdpengine._launch.private_files.os.link", no_link)
    directory = tmp_path / "given"
    directory.mkdir()
    (directory / "x.txt").write_text("mine")
    (directory / "x (1).txt").symlink_to(tmp_path / "outside.txt")
    source = tmp_path / "guid"
    source.write_text("new")
    placed = place_file(source, directory, "x.txt")
    assert placed == directory / "x (2).txt"
    assert placed.read_text() == "new"
    assert (directory / "x.txt").read_text() == "mine"
    assert not (tmp_path / "outside.txt").exists()
    assert not source.exists()


def test_a_missing_source_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        place_file(tmp_path / "gone", tmp_path, "x.txt")
    assert list(tmp_path.iterdir()) == []
