"""The shell's commands without a service: their arguments, the resulting requests, and the printed answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import attrs
import pytest
from act_cases import CASES, SMALLEST, fill_in
from spelling import spell

from cdpengine.act import (
    KINDS,
    ActResponse,
    AnsweredDialog,
    BegunDownload,
    Effects,
    Failure,
    OpenedPage,
    parse_request,
    to_json,
)
from cdpengine.act import StartedNavigation as Started
from cdpengine.act.commands.parsing import Command, Typed, parse
from cdpengine.act.commands.usage import verb_help
from cdpengine.act.commands.verbs import TABLE, option_fields
from cdpengine.act.fields import camel_case
from cdpengine.errors import AmbiguousNodeError, InvalidArgumentError
from cdpengine.shell.client import LOADING, split_url, verb_first
from cdpengine.shell.printing import Printed, print_response


def command(*arguments: str, **more: Any) -> Command:
    words, url = verb_first(arguments), None
    if words[0] in LOADING:
        url, words = split_url(words)
    return parse(Typed(arguments=words, folder=more.pop("folder", "/usr"), url=url, **more))


def request(*arguments: str, **more: Any) -> dict[str, Any]:
    parsed = command(*arguments, **more).request
    assert parsed is not None
    return dict(parsed)


# --- the verbs -----------------------------------------------------------------------------------------------


def test_every_kind_of_request_has_a_verb_and_every_field_of_it_an_argument() -> None:
    assert {verb.kind for verb in TABLE if verb.kind} == set(KINDS)
    special = {
        "wait": {"what": {"timeMs", "selector"}}, "fill": {"target": set[str](), "value": {"fields"}, "more": set[str]()},
    }  # fmt: skip
    for verb in TABLE:
        if verb.request is None:
            continue
        said = {camel_case(each.name) for each in option_fields(verb).values()} | set(verb.preset)
        said |= {camel_case(field) for field, _ in verb.flags.values()}
        for place in verb.places:
            target = {"target": {"ref", "selector"}}.get(place.field, {camel_case(place.field)})
            said |= special.get(verb.name, {}).get(place.field, target)
        assert said == {camel_case(each.name) for each in attrs.fields(verb.request)}, verb.name


@pytest.mark.parametrize("verb", TABLE, ids=lambda verb: verb.name)
def test_help_lists_the_arguments_of_a_verb(verb: Any) -> None:
    text = verb_help(verb.name)
    assert text.startswith(f"Usage: cdpengine {verb.usage} [OPTIONS]\n\n{verb.meaning}\n")
    assert all(name in text for name in option_fields(verb))
    assert max(map(len, text.splitlines())) <= 110
    if verb.example:
        import shlex

        parsed = command(*shlex.split(verb.example))
        assert parsed.verb is verb
        if parsed.request is not None:
            parse_request(dict(parsed.request))


SEEN = '"Go" [ref=e1] "Source" [ref=e2] "Goal" [ref=e3]'


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_spelled_request_parses_to_the_same_request(kind: str) -> None:
    """The requests of the table, and the smallest of each kind: spelled, then parsed to the same request."""
    steps = [{"kind": kind, **SMALLEST.get(kind, {})}]
    steps += [step for case in CASES for step in case.steps if step["kind"] == kind]
    for step in steps:
        asked = fill_in(step, {"site": "https://a.example", "folder": "/usr", "file": "/f/x"}, SEEN)
        try:
            meant = to_json(parse_request(asked))
        except InvalidArgumentError:
            continue
        got = to_json(parse_request(request("--json", *spell(asked))))
        for name in ("path", "directory", "paths", "format"):
            if name in got and name not in meant:
                got.pop(name)
            elif isinstance(got.get(name), str):
                assert got[name].endswith(meant[name])
                got[name] = meant[name]
            elif name in got:
                assert [each.removeprefix("/usr/") for each in got[name]] == meant[name]
                got[name] = meant[name]
        assert got == meant


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("click", "e3"), {"kind": "click", "ref": "e3"}),
        (("click", "@e3"), {"kind": "click", "ref": "e3"}),
        (("click", "3"), {"kind": "click", "ref": "e3"}),
        (("click", "button.e3"), {"kind": "click", "selector": "button.e3"}),
        (("click", "e3", "--modifiers", "Shift", "--modifiers=Alt", "--double-click"),
         {"kind": "click", "ref": "e3", "modifiers": ["Shift", "Alt"], "doubleClick": True}),
        (("type", "e5", "-5"), {"kind": "type", "ref": "e5", "text": "-5"}),
        (("type", "e5", "--", "--submit"), {"kind": "type", "ref": "e5", "text": "--submit"}),
        (("press", "-"), {"kind": "press", "key": "-"}),
        (("fill", "e5", "a", "#b", ""), {"kind": "fill", "fields": [{"ref": "e5", "value": "a"}, {"selector": "#b", "value": ""}]}),
        (("drag", "e3", "#goal"), {"kind": "drag", "startRef": "e3", "endSelector": "#goal"}),
        (("drag", "li.a", "@e4"), {"kind": "drag", "startSelector": "li.a", "endRef": "e4"}),
        (("click", "e3", "--target-id", "1"), {"kind": "click", "ref": "e3", "targetId": "1"}),
        (("scroll", "--dy", "-100"), {"kind": "scroll", "dy": -100.0}),
        (("scroll", "down", "#list"), {"kind": "scroll", "direction": "down", "selector": "#list"}),
        (("wait", "500"), {"kind": "wait", "timeMs": 500}),
        (("wait", "#done"), {"kind": "wait", "selector": "#done"}),
        (("uncheck", "e1"), {"kind": "check", "checked": False, "ref": "e1"}),
        (("check", "e1", "--checked", "false"), {"kind": "check", "checked": False, "ref": "e1"}),
        (("upload", "e1", "a.txt", "/b"), {"kind": "upload", "ref": "e1", "paths": ["/usr/a.txt", "/b"]}),
        (("act", '{"kind": "upload", "ref": "e1", "paths": ["a"]}'), {"kind": "upload", "ref": "e1", "paths": ["/usr/a"]}),
        (("focus-tab", "0"), {"kind": "focusTab", "index": 0}),
        (("close-tab", "ABC"), {"kind": "close", "targetId": "ABC"}),
        (("dialog", "accept", "ada"), {"kind": "dialog", "accept": True, "promptText": "ada"}),
        (("screenshot", "p.JPG"), {"kind": "screenshot", "path": "/usr/p.JPG", "format": "jpeg"}),
        (("screenshot", "--json"), {"kind": "screenshot"}),
        (("screenshot", "--refs", "--clip", "0,0,3,4.5", "--json"), {"kind": "screenshot", "labels": True, "clip": [0.0, 0.0, 3.0, 4.5]}),
        (("pdf", "--no-background", "--json"), {"kind": "pdf", "printBackground": False}),
        (("pdf", "--print-background", "--json", "--paper", "A4"), {"kind": "pdf", "printBackground": True, "paper": "A4"}),
        (("text", "e3"), {"kind": "extract", "format": "text", "ref": "e3"}),
        (("markdown", "--target", "main"), {"kind": "extract", "format": "markdown", "selector": "main"}),
        (("evaluate", "el => 1", "--ref", "e3"), {"kind": "evaluate", "function": "el => 1", "ref": "e3"}),
        (("evaluate", "1", "--recover", "reload"), {"kind": "evaluate", "function": "1", "recover": "reload"}),
        (("eval", "https://a.example", "1", "#x"), {"kind": "evaluate", "function": "1", "selector": "#x"}),
        (("snapshot", "https://a.example", "--source", "dom"), {"kind": "snapshot", "source": "dom"}),
        (("--session", "a", "back"), {"kind": "back"}),
    ],
)  # fmt: skip
def test_parsed_commands(arguments: tuple[str, ...], expected: dict[str, Any]) -> None:
    assert request(*arguments) == expected


def test_text_comes_from_standard_input() -> None:
    assert request("type", "e5", "-", stdin="two\nlines\n")["text"] == "two\nlines"
    assert request("eval", "-", stdin="1 + 1")["function"] == "1 + 1"
    assert request("act", "-", stdin='{"kind": "tabs"}') == {"kind": "tabs"}
    assert request("type", "e5", "--", "-")["text"] == "-"
    assert request("cache-lookup", "-", stdin="log in as ada\n")["goal"] == "log in as ada"


def test_values_of_variables_come_from_a_file_or_standard_input() -> None:
    """The client sends the file's text instead of standard input."""
    for verb in ("cache-replay", "start-learning"):
        assert request(verb, "login", "--values", "ada.json", stdin='{"user": "ada"}')["variables"] == {
            "user": "ada"
        }
    both = request(
        "cache-replay", "login", "--values=-", "--variables", '{"b": "2"}', stdin='{"a": "1", "b": "1"}'
    )
    assert both["variables"] == {"a": "1", "b": "2"}
    for wrong in ("[1]", "user=ada"):
        with pytest.raises(InvalidArgumentError, match="--values"):
            request("cache-replay", "login", "--values", "-", stdin=wrong)


