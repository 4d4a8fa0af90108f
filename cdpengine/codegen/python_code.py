"""Python code of recorded steps: a trio program, and a test for pytest. Pure.

Rule: the code needs no change to run. It reads variables from the environment: `${password}` from PASSWORD.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs

from cdpengine.cache.templates import split
from cdpengine.codegen import recorded
from cdpengine.codegen.recorded import ElementQuery, RecordedStep, variables_of

Lines: TypeAlias = Iterator[str]

_INDENT = "    "


def write_program(steps: Sequence[RecordedStep]) -> str:
    """Return a program that launches a browser and performs the steps."""
    body = [
        "async with cdpengine.launch() as browser:",
        *(f"{_INDENT}{line}" for line in ("page = await browser.new_page()", *_body(steps, "browser"))),
    ]
    head = ["import os", ""] if variables_of(steps) else []
    head += ["import cdpengine", "import trio"]
    head += ["from cdpengine import expect"] if _asserts(steps) else []
    lines = [*head, "", "", "async def main() -> None:", *(f"{_INDENT}{line}" for line in body)]
    return "\n".join([*lines, "", "", "trio.run(main)", ""])


def write_test(steps: Sequence[RecordedStep], *, name: str = "recorded") -> str:
    """Return a test module for the plugin of pytest, with the test `test_NAME`."""
    head = ["import os", ""] if variables_of(steps) else []
    head += ["from cdpengine import expect", ""] if _asserts(steps) else []
    head += [""] if head else []
    body = list(_body(steps, "context")) or ["pass"]
    fixtures = (
        "page, context" if any(isinstance(step.action, recorded.OpenPage) for step in steps) else "page"
    )
    lines = [*head, f"async def test_{name}({fixtures}):", *(f"{_INDENT}{line}" for line in body), ""]
    return "\n".join(lines)


def quote(text: str) -> str:
    """Return a Python string literal in one line. Characters that are not printable are escaped."""
    mark = "'" if '"' in text and "'" not in text else '"'
    return mark + "".join(_escaped(each, mark) for each in text) + mark


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(character: str, mark: str) -> str:
    if character == mark:
        return f"\\{mark}"
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    number = ord(character)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


def _value(template: str) -> str:
    """Return the expression of a template, whose variables are environment variables."""
    parts = [
        f"os.environ[{quote(part.upper())}]" if is_variable else quote(part)
        for part, is_variable in split(template)
    ]
    return " + ".join(parts) or '""'


def _asserts(steps: Sequence[RecordedStep]) -> bool:
    return any(isinstance(step.action, recorded.Assertion) for step in steps)


# --- steps ---------------------------------------------------------------------------------------------------


def page_name(number: int) -> str:
    """Return the variable of a page: "page", "page2" ..."""
    return "page" if number == 1 else f"page{number}"


def _body(steps: Sequence[RecordedStep], opener: str) -> Lines:
    for step in steps:
        page = page_name(step.page)
        if isinstance(step.action, recorded.OpenPage):
            yield f"{page} = await {opener}.new_page()"
            continue
        around = []
        if step.opens is not None:
            around.append(f"async with {page}.expect_popup() as popup:")
        if step.dialog is not None:
            answer = f"accept={step.dialog.accept}"
            if step.dialog.accept and step.dialog.text is not None:
                answer += f", text={_value(step.dialog.text)}"
            around.append(f"async with {page}.expect_dialog({answer}):")
        for depth, line in enumerate((*around, f"await {_call(step, page)}")):
            yield _INDENT * depth + line
        if step.opens is not None:
            yield f"{page_name(step.opens)} = popup.value"


def _call(step: RecordedStep, page: str) -> str:
    """Return the call of an action."""
    match step.action:
        case recorded.Goto(url=url):
            return f"{page}.goto({_value(url)})"
        case recorded.Move(where="reload"):
            return f"{page}.reload()"
        case recorded.Move(where=where):
            return f"{page}.go_{where}()"
        case recorded.Press(key=key, target=None):
            return f"{page}.press({quote(key)})"
        case recorded.Drag(target=target, destination=destination):
            return f"{page}.drag({_locate(target, page)}, {_locate(destination, page)})"
        case recorded.ClosePage():
            return f"{page}.close()"
        case recorded.Assertion():
            return _expect(step.action, page)
    assert step.target is not None, "the other actions have a target"
    return f"{_locate(step.target, page)}.{_verb(step)}"


def _verb(step: RecordedStep) -> str:
    """Return the method of a locator, with its arguments."""
    match step.action:
        case recorded.Click():
            return f"click({_click_arguments(step.action)})"
        case recorded.Fill(value=value):
            return f"fill({_value(value)})"
        case recorded.TypeText(text=text):
            return f"type({_value(text)})"
        case recorded.Press(key=key):
            return f"press({quote(key)})"
        case recorded.Check(checked=checked):
            return "check()" if checked else "uncheck()"
        case recorded.Select(values=values):
            return f"select({', '.join(map(_value, values))})"
        case recorded.Upload(paths=paths):
            return f"upload({', '.join(map(_value, paths))})"
        case recorded.Hover():
            return "hover()"
    raise AssertionError(f"{type(step.action).__name__} is no method of a locator")


def _click_arguments(click: recorded.Click) -> str:
    arguments = [f"button={quote(click.button)}"] if click.button != "left" else []
    arguments += [f"count={click.count}"] if click.count != 1 else []
    arguments += [f"modifiers=[{', '.join(map(quote, click.modifiers))}]"] if click.modifiers else []
    return ", ".join(arguments)


_EXPECTED = {"text": "to_have_text", "value": "to_have_value", "url": "to_have_url"}
_STATES: dict[str, str] = {
    "visible": "to_be_visible()",
    "checked": "to_be_checked()",
    "unchecked": "to_be_checked(checked=False)",
}


def _expect(assertion: recorded.Assertion, page: str) -> str:
    subject = page if assertion.target is None else _locate(assertion.target, page)
    check = _STATES.get(assertion.state) or f"{_EXPECTED[assertion.state]}({quote(assertion.expected)})"
    return f"expect({subject}).{check}"


def _locate(query: ElementQuery, page: str) -> str:
    """Return the call of `locate` for an element."""
    arguments = [quote(query.css)] if query.css else []
    for name, value in attrs.asdict(query).items():
        if name == "name" and (value or (query.role and query.exact)):
            arguments.append(f"name={_value(value)}")
        elif name not in ("css", "name") and (value or name == "nth") and value is not None:
            arguments.append(f"{name}={quote(value) if isinstance(value, str) else value}")
    return f"{page}.locate({', '.join(arguments)})"
