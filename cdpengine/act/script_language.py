"""The language of action scripts: one action a line, as the agents of WebArena write it.

    click [12]    hover [12]    type [7] [text] [1]    press [Control+A]    scroll [down]    goto [url]
    new_tab    tab_focus [1]    close_tab    go_back    go_forward    stop [answer]    None

A command of the shell is an action, too, if its tool needs no capability and it uses no files. Its arguments are
in brackets: `check [3]`, `select [7] [Red]`, `wait [1000]`, `get [value] [7]`.

Rule: a line becomes a request, or an error with the place in the line and the expected syntax. The numbers are the
numbers of a snapshot in the mode numbered or webarena. In the place of a number, a selector with a criterion names
the element: `click [role=button[name="Save"]]`. The last text of an action may contain brackets: it ends at the
last bracket. `type` presses Enter at the end, unless its last argument is [0]. Pure.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from cdpengine.act.commands.parsing import read_place
from cdpengine.act.commands.verbs import TABLE, Verb
from cdpengine.act.parsing import parse_request
from cdpengine.act.requests import ActRequest
from cdpengine.act.selectors import starts_with_criterion
from cdpengine.act.verbs.forms import Fill, FormField
from cdpengine.act.verbs.keyboard import Press, Type
from cdpengine.act.verbs.navigation import Back, Forward, Navigate
from cdpengine.act.verbs.pointing import Click, Scroll
from cdpengine.act.verbs.tabs import FocusTab
from cdpengine.errors import ActionSyntaxError, InvalidArgumentError


@attrs.frozen
class Stop:
    """The end of a script: the task is done or impossible. `answer` is "" without an answer."""

    answer: str = ""


@attrs.frozen
class Nothing:
    """An action that does nothing: `None`."""


Action = ActRequest | Stop | Nothing
"""The meaning of a line."""


def parse_action(text: str, *, line: int = 1) -> Action:
    """Return the meaning of one action. `line` is its number, for errors. Raises ActionSyntaxError."""
    cursor = _Cursor(text, line)
    cursor.skip_blanks()
    start = cursor.position
    name = cursor.take(_NAME)
    if name is None:
        raise cursor.wrong("an action, such as click [12]")
    parse = ACTIONS.get(name)
    if parse is None:
        near = difflib.get_close_matches(name, ACTIONS, n=2, cutoff=0.6)
        cursor.position = start
        raise cursor.wrong(" or ".join(near) or f"one of {', '.join(ACTIONS)}")
    action = parse(cursor)
    cursor.skip_blanks()
    if not cursor.at_end:
        raise cursor.wrong("the end of the action")
    return action


def parse_script(text: str) -> Iterator[tuple[int, Action]]:
    """Yield the actions of a script with their line numbers, without blank lines and comments (#).

    Raises ActionSyntaxError at the first wrong line. To check a script before running it, read all actions first.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, parse_action(line, line=number)


# --- replies of models ---------------------------------------------------------------------------------------

FENCES: Sequence[tuple[str, str]] = (("```", "```"), ("<action>", "</action>"), ("`", "`"))
"""The default pairs of marks around an action in a reply; the first pair in the reply counts."""

_LANGUAGE = re.compile(r"[\w+-]*\n")
"""The rest of an opening fence: the name of a language, and the end of the line."""


def extract_action(reply: str, fences: Sequence[tuple[str, str]] = FENCES) -> str:
    """Return the action in a model's reply, for `parse_action`.

    It is the content of the last of the `fences` (pairs of opening and closing marks). If the reply has none,
    it is the last line that is an action. Raises ActionSyntaxError if the reply has neither.
    """
    for opening, closing in fences:
        found = _between(reply, opening, closing)
        if found:
            return found[-1]
    for line in reversed(reply.splitlines()):
        plain = line.strip().removeprefix("Action:").strip()
        name = _NAME.match(plain)
        if name is not None and name[0] in ACTIONS and _is_action(plain):
            return plain
    raise ActionSyntaxError(
        line=1,
        column=1,
        given=f"a reply of {len(reply)} characters without an action",
        expected=f"one between {' or '.join(''.join(pair) for pair in fences)}, or on a separate line",
    )


def _between(reply: str, opening: str, closing: str) -> list[str]:
    found, position = [], 0
    while (start := reply.find(opening, position)) >= 0:
        start += len(opening)
        end = reply.find(closing, start)
        if end < 0:
            break
        inside = reply[start:end]
        if "\n" in inside and (language := _LANGUAGE.match(inside)):
            inside = inside[language.end() :]
        if inside.strip():
            found.append(inside.strip())
        position = end + len(closing)
    return found


def _is_action(text: str) -> bool:
    try:
        parse_action(text)
    except ActionSyntaxError:
        return False
    return True


# --- the parser ----------------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z_]+")
_NUMBER = re.compile(r"\d{1,9}")
_WORD = re.compile(r"[a-z]+")
_SELECTOR = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[(?:[^\]"']|"(?:[^"\\]|\\.)*"|'[^']*')*\]|[^\[\]"'])+"""
)
"""A selector, up to the bracket after it. Quoted strings and attributes in it may contain brackets."""

_ARGUMENT = re.compile(r"[^\[\]]+")

_FLAG = re.compile(r"\]\s*\[\s*([01])\s*\]\s*$")


@attrs.define
class _Cursor:
    """A position in one action."""

    text: str
    line: int
    position: int = 0

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.text)

    @property
    def rest(self) -> str:
        return self.text[self.position :]

    def skip_blanks(self) -> None:
        while not self.at_end and self.text[self.position].isspace():
            self.position += 1

    def take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[0]

    def take_mark(self, mark: str) -> bool:
        self.skip_blanks()
        found = self.text.startswith(mark, self.position)
        self.position += len(mark) if found else 0
        return found

    def precedes(self, mark: str) -> bool:
        self.skip_blanks()
        return self.text.startswith(mark, self.position)

    def expect(self, mark: str) -> None:
        if not self.take_mark(mark):
            raise self.wrong(mark)

    def refuse(self, position: int, expected: str) -> ActionSyntaxError:
        """Return the error for the argument in brackets at an earlier position."""
        self.position = position
        self.take_mark("[")
        self.skip_blanks()
        return self.wrong(expected)

    def wrong(self, expected: str) -> ActionSyntaxError:
        """Return the error for this position. It omits the content of texts, which may be passwords."""
        before = self.text[: self.position]
        if self.at_end:
            given = "the end"
        else:
            word = re.match(r"\w{1,20}|.", self.rest, re.DOTALL)
            next_word = "" if word is None else word[0]
            given = repr(next_word) if "[" not in before or next_word in "[]" else "something else"
        return ActionSyntaxError(
            line=self.line + before.count("\n"),
            column=self.position - (before.rfind("\n") + 1) + 1,
            given=given,
            expected=expected,
        )


def _take_number(cursor: _Cursor, what: str) -> int:
    """Parse `[12]`."""
    cursor.expect("[")
    cursor.skip_blanks()
    number = cursor.take(_NUMBER)
    if number is None:
        raise cursor.wrong(f"{what}, a number")
    cursor.expect("]")
    return int(number)


def _take_text(cursor: _Cursor, what: str) -> str:
    """Parse `[text]`, up to the last bracket of the action, because the text may contain brackets."""
    cursor.expect("[")
    end = cursor.text.rstrip().rfind("]")
    if end < cursor.position:
        cursor.position = len(cursor.text)
        raise cursor.wrong(f"] after {what}")
    if cursor.text[end + 1 :].strip():
        cursor.position = end + 1
        cursor.skip_blanks()
        raise cursor.wrong("the end of the action")
    text = cursor.text[cursor.position : end]
    cursor.position = end + 1
    return text


def _take_plain(cursor: _Cursor, what: str) -> str:
    """Parse a non-empty text, without the whitespace around it."""
    cursor.skip_blanks()
    start = cursor.position
    text = _take_text(cursor, what).strip()
    if not text:
        cursor.position = start
        raise cursor.wrong(f"[{what}]")
    return text


def _take_argument(cursor: _Cursor, what: str) -> str:
    """Parse `[text]` before further arguments, up to the first bracket, without the whitespace around it."""
    cursor.expect("[")
    cursor.skip_blanks()
    text = cursor.take(_ARGUMENT)
    if text is None:
        raise cursor.wrong(what)
    cursor.expect("]")
    return text.strip()


def _take_element(cursor: _Cursor) -> str:
    """Parse the number of an element, or a selector with a criterion. Return its ref or the selector."""
    opened = _Cursor(cursor.text, cursor.line, cursor.position)
    if opened.take_mark("["):
        opened.skip_blanks()
        inside = _SELECTOR.match(opened.text, opened.position)
        if inside is not None and starts_with_criterion(inside[0]):
            cursor.position = inside.end()
            cursor.expect("]")
            return inside[0].strip()
    return f"e{_take_number(cursor, 'the id of an element')}"


def _take_target(cursor: _Cursor) -> dict[str, Any]:
    """Parse an element. Return the field of the request."""
    element = _take_element(cursor)
    return {"selector" if starts_with_criterion(element) else "ref": element}


def _parse_fill(cursor: _Cursor) -> Fill:
    element = _take_target(cursor)
    return Fill(fields=(FormField(**element, value=_take_text(cursor, "the text")),))


def _parse_type(cursor: _Cursor) -> Type:
    element = _take_target(cursor)
    cursor.skip_blanks()
    submit = True
    flag = _FLAG.search(cursor.text, cursor.position)
    if flag is not None:
        submit = flag[1] == "1"
        cut = _Cursor(cursor.text[: flag.start() + 1], cursor.line, cursor.position)
        text = _take_text(cut, "the text")
        cursor.position = len(cursor.text)
    else:
        text = _take_text(cursor, "the text")
    return Type(**element, text=text, submit=submit)


_KEY_NAMES = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "option": "Alt",
    "esc": "Escape",
    "return": "Enter",
}
"""Key names of models, in lower case, and the engine's names."""


def _parse_press(cursor: _Cursor) -> Press:
    chord = _take_plain(cursor, "key")
    modifiers, plus, last = chord.rpartition("+")
    if not last and plus:  # the key is +
        modifiers, last = modifiers.rstrip("+"), "+"
    keys = [*(each.strip() for each in modifiers.split("+") if each), last.strip()]
    named = [_KEY_NAMES.get(key.lower(), key) for key in keys]
    named[:-1] = ["ControlOrMeta" if key.lower() == "meta" else key for key in named[:-1]]
    if len(named) > 1 and len(named[-1]) == 1:
        named[-1] = named[-1].upper()
    return Press(key="+".join(named))


def _parse_scroll(cursor: _Cursor) -> Scroll:
    bracket = cursor.take_mark("[")
    cursor.skip_blanks()
    start = cursor.position
    word = cursor.take(_WORD)
    for direction in ("up", "down", "left", "right"):
        if word == direction:
            if bracket:
                cursor.expect("]")
            return Scroll(direction=direction)
    cursor.position = start
    raise cursor.wrong("up, down, left or right")


def _parse_stop(cursor: _Cursor) -> Stop:
    cursor.skip_blanks()
    if cursor.at_end:
        return Stop()
    if cursor.take_mark("("):
        quoted = cursor.rest.rstrip()
        if not quoted.endswith(")"):
            cursor.position = len(cursor.text)
            raise cursor.wrong(") after the answer")
        cursor.position = len(cursor.text)
        answer = quoted[:-1].strip()
        return Stop(
            answer[1:-1] if len(answer) > 1 and answer[0] == answer[-1] and answer[0] in "\"'" else answer
        )
    return Stop(_take_text(cursor, "the answer"))


def _parse_command(verb: Verb, cursor: _Cursor) -> ActRequest:
    """Parse the arguments of a command of the shell: `select [7] [Red]`."""
    request: dict[str, Any] = {"kind": verb.kind, **verb.preset}
    positions = {"": cursor.position}
    for number, place in enumerate(verb.places):
        if not place.needed and not cursor.precedes("["):
            break
        start, what = cursor.position, place.name.lower()
        if place.is_element:
            text = _take_element(cursor)
        elif place is not verb.places[-1]:
            text = _take_argument(cursor, f"the {what}")
        else:
            text = _take_text(cursor, f"the {what}") if number else _take_plain(cursor, what)
        try:
            fields = read_place(verb, place, text)
        except InvalidArgumentError as error:
            raise cursor.refuse(start, error.expected) from None
        request |= fields
        positions |= dict.fromkeys(fields, start)
    try:
        return parse_request(request)
    except InvalidArgumentError as error:
        field = error.what.rpartition(".")[2]
        raise cursor.refuse(positions.get(field, positions[""]), error.expected) from None


ACTIONS: Mapping[str, Callable[[_Cursor], Action]] = {
    **{verb.name.replace("-", "_"): partial(_parse_command, verb) for verb in TABLE if verb.in_scripts},
    "double_click": lambda cursor: Click(**_take_target(cursor), double_click=True),
    "fill": _parse_fill,
    "type": _parse_type,
    "press": _parse_press,
    "scroll": _parse_scroll,
    "goto": lambda cursor: Navigate(url=_take_plain(cursor, "url")),
    "tab_focus": lambda cursor: FocusTab(index=_take_number(cursor, "the number of a tab")),
    "go_back": lambda _cursor: Back(),
    "go_forward": lambda _cursor: Forward(),
    "stop": _parse_stop,
    "None": lambda _cursor: Nothing(),
}
"""The actions, by name: the commands of the shell, then the words of agents."""
