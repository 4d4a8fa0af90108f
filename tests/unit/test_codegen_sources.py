"""The sources of generated programs: descriptions of elements, step traces and cache entries."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cdpengine import act
from cdpengine.cache.entries import (
    FramePlace,
    PostCondition,
    Step,
    StepGroup,
    Target,
    Viewport,
    make_entry,
    make_key,
)
from cdpengine.codegen.from_entry import steps_of_entry
from cdpengine.codegen.from_trace import steps_of_trace
from cdpengine.codegen.queries import query_of_description, query_of_selector
from cdpengine.codegen.recorded import (
    Assertion,
    Check,
    Click,
    DialogAnswer,
    ElementQuery,
    Fill,
    Goto,
    OpenPage,
    Press,
    RecordedStep,
    Select,
    TypeText,
    Upload,
)
from cdpengine.debug.steps.reading import StepTrace


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('e4 checkbox "Gift"', ElementQuery(role="checkbox", name="Gift", exact=True)),
        (
            'e13 button "Say \\"no\\"" (nth=1)',
            ElementQuery(role="button", name='Say "no"', exact=True, nth=1),
        ),
        ('e1 link "A long name\u2026"', ElementQuery(role="link", name="A long name")),
        ('e11 generic "Plain" (nth=1)', ElementQuery(text="Plain", exact=True, nth=1)),
        ("e5 textbox", ElementQuery(role="textbox", exact=True)),
        ('button "5 $"', ElementQuery(role="button", name="5 $$")),
        ("label 'Name'", ElementQuery(label="Name")),
        ("test id 'q' (nth=-1)", ElementQuery(test_id="q", nth=-1)),
        ("css '#p'", ElementQuery(css="#p")),
        ("button with exactly the text 'Go'", ElementQuery(role="button", text="Go", exact=True)),
        ("select#size", ElementQuery(css="select#size")),
        ("div#d 'plain div'", ElementQuery(css="div#d")),
        (f"css {'x' * 80!r}", None),
        ('button "A" inside list', None),
        ("li", None),
        ("nonsense", None),
    ],
)
def test_descriptions_of_elements(text: str, query: ElementQuery | None) -> None:
    assert query_of_description(text) == query


@pytest.mark.parametrize(
    ("selector", "query"),
    [
        ('role=button[name="5 $"]', ElementQuery(role="button", name="5 $$")),
        ("#a > b", ElementQuery(css="#a > b")),
        ('label="A" >> nth=1', ElementQuery(label="A", exact=True, nth=1)),
        ("alt=A", None),
        ("role=[", None),
    ],
)
def test_selectors_of_requests(selector: str, query: ElementQuery | None) -> None:
    assert query_of_selector(selector) == query


class _Trace:
    """The lines of a trace."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def add(self, verb: str, *nodes: str, page: int = 1, at: str = "", **arguments: str) -> dict[str, Any]:
        number = sum(line["k"] == "step" for line in self.lines) + 1
        names = ["target"] if verb not in ("fill", "fill_form") or "fields" not in arguments else []
        names += [f"field {place}" for place in range(1, len(nodes) + 1)]
        step = {
            "k": "step",
            "n": number,
            "page": page,
            "verb": verb,
            "read": False,
            "url": at,
            "args": arguments,
        }
        end: dict[str, Any] = {"k": "end", "n": number, "error": None, "outcome": None}
        found = [
            {"k": "node", "n": number, "arg": arg, "name": name}
            for arg, name in zip(names, nodes, strict=False)
        ]
        self.lines += [step, end, *found]
        return end

    def steps(self, notes: list[str]) -> list[RecordedStep]:
        content = b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)
        trace = StepTrace(Path("a.zip"), {}, complete=True, entries={"steps/1": (0, content)})
        return steps_of_trace(trace, notes)


def test_a_step_trace() -> None:
    name, box = ElementQuery(label="Name"), ElementQuery(role="checkbox", name="Gift", exact=True)
    trace, notes = _Trace(), list[str]()
    trace.add("fill", target="label 'Name'", value="[redacted]", at="https://shop.example/$")
    trace.add("type", target="label 'Name'", text="[redacted]")
    trace.add("check", 'e4 checkbox "Gift"', ref="e4")
    trace.add("uncheck", 'e4 checkbox "Gift"', target="e4")
    trace.add("select", target="css '#size'", values="('L',)")
    trace.add("upload", target="css '#file'", paths="[redacted]")
    trace.add("type", selector="label=Name", text="a$", submit="True")
    trace.add("fill", 'e1 textbox "Name"', 'e4 checkbox "Gift"', fields="[redacted]")
    trace.add("press", key="[redacted]")
    trace.add("click", target="button")["error"] = {"kind": "TimeoutError"}
    trace.add("click", 'button "A" inside list', target="list that has button")
    trace.add("evaluate", expression="[withheld]")
    trace.lines.append({"k": "page", "page": 2, "target": "T"})
    trace.add("click", target='link "Open"', count="2")["outcome"] = {"popup": {"target_id": "T"}}
    trace.add("press", key="Enter", page=2)
    trace.add("goto", url="https://a.example/", page=5)
    text = ElementQuery(role="textbox", name="Name", exact=True)
    assert trace.steps(notes) == [
        RecordedStep(Goto("https://shop.example/$$")),
        RecordedStep(Fill(name, "${name}")),
        RecordedStep(TypeText(name, "${name}")),
        RecordedStep(Check(box)),
        RecordedStep(Check(box, False)),
        RecordedStep(Select(ElementQuery(css="#size"), ("L",))),
        RecordedStep(Upload(ElementQuery(css="#file"), ("${file}",))),
        RecordedStep(TypeText(name, "a$$")),
        RecordedStep(Press("Enter", name)),
        RecordedStep(Fill(text, "${name_2}")),
        RecordedStep(Check(box)),
        RecordedStep(Click(ElementQuery(role="link", name="Open"), count=2), opens=2),
        RecordedStep(Press("Enter"), page=2),
        RecordedStep(OpenPage(), page=3),
        RecordedStep(Goto("https://a.example/"), page=3),
    ]
    assert [note.partition(":")[0] for note in notes] == [
        "step 9, press", "step 10, click", "step 11, click", "step 12, evaluate",
    ]  # fmt: skip


