from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio
from form_page import FormPage
from pytest_httpserver import HTTPServer
from refusals import refused

import cdpengine
from cdpengine.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    NotInteractableError,
    TargetCrashedError,
)

pytestmark = pytest.mark.chrome

NAMES = "Array.from(field.files, each => each.webkitRelativePath || each.name)"


@pytest.fixture
async def form(page: cdpengine.Page) -> FormPage:
    return FormPage(page)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    made = {"folder": folder}
    for name in ("a.txt", "b \u00fc.txt", "folder/c.txt", "folder/inner/d.txt"):
        path = tmp_path / name
        path.write_text(name, encoding="utf-8")
        made[name] = path
    return made


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "given", "names"),
    [
        ("<input type=file id=field>", ["a.txt"], ["a.txt"]),
        ("<input type=file id=field multiple>", ["a.txt", "b \u00fc.txt"], ["a.txt", "b \u00fc.txt"]),
        ("<input type=file id=field hidden>", ["a.txt"], ["a.txt"]),
        ("<input type=file id=field style='opacity:0;position:absolute;left:-9999px'>", ["a.txt"], ["a.txt"]),
        (
            "<input type=file id=field webkitdirectory>",
            ["folder"],
            ["folder/c.txt", "folder/inner/d.txt"],
        ),
        ("<input type=file id=field accept=image/*>", ["a.txt"], ["a.txt"]),
    ],
)
async def test_uploaded(
    form: FormPage, files: dict[str, Path], markup: str, given: list[str], names: list[str]
) -> None:
    await form.show(markup)
    outcome = await form.page.upload(await form.node("#field"), *[files[name] for name in given])
    assert outcome.action == "upload to"
    assert sorted(await form.js(NAMES)) == names
    assert await form.events("input", "change", "cancel", "click") == [
        ("input", "field", True),
        ("change", "field", True),
    ]
    assert form.page.file_choosers == []


async def test_the_page_reads_what_was_uploaded(form: FormPage, files: dict[str, Path]) -> None:
    await form.show("<label id=label>File <input type=file id=field></label>")
    await form.page.upload(await form.node("#label"), str(files["a.txt"]))
    assert await form.page.evaluate("async () => field.files[0].text()") == "a.txt"


async def test_files_replace_others_and_can_be_the_same(form: FormPage, files: dict[str, Path]) -> None:
    await form.show("<input type=file id=field multiple>")
    field = await form.node("#field")
    await form.page.upload(field, files["a.txt"], files["b \u00fc.txt"])
    await form.page.upload(field, files["a.txt"])
    await form.page.upload(field, files["a.txt"])
    assert await form.js(NAMES) == ["a.txt"]


async def test_a_page_that_empties_the_input_when_it_has_read_it(
    form: FormPage, files: dict[str, Path]
) -> None:
    await form.show(
        "<input type=file id=field onchange='window.got = this.files[0].name; this.value = \"\"'>"
    )
    await form.page.upload(await form.node("#field"), files["a.txt"])
    assert await form.js("[got, field.files.length]") == ["a.txt", 0]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("markup", "given", "error", "reason"),
    [
        ("<input type=file id=field>", ["a.txt", "b \u00fc.txt"], NotInteractableError, "one file, and 2"),
        ("<input type=file id=field>", ["folder"], NotInteractableError, "'folder' is a folder"),
        ("<input type=file id=field webkitdirectory>", ["a.txt"], NotInteractableError, "one folder"),
        ("<input type=file id=field disabled>", ["a.txt"], NotInteractableError, "disabled"),
        ("<button id=field>Upload</button>", ["a.txt"], NotInteractableError, "expect_file_chooser"),
        ("<input id=field>", ["a.txt"], NotInteractableError, "takes no files"),
    ],
)
async def test_refused(
    form: FormPage,
    files: dict[str, Path],
    markup: str,
    given: list[str],
    error: type[Exception],
    reason: str,
) -> None:
    await form.show(markup)
    aim = await form.node("#field")
    await refused(
        error,
        lambda timeout: form.page.upload(aim, *[files[name] for name in given], timeout=timeout),
        match=reason,
    )
    assert await form.record() == []


# --- file choosers -----------------------------------------------------------------------------------------


async def test_unexpected_chooser_is_dismissed(form: FormPage) -> None:
    await form.show("<input type=file id=field multiple>")
    await form.page.click(await form.node("#field"))
    with trio.fail_after(20):
        while not form.page.file_choosers:
            await form.page.title()
        while not await form.events("cancel"):
            pass
    (chooser,) = form.page.file_choosers
    assert (chooser.multiple, chooser.expected, chooser.answer) == (True, False, "dismissed")
    await form.page.click(await form.node("#field"))
    assert await form.js("field.files.length") == 0


