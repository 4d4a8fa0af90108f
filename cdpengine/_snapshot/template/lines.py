"""The lines of a template or of a snapshot in mode "role", as a tree. Pure.

Rule: both are parsed by the same grammar (docs/snapshot-format.md), so a snapshot is a template of itself. A
template may leave out names and marks, and may have patterns between slashes. Refs, `nth` and remarks are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import attrs

from cdpengine import _json
from cdpengine._page.patterns import Words, collapse_space
from cdpengine._snapshot.roles import check_role
from cdpengine._snapshot.text import is_token, quote
from cdpengine.errors import InvalidArgumentError

Children: TypeAlias = Literal["contain", "equal", "deep-equal"]
"""Whether a line has at least the lines inside it ("contain"), exactly these, or exactly these at all levels."""

_CHILDREN: tuple[Children, ...] = get_args(Children)

TEXT = "text"
"""Role of a line with page text. Its text is in `name`."""

SET = "true"
"""Value of a mark without a value, such as `[checked]`."""

UNSET = "false"
"""Value of a mark that must be absent."""

_UNWRITTEN = frozenset({"focused"})
"""Marks of a snapshot that a written template leaves out, because they change with each action."""

_IGNORED = frozenset({"ref", "nth"})
_LONGEST_SHOWN = 60

_INDENT = re.compile(r"[ \t]*")
_ROLE = re.compile(r"- ?([A-Za-z][A-Za-z0-9-]*)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PATTERN = re.compile(r"/((?:[^/\\]|\\.)+)/(i?)")
_PROPERTY = re.compile(r"- ?/(children|url|placeholder|description): *(.*?) *$")
_MARK = re.compile(r" *\[([A-Za-z][A-Za-z0-9-]*)(=?)")
_REMARK = re.compile(r' *\[(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]')
_TOKEN = re.compile(r"[A-Za-z0-9.+-]+")
_SLASH = re.compile(r"\\/")


@attrs.frozen(eq=False)
class Line:
    """One line. `name` and the values of `marks` are strings or patterns; a name of None is not given.

    `children` applies to the lines inside. `end` is the index after its last descendant in the tree.
    """

    role: str
    name: Words | None
    marks: Mapping[str, Words]
    children: Children
    depth: int
    parent: int
    end: int

    def matches(self, actual: Line) -> bool:
        """Return whether a line of a snapshot has this role, this name and these marks."""
        if self.role != actual.role:
            return False
        if self.name is not None and not _same(self.name, str(actual.name or "")):
            return False
        return all(_has(actual.marks.get(mark), value) for mark, value in self.marks.items())

    def __str__(self) -> str:
        """Return the line without the lines inside it, as it is written."""
        if self.role == TEXT:
            return f"- text: {_written(self.name or '')}"
        name = "" if self.name is None else f" {_written(self.name)}"
        marks = "".join(f" [{_mark_written(mark, value)}]" for mark, value in self.marks.items())
        return f"- {self.role}{name}{marks}"


@attrs.frozen(eq=False)
class LineTree:
    """All lines in document order. `children` applies to the outermost ones."""

    lines: Sequence[Line]
    children: Children = "contain"

    def inside(self, index: int) -> Iterator[int]:
        """Yield the indexes of the direct children of a line; of the outermost lines for -1."""
        at, end = (0, len(self.lines)) if index < 0 else (index + 1, self.lines[index].end)
        while at < end:
            yield at
            at = self.lines[at].end

    def __str__(self) -> str:
        """Return the text of a template with these lines."""
        if not self.lines and self.children != "contain":
            return f"- /children: {self.children}\n"
        written = self.written(0, len(self.lines))
        return "".join(f"{'  ' * depth}{text}\n" for depth, text in written)

    def written(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Yield depth and text of each line in a range. Text that is alone in an element is on its line."""
        at = start
        while at < end:
            line = self.lines[at]
            yield line.depth, self.with_text(at)
            at += 2 if self.has_only_text(at) else 1

    def has_only_text(self, index: int) -> bool:
        """Return whether text is the only line inside a line."""
        return self.lines[index].end == index + 2 and self.lines[index + 1].role == TEXT

    def with_text(self, index: int) -> str:
        """Return a line as it is written, with the text inside it if that is its only content."""
        line = str(self.lines[index])
        return f"{line}: {_written(self.lines[index + 1].name or '')}" if self.has_only_text(index) else line


