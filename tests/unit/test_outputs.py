"""Files of answers that are too long: their owner, reads of them, their maximum number, and their end."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import pytest
import trio
import trio.testing

from cdpengine.act.tooling.texts import cut
from cdpengine.errors import InvalidArgumentError
from cdpengine.service.mcp_results import ToolResults
from cdpengine.service.mcp_tools import parse_reading
from cdpengine.service.outputs import Outputs, open_outputs


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_files_belong_to_the_user_alone_and_end_with_their_temporary_folder(umask: int) -> None:
    before = os.umask(umask)
    try:
        async with open_outputs() as outputs:
            path = await outputs.write("answer", ".txt", b"x")
            assert (mode_of(path), mode_of(outputs.path)) == (0o600, 0o700)
    finally:
        os.umask(before)
    assert not outputs.path.exists()


async def test_a_temporary_folder_ends_with_a_block_that_raises_or_is_cancelled() -> None:
    with pytest.raises(KeyError):
        async with open_outputs() as outputs:
            await outputs.write("answer", ".txt", b"x")
            raise KeyError
    assert not outputs.path.exists()
    with trio.CancelScope() as scope:
        async with open_outputs() as outputs:
            scope.cancel()
            await trio.sleep_forever()
    assert not outputs.path.exists()


async def test_an_explicit_folder_is_created_and_kept_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    for _ in range(2):
        async with open_outputs(folder) as outputs:
            await outputs.write("answer", ".txt", b"x")
    assert mode_of(folder) == 0o700
    assert sorted(each.name for each in folder.iterdir()) == ["answer-1.txt", "answer-2.txt"]


async def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(InvalidArgumentError, match="others can write to"):
        async with open_outputs(tmp_path):
            raise AssertionError


async def test_the_oldest_go_first_and_the_newest_stays(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, most_bytes=25)
    paths = []
    for number in range(4):
        paths.append(await outputs.write("answer", ".txt", b"0123456789"))
        os.utime(paths[-1], (number, number))
    assert [path.exists() for path in paths] == [False, False, True, True]
    large = await outputs.write("answer", ".txt", b"x" * 100)
    assert [each.name for each in tmp_path.iterdir()] == [large.name]


async def test_parts_are_read_and_words_are_found(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    name = (await outputs.write("answer", ".txt", ("a" * 90 + "Needle é" + "b" * 90).encode())).name
    assert await outputs.read(name, offset=88, chars=5) == ("aaNee", 188)
    assert await outputs.read(name, offset=500, chars=5) == ("", 188)
    found, count = await outputs.find(str(tmp_path / name), "nEEDLE É")
    assert (count, found) == (1, [(90, "a" * 80 + "Needle é" + "b" * 80)])
    assert await outputs.find(name, "none of this") == ([], 0)
    capital = (await outputs.write("answer", ".txt", ("İ" * 5 + "x").encode())).name
    assert (await outputs.find(capital, "x"))[0][0][0] == 5, "İ is longer in lower case"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "/etc/hostname",
        "no-such.txt",
        "link-1.txt",
        "folder-1",
        ".",
        "",
        ".hidden-1",
        "answer-1.txt/x",
    ],
)
async def test_other_files_are_not_readable(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("hunter2")
    (folder / "link-1.txt").symlink_to(tmp_path / "secret.txt")
    (folder / ".hidden-1").write_text("hunter2")
    (folder / "folder-1").mkdir()
    outputs = Outputs(folder)
    await outputs.write("answer", ".txt", b"x")
    with pytest.raises(InvalidArgumentError, match=r"answer-1\.txt"):
        await outputs.read(name, offset=0, chars=10)
    assert len((await outputs.find("answer-1.txt", "x"))[0]) == 1


async def test_binary_files_are_not_read(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    name = (await outputs.write("page", ".pdf", b"\xff\xfe\x00")).name
    with pytest.raises(InvalidArgumentError, match="3 bytes that are not text"):
        await outputs.read(name, offset=0, chars=10)


async def test_an_answer_that_is_too_long_names_its_file(tmp_path: Path) -> None:
    answers = ToolResults(Outputs(tmp_path))
    text = "\n".join(f"- line {number} é" for number in range(2_000))
    (part,) = (await answers.say("console", text, 500)).content
    assert part.type == "text"
    kept, _, note = part.text.rpartition("\n... ")
    assert text.startswith(f"{kept}\n")
    assert len(part.text) < 500 * 5 // 2 + 100
    assert f"all of it, {len(text):,} characters, is in {tmp_path / 'console-1.txt'}" in note
    assert '{"file": "console-1.txt"}' in note
    assert (tmp_path / "console-1.txt").read_text("utf-8") == text


async def test_a_reduced_picture_is_complete_in_a_file(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (2000).to_bytes(4, "big") + (9000).to_bytes(4, "big")
    full = {"bytes": 9, "format": "png", "base64": base64.b64encode(data).decode(), "snapshot": "- a"}
    smaller = {"bytes": 3, "format": "jpeg", "base64": "AAE=", "snapshot": "- b"}
    shown = (await ToolResults(None).show(full)).content
    assert [block.type for block in shown] == ["text", "image"]
    words, image, note = (await ToolResults(Outputs(tmp_path)).show(full, smaller)).content
    assert words.type == "text"
    assert image.type == "image"
    assert note.type == "text"
    assert (words.text, image.data, image.mime_type) == ("- b", "AAE=", "image/jpeg")
    assert note.text.startswith("made smaller, from 2000 x 9000 pixels: all of it, 24 bytes, is in ")
    assert (tmp_path / "screenshot-1.png").read_bytes() == data


async def test_a_binary_body_is_a_file(tmp_path: Path) -> None:
    result = {"url": "http://a/x.png", "status": 200, "type": "image/png", "bytes": 2, "base64": "AAE="}
    (part,) = (await ToolResults(Outputs(tmp_path)).hand_over(result, 1_000)).content
    assert part.type == "text"
    assert part.text.startswith("http://a/x.png (status 200) image/png\nall of it, 2 bytes, is in ")
    assert (tmp_path / "body-1.png").read_bytes() == b"\x00\x01"
    (part,) = (await ToolResults(None).hand_over(result, 1_000)).content
    assert part.type == "text"
    assert "AAE=" in part.text


async def test_a_cancelled_call_writes_nothing_and_reads_nothing(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    name = (await outputs.write("answer", ".txt", b"x")).name
    for ask in (
        lambda: outputs.write("answer", ".txt", b"y"),
        lambda: outputs.read(name, offset=0, chars=1),
        lambda: outputs.find(name, "x"),
    ):
        with trio.CancelScope() as scope:
            scope.cancel()
            await ask()
        assert scope.cancelled_caught
    assert [each.name for each in tmp_path.iterdir()] == [name]


async def test_one_long_line_is_cut_too() -> None:
    (part,) = (await ToolResults(None).say("evaluate", '{"a": "' + "x" * 9_000 + '"}', 100)).content
    assert part.type == "text"
    assert part.text.startswith('{"a": "xxx')
    assert "cut: all of it is 9,009 characters. Ask for less" in part.text
    assert cut("é" * 300, 10) == "é" * 12


async def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (part,) = (await ToolResults(Outputs(tmp_path / "gone")).say("console", "x" * 900, 100)).content
    assert part.type == "text"
    assert "could not be written to a file: " in part.text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "output.file"), ({"file": 3}, "output.file"), ({"file": ""}, "output.file"), ({"file": "a", "offset": -1}, "output.offset"),
        ({"file": "a", "offset": True}, "output.offset"), ({"file": "a", "line": 3}, "'line'"), ({"file": "a", "find": ""}, "output.find"),
    ],
)  # fmt: skip
def test_a_failed_read_is_reported(given: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        parse_reading(given, 1_000)
    assert parse_reading({"file": "a", "chars": 10**9}, 1_000).chars == 2_500