def test_the_browser_is_named_by_its_local_path_or_by_its_name() -> None:
    for given, meant in (
        ("chromium", "chromium"),
        ("./chrome", "/usr/./chrome"),
        ("/opt/chrome", "/opt/chrome"),
    ):
        assert command("open", "about:blank", "--browser", given).options == {"--browser": meant}
    assert command("open", "about:blank", "--headful").options == {"--headful": True}
    assert command("open", "about:blank", "--viewport", "640x480").options == {"--viewport": "640x480"}
    with pytest.raises(InvalidArgumentError, match="such as 1280x720"):
        command("open", "about:blank", "--viewport", "640")


def test_the_session_is_named() -> None:
    assert command("tabs").session == "default"
    assert command("tabs", session="mine").session == "mine"
    assert command("tabs", "--session", "other", session="mine").session == "other"
    assert command("--session=other", "tabs", session="mine").session == "other"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("click",), "click: got no TARGET, expected TARGET"),
        (("click", "e1", "hunter2"), "click: got 2 arguments, expected TARGET"),
        (("fill", "e1"), "expected TARGET VALUE [TARGET VALUE...]"),
        (("select", "e1"), "got no VALUE"),
        (("tabs", "x"), "expected no argument"),
        (("close", "x"), "expected no argument"),
        (("click", "e1", "--timeout-ms", "soon"), "--timeout-ms: got 'soon', expected a whole number"),
        (("click", "e1", "--timeout-ms"), "click --timeout-ms: got no value"),
        (("click", "e1", "--forc"), "the option --forc"),
        (("click", "e1", "--force=yes"), "--force: got a value, expected none"),
        (("click", "e1", "--position", "3,3"), "--position: got text that is not JSON"),
        (("check", "e1", "--checked", "maybe"), "expected true or false"),
        (("dialog", "yes"), "expected accept or dismiss"),
        (("act", "[]"), "expected an object"),
        (("act", "{"), "expected JSON"),
        (("open", "localhost:1/x"), "which has no scheme, expected http://localhost:1/x"),
        (("new-tab", "http://"), "names no host"),
        (
            ("open", "/dlg"),
            "which is a path without a host, expected an address such as https://example.com/dlg",
        ),
        (("open", "notaurl"), "which is not an address, expected an address such as https://example.com/"),
        (("open", ""), "which is empty, expected an address such as"),
        (("open", "none.html"), "which is a file name, expected an address such as file:///"),
        (("snapshot", "example.com"), "got 'example.com', which has no scheme, expected https://example.com"),
        (("snapshot", "http://"), "which names no host"),
        (("eval", "about:blank"), "eval: got no SCRIPT, expected SCRIPT [TARGET]"),
        (("eval", "1", "--raw", "--json"), "got --raw and --json, expected one of them"),
        (("extract", "about:blank", "--session", "a"), "got --session, and a URL, expected one of them"),
        (("extract", "--endpoint", "http://a", "--session", "a"), "got --session and --endpoint"),
        (("snapshot", "--record", "x"), "snapshot --record: got no URL, expected a URL to load"),
        (("snapshot", "--force"), "snapshot --force: got no URL"),
        (("snapshot", "about:blank", "--browser", "x", "--endpoint", "y"), "got --browser and --endpoint"),
        (("open", "about:blank", "--headful", "--endpoint", "y"), "got --headful and --endpoint"),
        (
            ("open", "about:blank", "--user-data-dir", "x", "--endpoint", "y"),
            "got --user-data-dir and --endpoint",
        ),
        (("pdf", "about:blank", "/a/b.pdf"), "got /a/b.pdf, whose folder does not exist"),
        (("screenshot", "--clip", "1,x", "--json"), "--clip: got 'x', expected a number"),
        (("open", "//a.example/x"), "which has no scheme, expected https://a.example/x"),
    ],
)
def test_wrong_use_is_reported_without_possible_secrets(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidArgumentError) as error:
        command(*arguments)
    assert said in str(error.value)
    assert "hunter2" not in str(error.value)