def parse_template(text: str) -> LineTree:
    """Return the lines of a template. Raises InvalidArgumentError with the number of an invalid line."""
    tree = _Parser(text, checked=True).parse()
    if not tree.lines and tree.children == "contain":
        raise InvalidArgumentError(
            what="template", given="no line", expected='at least one line, such as - button "Save"'
        )
    return tree


def parse_snapshot(text: str) -> LineTree:
    """Return the lines of a snapshot in mode "role"."""
    return _Parser(text, checked=False).parse()


def write_template(text: str) -> str:
    """Return the template with all lines of a snapshot, without its refs, its remarks and the focus."""
    tree = parse_snapshot(text)
    if not tree.lines:
        return str(LineTree((), "equal"))
    kept = [
        attrs.evolve(line, marks={key: value for key, value in line.marks.items() if key not in _UNWRITTEN})
        for line in tree.lines
    ]
    return str(LineTree(kept))


class _Parser:
    """Parses the text of a template, or of a snapshot if not `checked`."""

    def __init__(self, text: str, *, checked: bool) -> None:
        self._text = text
        self._checked = checked
        self._lines: list[Line] = []
        self._open: list[tuple[int, int]] = []  # width and index of the lines around the current position
        self._children: Children = "contain"

    def parse(self) -> LineTree:
        for number, text in enumerate(self._text.split("\n"), 1):
            body = text.strip(" \t\r")
            if not body or body.startswith("#"):
                continue
            width = len(_INDENT.match(text)[0].expandtabs())  # type: ignore[index]
            while self._open and self._open[-1][0] >= width:
                self._close()
            self._add(number, body, width)
        while self._open:
            self._close()
        deep = self._children == "deep-equal"
        return LineTree(_with_depths(self._lines, deep=deep), self._children)

    def _close(self) -> None:
        _, index = self._open.pop()
        self._lines[index] = attrs.evolve(self._lines[index], end=len(self._lines))

    def _add(self, number: int, body: str, width: int) -> None:
        if self._checked and (found := _PROPERTY.match(body)) is not None:
            self._add_property(number, body, found[1], found[2])
            return
        role = _ROLE.match(body)
        if role is None:
            raise _invalid(number, body, 'a line such as - button "Save" [disabled]')
        name, at = (None, role.end()) if role[1] == TEXT else _read_words(body, role.end(), number)
        marks: dict[str, Words] = {}
        while at < len(body) and (end := self._read_mark(number, body, at, marks)) > at:
            at = end
        rest = body[at:]
        content = self._read_content(number, body, rest)
        if role[1] == TEXT:
            self._lines.append(
                Line(TEXT, content or "", {}, "contain", 0, self._parent(), len(self._lines) + 1)
            )
            return
        known = self._check_role(number, role[1])
        if name == "" and not self._checked:
            name = None
        self._open_line(Line(known, name, marks, "contain", 0, self._parent(), 0), width)
        if content is not None:
            inside = len(self._lines)
            self._lines.append(Line(TEXT, content, {}, "contain", 0, inside - 1, inside + 1))

    def _parent(self) -> int:
        return self._open[-1][1] if self._open else -1

    def _open_line(self, line: Line, width: int) -> None:
        self._open.append((width, len(self._lines)))
        self._lines.append(line)

    def _check_role(self, number: int, role: str) -> str:
        if not self._checked:
            return role
        try:
            return check_role(role)
        except InvalidArgumentError as error:
            raise _invalid(number, role, error.expected) from None

    def _add_property(self, number: int, body: str, name: str, value: str) -> None:
        parent = self._parent()
        if name == "children":
            chosen = next((each for each in _CHILDREN if each == value), None)
            if chosen is None:
                raise _invalid(number, body, "/children: contain, equal or deep-equal")
            if parent < 0:
                self._children = chosen
            else:
                self._lines[parent] = attrs.evolve(self._lines[parent], children=chosen)
            return
        if parent < 0:
            raise _invalid(number, body, "an element around this line")
        words, end = _read_words(value, 0, number)
        if words is None or value[end:].strip():
            words = value
        marks = {**self._lines[parent].marks, name: words}
        self._lines[parent] = attrs.evolve(self._lines[parent], marks=marks)

    def _read_mark(self, number: int, body: str, at: int, marks: dict[str, Words]) -> int:
        """Add the mark at a position, and return the position after it; `at` if there is none."""
        head = _MARK.match(body, at)
        end = at
        value: Words | None = SET
        if head is not None:
            end = head.end()
            if head[2]:
                value, end = _read_words(body, end, number)
                if value is None and (token := _TOKEN.match(body, end)) is not None:
                    value, end = token[0], token.end()
        if head is not None and value is not None and body[end : end + 1] == "]":
            if head[1] not in _IGNORED:
                marks[head[1]] = value
            return end + 1
        remark = _REMARK.match(body, at)
        if remark is None:
            return at
        if self._checked:
            raise _invalid(number, remark[0].strip(), "a mark such as [checked] or [level=2]")
        return remark.end()

    def _read_content(self, number: int, body: str, rest: str) -> Words | None:
        """Return the text after the colon, or None if the line has none."""
        if not rest.strip():
            return None
        if not rest.lstrip().startswith(":"):
            raise _invalid(
                number, body, 'a name in double quotes, then marks in brackets, then ": " and a text'
            )
        content = rest.lstrip()[1:].strip()
        if not content:
            return None
        words, end = _read_words(content, 0, number)
        return content if words is None or content[end:].strip() else words