@pytest.mark.parametrize("when", ["inside", "after"])
async def test_an_expected_chooser(form: FormPage, files: dict[str, Path], when: str) -> None:
    await form.show("<input type=file id=field hidden><button id=open onclick='field.click()'>Open</button>")
    async with form.page.expect_file_chooser(timeout=20) as chooser:
        with pytest.raises(InvalidArgumentError, match="after the block"):
            _ = chooser.value
        await form.page.click(await form.node("#open"))
        if when == "inside":
            await chooser.set_files(files["a.txt"])
    if when == "after":
        assert chooser.value.answer == "dismissed"
        await chooser.set_files(files["a.txt"])
    assert (chooser.value.multiple, chooser.value.expected, chooser.value.answer) == (False, True, "files")
    assert form.page.file_choosers == [chooser.value]
    assert await form.js(NAMES) == ["a.txt"]
    assert await form.events("input", "change", "cancel") == [
        ("input", "field", True),
        ("change", "field", True),
    ]


async def test_expectation_ends_with_its_block(form: FormPage) -> None:
    await form.show("<input type=file id=field>")
    field = await form.node("#field")
    with pytest.raises(ValueError, match="mine"):
        async with form.page.expect_file_chooser():
            raise ValueError("mine")
    with pytest.raises(DeadlineExceededError, match="expect a file chooser"):
        async with form.page.expect_file_chooser(timeout=0.1):
            pass
    with trio.move_on_after(0.1) as scope:
        async with form.page.expect_file_chooser():
            await trio.sleep_forever()
    assert scope.cancelled_caught
    await form.page.click(field)
    with trio.fail_after(20):
        while not await form.events("cancel"):
            pass
    assert [chooser.expected for chooser in form.page.file_choosers] == [False]


async def test_each_expectation_takes_one_chooser(form: FormPage, files: dict[str, Path]) -> None:
    await form.show("<input type=file id=field><input type=file id=other>")
    async with form.page.expect_file_chooser() as first, form.page.expect_file_chooser() as second:
        await form.page.click(await form.node("#field"))
        await first.set_files(files["a.txt"])
        await form.page.click(await form.node("#other"))
        await second.set_files(files["b \u00fc.txt"])
    assert await form.js("[field.files[0].name, other.files[0].name]") == ["a.txt", "b \u00fc.txt"]


async def test_a_picker_without_an_input(
    form: FormPage, files: dict[str, Path], httpserver: HTTPServer
) -> None:
    script = "showOpenFilePicker().then(() => 0, (error) => { window.refused = error.name })"
    httpserver.expect_request("/").respond_with_data(
        f"<button id=open onclick='{script}'>Open</button>", content_type="text/html"
    )
    await form.page.goto(httpserver.url_for("/"))
    async with form.page.expect_file_chooser(timeout=20) as chooser:
        await form.page.click(await form.node("#open"))
        with pytest.raises(NotInteractableError, match="without a file input"):
            await chooser.set_files(files["a.txt"])
    assert await form.js("refused") == "AbortError"
    assert chooser.value.backend_node_id is None


async def test_choosers_of_frames_of_both_kinds(
    form: FormPage, files: dict[str, Path], httpserver: HTTPServer
) -> None:
    inner = "<!doctype html><body style='margin:0'><input type=file style='width:200px;height:40px'>"
    httpserver.expect_request("/in").respond_with_data(inner, content_type="text/html")
    other = httpserver.url_for("/in").replace("127.0.0.1", "localhost")
    httpserver.expect_request("/out").respond_with_data(
        f"<!doctype html><body style='margin:0'><iframe src='/in'></iframe><iframe src='{other}'></iframe>",
        content_type="text/html",
    )
    await form.page.goto(httpserver.url_for("/out"))
    refs = (await form.page.snapshot()).find_all(role="button")
    assert len(refs) == 2
    for number, ref in enumerate(refs):
        async with form.page.expect_file_chooser(timeout=30) as chooser:
            await form.page.click(ref)  # which waits until the frame can be hit
            await chooser.set_files(files["a.txt"])
        (frame,) = [each for each in form.page.frames if each.id == chooser.value.frame_id]
        assert frame.url == (other if number else httpserver.url_for("/in"))
        assert chooser.value.answer == "files"
        await form.page.click(ref)
        with trio.fail_after(20):
            while len(form.page.file_choosers) < 2 * (number + 1):
                await form.page.title()
    assert [each.expected for each in form.page.file_choosers] == [True, False, True, False]