def test_an_existing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    for verb in ("screenshot", "pdf"):
        with pytest.raises(InvalidArgumentError, match="exists already"):
            parse(Typed(arguments=(verb, "a.png"), folder=str(tmp_path)))
        assert parse(Typed(arguments=(verb, "a.png", "--force"), folder=str(tmp_path))).request
    for arguments, said in (
        (("b.gif",), "a file name that ends in '.gif', expected .png"),
        (("b.png", "--format", "jpeg"), "got jpeg, for a file that ends in .png, expected png"),
        (("about:blank", "b.png", "--record", "b.png"), "which is also FILE, expected another file"),
    ):
        with pytest.raises(InvalidArgumentError, match=re.escape(said)):
            command("screenshot", *arguments, folder=str(tmp_path))
    for named in (("b.png",), ("-o", "b.png"), ("-ob.png",), ("--output=b.png",)):
        for url in ((), ("about:blank",)):
            assert command("screenshot", *url, *named, folder=str(tmp_path)).request == {
                "kind": "screenshot", "path": f"{tmp_path}/b.png", "format": "png",
            }  # fmt: skip
    names = set()
    for _ in range(3):
        parsed = parse(Typed(arguments=("screenshot",), folder=str(tmp_path))).request
        assert parsed is not None
        Path(parsed["path"]).write_bytes(b"")
        names.add(parsed["path"])
    assert len(names) == 3


