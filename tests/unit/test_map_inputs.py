"""Lines of inputs: their interpretation, in pieces of any size; and functions by name."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.functions import READY
from cdpengine.pool.mapping import find_function
from cdpengine.pool.mapping.inputs import BLOCK, DEEPEST, LONGEST, InputReader, Lines, Recorded, read_input


@pytest.mark.parametrize(("line", "value"), [
    (b"http://host/a b", "http://host/a b"),
    (b"  https://host/ \r", "https://host/"),
    (b"data:text/html,<p>", "data:text/html,<p>"),
    (b"about:blank", "about:blank"),
    (b'"http://host/"', "http://host/"),
    (b'{"url":"http://host/","n":[1,null]}', {"url": "http://host/", "n": [1, None]}),
    (b"{}", {}),
    ('"\u00fc\U0001f469"'.encode(), "\u00fc\U0001f469"),
])  # fmt: skip
def test_the_meaning_of_a_line(line: bytes, value: object) -> None:
    entry = read_input(3, line)
    assert (entry.line, entry.value, entry.problem) == (3, value, "")
    assert len(entry.digest) == 16


@pytest.mark.parametrize(("line", "problem"), [
    (b"host/path", "expected a JSON object, a JSON string, or a URL"),
    (b"7", "expected a JSON object"),
    (b"[1]", "expected a JSON object"),
    (b"null", "expected a JSON object"),
    (b"# a comment", "expected a JSON object"),
    (b'{"url":', "not JSON at line 1"),
    (b'{"n":NaN}', "NaN, which is not JSON"),
    (b'"a" "b"', "not JSON at line 1"),
    (b"http://\xff/", "not UTF-8"),
    (b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), "nested deeper"),
    (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deep"),
    (b"http://" + b"a" * LONGEST, "more than"),
], ids=lambda each: str(each)[:20])  # fmt: skip
def test_an_invalid_input_gives_the_reason(line: bytes, problem: str) -> None:
    entry = read_input(1, line)
    assert problem in entry.problem
    assert isinstance(entry.value, str)
    assert len(entry.value) <= 210


def read_all(pieces: Sequence[bytes], recorded: Recorded | None = None) -> list[tuple[int, object]]:
    rest = iter([*pieces, b"", b""])
    reader = InputReader("in", lambda _: next(rest), recorded or Recorded())
    found = []
    while (some := reader.read_some()) is not None:
        found += [(entry.line, entry.value) for entry in some]
    assert reader.read_some() is None
    return found


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"http://last/"])
def test_lines_arrive_in_any_pieces(end: bytes, last: bytes) -> None:
    text = b"\xef\xbb\xbf" + end.join([b"http://a/", b"", b'"b"', b"  ", '{"\u00fc":1}'.encode(), last])
    expected: list[tuple[int, object]] = [(1, "http://a/"), (3, "b"), (5, {"\u00fc": 1})]
    if last:
        expected.append((6, "http://last/"))
    assert read_all([text]) == expected
    chance = random.Random(1)
    for _ in range(200):
        cuts = sorted(chance.sample(range(3, len(text)), 4))
        assert read_all([text[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]) == expected


def test_a_file_without_line_ends_is_not_read_into_memory() -> None:
    lines = Lines()
    block = b"a" * BLOCK
    for _ in range(2 * LONGEST // BLOCK):
        assert lines.feed(block) == []
    (long, after) = lines.feed(b"a\nhttp://b/\n")
    assert LONGEST < len(long) <= LONGEST + 2 * BLOCK
    assert after == b"http://b/"


def test_finished_inputs_are_skipped_but_verified() -> None:
    recorded = Recorded()
    entries = [read_input(number, b"http://%d/" % number) for number in range(1, 6)]
    for entry in (entries[0], entries[3]):
        recorded.add(entry.line, entry.digest)
    text = b"".join(b"http://%d/\n" % number for number in range(1, 6))
    assert [line for line, _ in read_all([text], recorded)] == [2, 3, 5]
    for wrong in (text.replace(b"4", b"9"), text.replace(b"http://4/", b""), text[:25]):
        with pytest.raises(InvalidArgumentError, match="whose line [34] differs"):
            read_all([wrong], recorded)


# --- functions by name
# --------------------------------------------------------------------------------------------

SOURCE = """
from functools import partial
import neighbour
async def title(page, item): return await page.title()
async def more(page, item, *others, depth=3): pass
async def one(page): pass
async def three(page, item, other): pass
def plain(page, item): pass
async def steps(page, item):
    yield 1