async def test_choosers_are_still_intercepted_after_a_crash(form: FormPage) -> None:
    with pytest.raises(TargetCrashedError):
        await form.page.session.call("Page.crash")
    await form.page.goto("about:blank")
    await form.show("<input type=file id=field>")
    await form.page.click(await form.node("#field"))
    with trio.fail_after(20):
        while not form.page.file_choosers:
            await form.page.title()


# --- empty, in-memory files, other kinds of paths -------------------------------------------------------------

CONTENTS = """Promise.all(Array.from(field.files, async (file) =>
  [file.name, file.type, Array.from(new Uint8Array(await file.arrayBuffer()))]))"""


async def test_emptied(form: FormPage, files: dict[str, Path]) -> None:
    await form.show("<input type=file id=field>")
    node = await form.node("#field")
    await form.page.upload(node, files["a.txt"])
    outcome = await form.page.upload(node)
    assert outcome.set_by_script
    assert await form.js(NAMES) == []
    assert await form.events("input", "change") == [
        *[(kind, "field", True) for kind in ("input", "change")],
        *[(kind, "field", False) for kind in ("input", "change")],
    ]
    assert not (await form.page.upload(node)).set_by_script
    assert len(await form.events("change")) == 2


async def test_emptied_with_a_form(form: FormPage, files: dict[str, Path]) -> None:
    await form.show("<input type=file id=field><select id=list multiple><option selected>a</select>")
    node, several = await form.node("#field"), await form.node("#list")
    await form.page.fill_form([(node, files["a.txt"]), (several, ["a"])])
    await form.page.fill_form({node: [], several: []})
    assert await form.js("[field.files.length, list.selectedOptions.length]") == [0, 0]


DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize("beside", [False, True])
async def test_bytes(form: FormPage, files: dict[str, Path], beside: bool) -> None:
    await form.show("<input type=file id=field multiple>")
    made = cdpengine.FileContent("\u00fc.png", DATA)
    typed = cdpengine.FileContent("b", b"", mime_type="x/y")
    given = [made, typed, files["a.txt"]] if beside else [made, typed]
    outcome = await form.page.upload(await form.node("#field"), *given)
    assert outcome.set_by_script
    held = await form.js(CONTENTS)
    assert held[:2] == [["\u00fc.png", "image/png", list(DATA)], ["b", "x/y", []]]
    assert held[2:] == ([["a.txt", "text/plain", list(b"a.txt")]] if beside else [])
    assert await form.events("input", "change") == [("input", "field", False), ("change", "field", False)]


async def test_bytes_of_a_form_field(form: FormPage) -> None:
    await form.show("<label id=label>File <input type=file id=field></label>")
    await form.page.fill_form({await form.node("#label"): cdpengine.FileContent("a.txt", b"a")})
    assert await form.js(CONTENTS) == [["a.txt", "text/plain", [97]]]


async def test_paths_by_other_ways_can_be_read(
    form: FormPage, files: dict[str, Path], tmp_path: Path
) -> None:
    link, linked_folder = tmp_path / "link.txt", tmp_path / "linked"
    link.symlink_to(files["a.txt"])
    linked_folder.symlink_to(files["folder"])
    await form.show("<input type=file id=field multiple>")
    ways: list[str | Path] = [
        f"{tmp_path}/folder/../a.txt",
        link,
        linked_folder / "c.txt",
        os.path.relpath(files["b \u00fc.txt"]),
        linked_folder / "inner" / ".." / "inner" / "d.txt",
    ]
    await form.page.upload(await form.node("#field"), *ways)
    texts = [[name, bytes(data).decode()] for name, _, data in await form.js(CONTENTS)]
    assert texts == [
        ["a.txt", "a.txt"],
        ["link.txt", "a.txt"],
        ["c.txt", "folder/c.txt"],
        ["b \u00fc.txt", "b \u00fc.txt"],
        ["d.txt", "folder/inner/d.txt"],
    ]


@pytest.mark.parametrize("content", [False, True])
async def test_a_chooser_of_an_input_in_no_document(
    form: FormPage, files: dict[str, Path], content: bool
) -> None:
    await form.show("""<button id=go onclick="
      const input = document.createElement('input');
      input.type = 'file';
      input.onchange = async () => { got = [input.files[0].name, await input.files[0].text()]; };
      input.click();
    ">Go</button><script>got = null</script>""")
    given = cdpengine.FileContent("a.txt", b"a.txt") if content else files["a.txt"]
    async with form.page.expect_file_chooser(timeout=20) as chooser:
        await form.page.click(await form.node("#go"), timeout=20)
        await chooser.set_files(given, timeout=20)
    await form.page.wait_for(expression="got !== null", timeout=20)
    assert await form.js("got") == ["a.txt", "a.txt"]