# --- printed answers
# --------------------------------------------------------------------------------------------


def printed(kind: str, result: Any = None, *, as_json: bool = False, **more: Any) -> Printed:
    response = ActResponse(kind=kind, ok=True, result=result, **more)
    return print_response(response, as_json=as_json)


@pytest.mark.parametrize(
    ("kind", "result", "expected"),
    [
        ("click", None, "done\n"),
        ("evaluate", None, "null\n"), ("evaluate", "a\nb", "a\nb\n"), ("evaluate", {"a": [1]}, '{"a": [1]}\n'),
        ("evaluate", "\x1b[31m", "\\x1b[31m\n"),
        ("navigate", {"url": "https://a/", "status": 200}, "https://a/  200\n"), ("newTab", {"url": "about:blank"}, "about:blank\n"),
        ("snapshot", {"snapshot": "- a\n- b", "title": "", "refs": 0}, "- a\n- b\n"), ("snapshot", {"diff": "+ a"}, "+ a\n"),
                ("find", {"count": 3, "nodes": [{"ref": "e1", "role": "button", "name": "Go\n"}]}, 'e1 button "Go\\n"\n'),
        ("find", {"count": 1, "nodes": [{"ref": "e1", "role": "listitem", "name": "", "text": "Milk"}]}, 'e1 listitem "Milk"\n'),
        ("tabs", [{"index": 0, "url": "https://a/", "current": True}], "* 0  https://a/\n"),
        ("console", {"dropped": 1, "messages": [{"level": "error", "text": "x", "url": "https://a/", "line": 3}]},
         "error: x  (https://a/:4)\n"),
        ("requests", {"dropped": 0, "requests": [
            {"method": "GET", "url": "https://a/", "type": "Document", "status": 404, "failure": None},
            {"method": "GET", "url": "https://b/", "type": "Fetch", "status": None, "failure": "net::ERR_FAILED"}]},
         "404  GET https://a/  Document\nnet::ERR_FAILED  GET https://b/  Fetch\n"),
        ("cookies", [{"name": "a", "value": "b", "domain": "x.y", "path": "/"}], "a=b  x.y/\n"), ("storage", {"a": "b"}, "a=b\n"),
        ("screenshot", {"format": "png", "bytes": 5, "path": "/x.png"}, "/x.png  5 bytes\n"),
        ("download", {"path": "/f", "bytes": 5, "url": ""}, "/f  5 bytes\n"),
        ("search", [{"title": "T", "url": "https://a/", "snippet": "S"}], "T\n  https://a/\n  S\n"),
        ("close", {"current": None}, "done\n"),
    ],
)  # fmt: skip
def test_the_printed_form_of_a_result(kind: str, result: Any, expected: str) -> None:
    assert (printed(kind, result).status, printed(kind, result).out) == (0, expected)
    assert (
        json.loads(printed(kind, result, as_json=True).out)
        == ActResponse(kind=kind, ok=True, result=result).to_json()
    )