def test_a_step_trace_has_the_fields_and_the_answers_of_its_program() -> None:
    trace, notes = _Trace(), list[str]()
    trace.add("fill", "input", "input", fields="[redacted]", at="https://shop.example/")
    trace.lines[-2].update(selector="label=Email")
    trace.lines[-1].update(locator="label 'Password'")
    trace.add("dialog", accept="True")
    order, save, name = (ElementQuery(role="button", name=each) for each in ("Order", "Save", "Name"))
    confirmed = trace.add("click", target='button "Order"')
    confirmed["outcome"] = {"dialogs": ["confirm: Sure?"], "answers": ["accepted"]}
    refused = trace.add("click", target='button "Save"')
    refused["outcome"] = {"dialogs": ["confirm: Sure?"], "answers": ["dismissed"]}
    prompted = trace.add("click", target='button "Name"')
    prompted["outcome"] = {"dialogs": ["prompt: Name?"], "answers": ["accepted"]}
    assert trace.steps(notes)[1:] == [
        RecordedStep(Fill(ElementQuery(label="Email"), "${email}")),
        RecordedStep(Fill(ElementQuery(label="Password"), "${password}")),
        RecordedStep(Click(order), dialog=DialogAnswer(True)),
        RecordedStep(Click(save)),
        RecordedStep(Click(name), dialog=DialogAnswer(True, "${answer}")),
    ]
    assert notes == []


NAME = Target(role="textbox", name="Name")
INNER = FramePlace(name="Inner", address="https://shop.example/inner")
DELETE = Target(role="button", name="Delete", nth=1, alike=2, frames=(INNER,))


def test_a_cache_entry() -> None:
    steps: list[Step | StepGroup] = [
        Step(request=act.Fill(fields=(act.FormField(ref="t1", value="${user}"),)), targets={"t1": NAME}),
        StepGroup(steps=(Step(request=act.Dialog(accept=True, prompt_text="a")),)),
        Step(
            request=act.Click(ref="t1"),
            targets={"t1": DELETE},
            after=PostCondition(url="https://shop.example/b", text="Gone", shown=NAME),
        ),
        Step(request=act.Type(ref="t1", text="b", submit=True), targets={"t1": NAME}),
        Step(request=act.Scroll(dy=10)),
        Step(request=act.FileChooser(paths=("a",))),
    ]
    key = make_key("remove", "https://shop.example/a", Viewport(width=9, height=9), ["user"])
    notes: list[str] = []
    name = ElementQuery(role="textbox", name="Name", exact=True)
    delete = ElementQuery(role="button", name="Delete", exact=True, nth=1, frame=INNER.address)
    entry = make_entry(key, steps, now=1)
    expected = [
        RecordedStep(Goto("https://shop.example/a")),
        RecordedStep(Fill(name, "${user}")),
        RecordedStep(Click(delete), dialog=DialogAnswer(True, "a")),
        RecordedStep(TypeText(name, "b")),
        RecordedStep(Press("Enter", name)),
    ]
    assert steps_of_entry(entry, notes) == expected
    assert notes == ["step 6: no program has the request fileChooser"]
    shown = [
        Assertion("url", None, "https://shop.example/b"),
        Assertion("visible", ElementQuery(text="Gone", nth=0)),
        Assertion("visible", name),
    ]
    assert steps_of_entry(entry, [], asserts=True) == [
        *expected[:3], *map(RecordedStep, shown), *expected[3:]
    ]  # fmt: skip


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cdpengine.cli.commands import run_command

    def status(*arguments: str) -> int | str | None:
        with pytest.raises(SystemExit) as ended:
            run_command(["codegen", *arguments])
        return ended.value.code

    assert status("https://a.example/", "--entry", "x") == 2
    (tmp_path / "a.zip").write_bytes(b"PK")
    assert status("--from", str(tmp_path / "a.zip")) == 1
    assert "not a step trace" in capsys.readouterr().err
    if sys.platform == "linux":
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        assert status("https://a.example/") == 2
        assert "pass --endpoint" in " ".join(capsys.readouterr().err.split())