def _with_depths(lines: list[Line], *, deep: bool) -> list[Line]:
    """Return the lines with their depths. A line inside a "deep-equal" one is "equal"."""
    done: list[Line] = []
    for line in lines:
        around = done[line.parent] if line.parent >= 0 else None
        inside_deep = deep if around is None else around.children == "deep-equal"
        children: Children = "deep-equal" if inside_deep else line.children
        done.append(attrs.evolve(line, depth=0 if around is None else around.depth + 1, children=children))
    return done


def _read_words(body: str, at: int, number: int) -> tuple[Words | None, int]:
    """Return the string or pattern at a position, and the position after it; None if there is none."""
    start = at
    while body[start : start + 1] == " ":
        start += 1
    if (string := _STRING.match(body, start)) is not None:
        try:
            return str(_json.decode_leniently(string[0])), string.end()
        except ValueError:
            raise _invalid(number, string[0], "a JSON string in double quotes") from None
    if (pattern := _PATTERN.match(body, start)) is not None:
        try:
            source = _SLASH.sub("/", pattern[1])
            return re.compile(source, re.IGNORECASE if pattern[2] else 0), pattern.end()
        except re.error as error:
            raise _invalid(number, pattern[0], f"a regular expression ({error})") from None
    return None, at


def _same(expected: Words, actual: str) -> bool:
    if isinstance(expected, re.Pattern):
        return expected.search(actual) is not None
    return expected == actual or collapse_space(expected) == collapse_space(actual)


def _has(actual: Words | None, expected: Words) -> bool:
    if expected == UNSET:
        return actual in (None, UNSET)
    return actual is not None and _same(expected, str(actual))


def _written(words: Words) -> str:
    if not isinstance(words, re.Pattern):
        return quote(words)
    source = re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", words.pattern)
    return f"/{source}/{'i' if words.flags & re.IGNORECASE else ''}"


def _mark_written(mark: str, value: Words) -> str:
    if value == SET:
        return mark
    simple = isinstance(value, str) and (_TOKEN.fullmatch(value) is not None or is_token(value))
    return f"{mark}={value}" if simple and mark not in _QUOTED else f"{mark}={_written(value)}"


_QUOTED = frozenset({"value", "placeholder", "description", "url"})


def _invalid(number: int, given: str, expected: str) -> InvalidArgumentError:
    shown = given if len(given) <= _LONGEST_SHOWN else f"{given[:_LONGEST_SHOWN]}..."
    return InvalidArgumentError(what=f"line {number} of the template", given=shown, expected=expected)
