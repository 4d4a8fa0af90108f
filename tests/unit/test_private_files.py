"""Private files: unreadable for other users from the first moment, complete or absent, never overwritten by
mistake.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cdpengine._launch.private_files import NewFile, create_private, is_taken, new_file, write_private
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine.errors import FileNotWrittenError, InvalidArgumentError

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks such modes, links and pipes")

_changed: list[str] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("os.chmod", "os.fchmod"):
        _changed.append(str(arguments))


sys.addaudithook(_note)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=lambda mask: f"umask {mask:03o}")
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def modes(folder: Path) -> set[int]:
    return {mode(path) for path in folder.iterdir()}


@posix
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["a", "a.gz"])
async def test_a_file_belongs_to_its_owner_alone_at_every_moment(
    tmp_path: Path, umask: int, overwrite: bool, name: str
) -> None:
    """Covers writing under another name, late compression, the move to its place, and writing in place."""
    path = tmp_path / name
    if overwrite:
        path.write_bytes(b"old")
        path.chmod(0o644)
    _changed.clear()
    for late in (False, True):
        async with output_file("the thing", path, compress_late=late, overwrite=overwrite) as file:
            await file.write(b"x" * 100_000)
            assert [mode(each) for each in tmp_path.iterdir() if each != path] == [0o600]
        assert [mode(each) for each in tmp_path.iterdir()] == [0o600]
        if not overwrite:
            path.unlink()
    os.close(create_private(path, overwrite=overwrite))
    assert modes(tmp_path) == {0o600}
    write_private(path, b"new")
    assert modes(tmp_path) == {0o600}
    assert _changed == []  # created that way, and not changed afterwards


@pytest.mark.parametrize("how", ["create", "write", "output"])
async def test_an_existing_file_stays(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    if how == "output":
        with pytest.raises(InvalidArgumentError, match="exists already"):
            checked_path("the thing", path, overwrite=False)
        with pytest.raises(FileNotWrittenError, match="a file of that name already exists"):
            async with output_file("the thing", path, overwrite=False):
                pytest.fail("there is a file")
    else:
        with pytest.raises(FileExistsError):
            create_private(path) if how == "create" else write_private(path, b"new", overwrite=False)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


async def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(FileNotWrittenError, match="a file of that name already exists"):
        async with output_file("the thing", path, overwrite=False) as file:
            await file.write(b"new")
            path.write_text("another's")
    assert path.read_text() == "another's"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("hard_links", [True, False])
@pytest.mark.parametrize("in_place", [True, False])
def test_one_of_many_concurrent_writers_gets_the_name(
    tmp_path: Path, in_place: bool, hard_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(_source: object, _target: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if not hard_links:
        monkeypatch.setattr("cdpengine._launch.private_files.os.link", no_link)
    path, together = tmp_path / "a", threading.Barrier(8)

    def make(number: int) -> int | None:
        together.wait()
        try:
            if in_place:
                descriptor = create_private(path)
                os.write(descriptor, bytes([number]))
                os.close(descriptor)
            else:
                write_private(path, bytes([number]), overwrite=False)
        except FileExistsError:
            return None
        return number

    with ThreadPoolExecutor(8) as threads:
        for _ in range(10):
            (made,) = [each for each in threads.map(make, range(8)) if each is not None]
            assert path.read_bytes() == bytes([made])
            assert list(tmp_path.iterdir()) == [path]
            path.unlink()


@posix
def test_overwriting_a_recording_is_one_step(tmp_path: Path) -> None:
    """A reader of the old file keeps reading it. The new file is readable only for its owner."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o644)
    with path.open() as old:
        descriptor = create_private(path, overwrite=True)
        os.write(descriptor, b"new")
        os.close(descriptor)
        assert old.read() == "old"
    assert path.read_text() == "new"
    assert modes(tmp_path) == {0o600}


@posix
def test_links_are_followed_only_to_overwrite(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)  # dangling at first
    assert is_taken(link)
    for refuse in (lambda: create_private(link), lambda: write_private(link, b"x", overwrite=False)):
        with pytest.raises(FileExistsError):
            refuse()
    assert not target.exists()
    write_private(link, b"1")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"1")
    os.close(create_private(link, overwrite=True))
    assert (link.is_symlink(), target.read_bytes()) == (True, b"")


@posix
@pytest.mark.parametrize("overwrite", [False, True])
def test_devices_and_pipes_are_written_to_as_they_are(tmp_path: Path, overwrite: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for make in (create_private, NewFile):
        with pytest.raises(OSError, match="named pipe without a reader"):
            make(pipe, overwrite=overwrite)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    descriptor = create_private(pipe, overwrite=overwrite)
    assert os.get_blocking(descriptor)
    os.write(descriptor, b"first ")
    os.close(descriptor)
    with new_file(pipe, overwrite=overwrite) as stream:
        stream.write(b"second")
    assert os.read(reader, 100) == b"first second"
    os.close(reader)
    null = Path(os.devnull)
    before = null.stat()
    write_private(null, b"x", overwrite=overwrite)
    os.close(create_private(null, overwrite=overwrite))
    assert (null.stat().st_ino, stat.S_ISCHR(null.stat().st_mode)) == (before.st_ino, True)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_is_not_replaced(tmp_path: Path, overwrite: bool) -> None:
    refused = (FileExistsError, IsADirectoryError, PermissionError)
    with pytest.raises(refused):
        create_private(tmp_path, overwrite=overwrite)
    with pytest.raises(refused):
        write_private(tmp_path, b"x", overwrite=overwrite)
    assert tmp_path.is_dir()
    assert not list(tmp_path.parent.glob("*.part"))


def test_the_longest_possible_file_name(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    assert write_private(path, b"x").read_bytes() == b"x"


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), new_file(tmp_path / "a", overwrite=True) as stream:
        stream.write(b"x")
        raise KeyError
    with pytest.raises(FileNotFoundError):
        create_private(tmp_path / "none" / "a", overwrite=True)
    assert list(tmp_path.iterdir()) == []
