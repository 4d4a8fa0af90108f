"""Whether a JavaScript string is one function, decided without running it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._evaluate.script import Script, is_function

FUNCTIONS = [
    "() => 1",
    "(a, b) => a + b",
    "a => a",
    "$x_1 => 0",
    "async () => {}",
    "async (a) => a",
    "async a => a",
    "async(a)=>a",
    "({a, b}, [c], d = (1, 2), ...e) => a",
    "(a = ')') => a",
    "  // a comment\n /* and (another) */ () => 1",
    "function () { return 1 }",
    "function f(a = {}) { return '}' }",
    "async function f() { return `}${'`'}` }",
    "function* g() {}",
    "function f() { return /[/}]+/.test(a) } // done",
    "function f() { if (a) { return b / c / d } }\n",
    "function f() { return a /* x */ / b; } // }",
    "function f() { return a\n // x\n / '}' / b }",
    "function f() { return typeof /* x */ /}/ }",
    "function f() { return `a` / '}' / `b` }",
    "function f() { return /}/g / '}' / 2 }",
    "function f() { return [1][0] / '}' / 2 }",
    "function f() { return é_1$ / '}' / 2 }",
    "function f() { return `${`${'`}'}`} \\` }` }",
    "function f() { return 1 };".rstrip(";"),
    "function f() {",
]

EXPRESSIONS = [
    "1 + 1",
    "document.title",
    "(() => 1)()",
    "(function () { return 1 })()",
    "(a, b)",
    "a",
    "async",
    "asynchronous",
    "functional",
    "function f() { return 1 } f()",
    "function f() {} function g() {}",
    "function f() { return '{' } f() + 1",
    "function f() { return /{/.source } f()",
    "x = () => 1",
    "({a: () => 1})",
    "'() => 1'",
    "`() => ${1}`",
    "",
    "   ",
    "// () => 1",
    "async () ; () => 1",
]


@pytest.mark.parametrize("source", FUNCTIONS)
def test_functions(source: str) -> None:
    assert is_function(source)


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_expressions(source: str) -> None:
    assert not is_function(source)


def test_a_long_script_is_read_like_a_short_one() -> None:
    inside = "if (a / b > /[}]/.exec(`${{a: '}'}}`)) { a = [1]; } // }\n" * 3_000
    assert is_function(f"function f() {{ {inside} }}")
    assert not is_function(f"function f() {{ {inside} }} f()")


@given(st.text(alphabet="(){}[]=>`$'\"\\/*abfunctiosy ,;\n"))
def test_any_text_gets_an_answer(source: str) -> None:
    assert is_function(source) in (True, False)


@given(st.text(alphabet="(){}`'\"/*\\ a", max_size=40))
def test_a_function_followed_by_a_call_is_not_a_function(inside: str) -> None:
    quoted = inside.replace("\\", "").replace("'", "").replace("\n", "")
    assert not is_function(f"function f() {{ return '{quoted}' }} f()")
    assert is_function(f"function f() {{ return '{quoted}' }}")


@pytest.mark.parametrize(
    "source",
    ["1", "document.title", "location.href", "1 + 1", "a.b[0]?.c === 'x' && !d", "x <= 3 ? 'a' : \"b\"",
     "typeof done != 'undefined'", "a ?? b", "-1 % 2 * 3"],
)  # fmt: skip
def test_expressions_that_only_read_are_plain(source: str) -> None:
    assert Script(source).is_plain


@pytest.mark.parametrize(
    "source",
    ["f()", "a = 1", "a += 1", "a ||= 1", "a ??= 1", "a >>= 1", "a >>>= 1", "a <<= 1", "a++", "--a", "a **= 2", "a -= 1",
     "a *= 1", "a %= 1", "a &&= 1", "new Foo", "delete a.b", "await x", "`${a}`", "f`x`", "() => 1", "x => x", "a[b = 1]",
     "import.meta", "debugger", "throw a", "var a", "{ a }", "a; b", "a / b", "'", "x" * 300],
)  # fmt: skip
def test_other_scripts_are_not_plain(source: str) -> None:
    assert not Script(source).is_plain


@pytest.mark.parametrize(
    "source", ["document.body.innerHTML = '<iframe src=/blank></iframe>'", "a" * 199 + "("]
)
def test_long_words_are_read_in_linear_time(source: str) -> None:
    """Otherwise the test does not end."""
    assert not Script(source).is_plain


def test_a_script_with_arguments_is_not_plain() -> None:
    assert not Script("a", [1]).is_plain