class Reader:
    async def __call__(self, page, item): pass
    async def read(self, page, item): pass
reader = Reader()
given = partial(three, other=1)
number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour.py").write_text("")
    (tmp_path / "tasks_of_mine.py").write_text(SOURCE)
    (tmp_path / "broken_tasks.py").write_text("\n\n1 / 0\n")
    (tmp_path / "lacking_tasks.py").write_text("import nothing_of_that_name\n")
    (tmp_path / "syntax_tasks.py").write_text("def (")
    package = tmp_path / "package_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tasks.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    "place", ["tasks_of_mine.py", "./tasks_of_mine.py", "tasks_of_mine", "package_of_mine.tasks"]
)
@pytest.mark.parametrize("name", ["title", "more", "reader", "reader.read", "given"])
@pytest.mark.usefixtures("folder")
def test_functions_are_found(place: str, name: str) -> None:
    found = find_function(f"{place}:{name}")
    assert found.name == f"{place.removeprefix('./')}:{name}"
    assert find_function(f"{place}:{name}").function == found.function
    assert callable(found.function)


@pytest.mark.parametrize("name", READY)
def test_ready_functions_are_found(name: str) -> None:
    found = find_function(name)
    assert (found.name, found.function) == (name, READY[name].function)


@pytest.mark.parametrize(("name", "message"), [
    ("markdwon", "expected markdown? Your own function is module.py:function"),
    ("xyz", "expected one of markdown, snapshot, screenshot, har, links"),
    (":f", "expected module.py:function or package.module:function"),
    ("tasks_of_mine.py:", "expected module.py:function"),
    ("missing.py:f", "missing.py, expected a file that exists"),
    ("missing:f", "expected an existing module, found from this folder or installed"),
    ("package_of_mine.missing:f", "expected an existing module"),
    ("tasks_of_mine.py:titel", "did you mean title?"),
    ("tasks_of_mine.py:zzzzzz", "`async def name(page, item)`"),
    ("tasks_of_mine.py:number", "expected a function, not a int"),
    ("tasks_of_mine.py:plain", "which is not asynchronous, expected `async def name(page, item)`"),
    ("tasks_of_mine.py:steps", "which is an asynchronous generator"),
    ("tasks_of_mine.py:one", "one(page), expected two parameters"),
    ("tasks_of_mine.py:three", "three(page, item, other), expected two parameters"),
    ("broken_tasks.py:f", "which fails to load: ZeroDivisionError: division by zero (broken_tasks.py:3)"),
    ("lacking_tasks:f", "No module named 'nothing_of_that_name' (lacking_tasks.py:1)"),
    ("syntax_tasks.py:f", "which fails to load: SyntaxError"),
])  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_functions_that_cannot_be_called_are_refused(name: str, message: str) -> None:
    for _ in range(2):
        with pytest.raises(InvalidArgumentError) as caught:
            find_function(name)
        assert message in str(caught.value)
        assert len(str(caught.value)) <= 400


def test_a_file_named_as_a_module_of_others_is_refused(folder: Path) -> None:
    for name in ("json.py", "attrs.py"):
        (folder / name).write_text("async def f(page, item): pass")
        with pytest.raises(InvalidArgumentError, match="expected another name: a module"):
            find_function(f"{name}:f")


@pytest.mark.parametrize("item", [None, 7, {}, {"url": 3}, ["http://host/"]], ids=str)
@pytest.mark.parametrize("function", [each.function for each in READY.values()])
async def test_built_in_functions_describe_their_item(function: Callable[..., Any], item: object) -> None:
    with pytest.raises(InvalidArgumentError, match='expected an address, or an object with one as its "url"'):
        await function(None, item)