def test_a_raw_string_is_written_unchanged() -> None:
    for result, out in (("\x1b[31m\ud800", b"\x1b[31m\xef\xbf\xbd"), ({"a": 1}, b'{"a": 1}\n')):
        response = ActResponse(kind="evaluate", ok=True, result=result)
        assert print_response(response, as_json=False, raw=True).encode("ascii", as_json=False) == (
            0,
            b"",
            out,
        )


@pytest.mark.parametrize(
    ("kind", "result", "note"),
    [
        ("find", {"count": 0, "nodes": []}, "nothing was found\n"), ("search", [], "nothing was found\n"),
        ("tabs", [], "no page is open\n"), ("cookies", [], "no cookies\n"), ("storage", {}, "nothing is stored\n"),
        ("console", {"count": 0, "dropped": 0, "messages": []}, "nothing was written\n"),
        ("requests", {"count": 0, "dropped": 2, "requests": []}, "no requests\n2 older ones were dropped\n"),
        ("find", {"count": 3, "nodes": [{"ref": "e1", "role": "button", "name": "Go"}]}, "2 more\n"),
    ],
)  # fmt: skip
def test_notes_on_a_list_are_no_output(kind: str, result: Any, note: str) -> None:
    shown = printed(kind, result)
    assert shown.err == note
    assert note not in shown.out
    assert shown.status == (1 if kind == "find" and not result["count"] else 0)
    assert printed(kind, result, as_json=True).err == ""


def test_effects_of_an_action_are_notes() -> None:
    effects = Effects(
        navigation=Started(url="https://a/"), popup=OpenedPage(target_id="T", url="https://b/"),
        dialogs=(AnsweredDialog(type="confirm", message="Sure?", accepted=False), AnsweredDialog(type="alert", message="x")),
        download=BegunDownload(url="", suggested_filename="f.txt"), healed_ref="e9", delivered=False,
    )  # fmt: skip
    shown = printed("click", effects=effects, diff="+ a")
    assert (shown.out, printed("click", effects=effects).out) == ("+ a\n", "done\n")
    assert shown.err.splitlines() == [
        "navigation to https://a/", "a new tab opened, which is not the current one: https://b/", "a confirm opened ('Sure?'), answered Cancel",
        "an alert opened ('x'), not answered yet", "a download began: f.txt", "the ref was stale; e9 was used instead",
        "the page removed the element during the action",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("covered", 1),
        ("invalidArgument", 2),
        ("evaluationTimeout", 3),
        ("serviceUnavailable", 4),
        ("busy", 1),
    ],
)
def test_an_error_is_a_line_a_hint_and_a_status(kind: str, status: int) -> None:
    message = "cannot click \x1b[1m e3: it is covered:\n  by https://u:secret@host/\n  - probed 5 times"
    failure = Failure(kind=kind, message=message, hint="Close it.", retryable=True)
    response = ActResponse(kind="click", ok=False, error=failure)
    printed = print_response(response, as_json=False)
    assert printed.status == status
    assert printed.out == ""
    assert (
        printed.err
        == "Error: cannot click \\x1b[1m e3: it is covered: by https://***@host/\nHint: Close it.\n"
    )
    as_json = print_response(response, as_json=True)
    assert (as_json.status, as_json.err) == (status, printed.err)
    assert json.loads(as_json.out)["error"]["message"] == message


def test_characters_missing_in_an_encoding_are_escaped() -> None:
    assert Printed(0, "ä→\n").encode("latin-1", as_json=False) == (0, b"", b"\\xe4\\u2192\n")
    assert Printed(1, '"→"\n', "→").encode("ascii", as_json=True) == (1, b"\\u2192", b'"\\u2192"\n')
    assert Printed(0, "→", "→").encode("none such", as_json=False) == (0, b"\\u2192", b"\\u2192")


def test_a_list_behind_a_colon_is_printed() -> None:
    error = AmbiguousNodeError('find role "link"', 5, ['link "One"', 'link "Two"'])
    failure = Failure(
        kind="ambiguousNode", message=str(error), hint="Use more specific criteria.", retryable=False
    )
    printed = print_response(ActResponse(kind="click", ok=False, error=failure), as_json=False)
    assert '(from 0): link "One", link "Two", and 3 more\n' in printed.err
