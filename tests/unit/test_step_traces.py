"""Step traces without a browser: the file, its reading after any end, its redaction, and its page."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cdpengine._page.announcing import ActionCall
from cdpengine.debug.recording.recording_file import create_recording
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.steps.descriptions import describe_call, describe_error, describe_outcome
from cdpengine.debug.steps.page_steps import GivenTexts
from cdpengine.debug.steps.reading import open_step_trace
from cdpengine.debug.steps.resources import urls_in
from cdpengine.debug.steps.step_file import StepFile, header_of
from cdpengine.debug.steps.view import page_of
from cdpengine.errors import FileUnreadableError, StaleRefError

STEP: dict[str, Any] = {
    "k": "step", "n": 1, "page": 1, "verb": "click", "t": 0.1, "read": False, "url": "https://shop.example/",
    "at": "shop.py:3", "args": {"target": "e1"}, "span": 7,
}  # fmt: skip
END: dict[str, Any] = {
    "k": "end", "n": 1, "t": 0.2, "error": None, "log": [[0.15, "the input was sent"]],
    "outcome": {"target": 'e1 button "Buy </script>"'}, "frame": "F", "timeout": 30,
}  # fmt: skip


def start(path: Path, *, limit: int = 10**8, redactor: Redactor | None = None) -> StepFile:
    file = StepFile(path, create_recording(path).descriptor, limit=limit, began=0, redactor=redactor)
    file.start(header_of(product="Chrome/156", redacted=redactor is not None, film=False, limit=limit))
    return file


def test_a_file_is_a_zip_archive_with_lines_and_entries(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = start(path)
    file.add(STEP)
    file.add_blob("pictures/1-1.jpg", b"\xff\xd8picture")
    file.add_raw("documents", b'{"k":"document","d":1,"v":0,"data":{}}')
    file.add_job(lambda: END)
    file.finish()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("pictures/1-1.jpg") == b"\xff\xd8picture"
    trace = open_step_trace(path)
    assert trace.complete
    assert trace.header["product"] == "Chrome/156"
    assert list(trace.lines("steps")) == [STEP, json.loads(json.dumps(END))]
    assert [line["d"] for line in trace.lines("documents")] == [1]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_without_an_end_is_read_up_to_its_last_complete_entry(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = start(path)
    for number in range(3):
        file.add_blob(f"pictures/{number}", bytes(1000))
    file.finish()
    whole = path.read_bytes()
    at = whole.index(b"pictures/2")
    path.write_bytes(whole[: at + 500])
    trace = open_step_trace(path)
    assert not trace.complete
    assert trace.names == ["trace.json", "pictures/0", "pictures/1"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "a")
    (tmp_path / "text").write_text("text")
    for path in (other, tmp_path / "text", tmp_path / "none"):
        with pytest.raises(FileUnreadableError):
            open_step_trace(path)


def test_an_archive_that_was_packed_again_is_read(tmp_path: Path) -> None:
    path, again = tmp_path / "a.zip", tmp_path / "b.zip"
    file = start(path)
    file.add(STEP)
    file.finish()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(again, "w", zipfile.ZIP_BZIP2) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert list(open_step_trace(again).lines("steps")) == [STEP]


def test_a_full_file_has_all_steps_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = start(path, limit=5_000)
    for number in range(10):
        file.add({**STEP, "n": number})
        file.add_blob(f"pictures/{number}", bytes(1_000))
    file.finish()
    trace = open_step_trace(path)
    assert len(list(trace.lines("steps"))) == 10
    assert sum(name.startswith("pictures/") for name in trace.names) == 5
    assert json.loads(trace.read("end.json"))["omitted"] == 5


def test_the_queue_of_a_slow_disk_is_bounded_and_counts_its_losses(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = StepFile(path, create_recording(path).descriptor, limit=10**9, began=0, redactor=None)
    for number in range(100):  # the thread has not started
        file.add_blob(f"pictures/{number}", bytes(1_000_000))
    assert 30 < file.lost < 40
    file.start(header_of(product="Chrome/156", redacted=False, film=False, limit=10**9))
    file.finish()
    trace = open_step_trace(path)
    assert json.loads(trace.read("end.json"))["lost"] == file.lost
    assert sum(name.startswith("pictures/") for name in trace.names) == 100 - file.lost


def test_secrets_are_in_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = start(path, redactor=Redactor())
    file.add_secret("correct horse battery")
    file.add_raw("documents", b'{"k":"document","data":{"whole":[1,"#","my correct horse battery <b>"]}}')
    file.add({**STEP, "args": {"text": "say correct horse battery"}})
    file.add({**STEP, "url": "https://shop.example/?access_token=abcdef0123456789abcdef"})
    file.finish()
    trace = open_step_trace(path)
    everything = b"".join(trace.read(name) for name in trace.names).decode()
    assert "correct horse" not in everything
    assert "abcdef0123456789" not in everything
    assert next(trace.lines("documents"))["data"]["whole"][2] == "my [redacted] <b>"


def test_entered_strings_and_scripts_are_not_described() -> None:
    typed = ActionCall("type", {"target": "e1", "text": "hunter2", "timeout": 30, "heal": False})
    assert describe_call(typed, redacted=True, keep_arguments=False) == {"target": "e1", "text": "[redacted]"}
    assert describe_call(typed, redacted=False, keep_arguments=False)["text"] == "hunter2"
    script = ActionCall("evaluate", {"expression_or_function": "secret()"}, outcome="value")
    assert describe_call(script, redacted=True, keep_arguments=False) == {
        "expression_or_function": "[withheld]"
    }
    assert describe_outcome(script, redacted=True, keep_arguments=False) == "[withheld]"
    assert describe_outcome(script, redacted=True, keep_arguments=True) == "value"
    error = StaleRefError(ref="e1", description="button", reason="it is gone", became="removed")
    assert describe_error(error)["kind"] == "StaleRefError"
    assert describe_error(KeyError("a value"))["message"] == ""


def test_a_snapshot_is_stored_as_its_difference() -> None:
    texts = GivenTexts()
    lines = [f"- row {number}" for number in range(100)]
    assert len(texts.delta(1, "\n".join(lines))["text"]) == 100
    lines[50] = "- another"
    assert texts.delta(2, "\n".join(lines)) == {"base": 1, "head": 50, "tail": 49, "text": ["- another"]}
    assert texts.delta(3, "\n".join(lines)) == {"base": 2, "head": 100, "tail": 0, "text": []}
    assert texts.delta(4, "\n".join(lines[:10])) == {"base": 3, "head": 10, "tail": 0, "text": []}


def test_the_urls_in_a_style_sheet() -> None:
    css = "@import 'more.css'; a { background: url(\"/dot.png\") } b { background: url(x.png) }"
    base = "https://shop.example/css/site.css"
    assert urls_in(css, base) == [
        "https://shop.example/css/more.css", "https://shop.example/dot.png", "https://shop.example/css/x.png",
    ]  # fmt: skip


def test_the_page_has_all_data_and_its_policy_allows_one_script(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    file = start(path)
    for line in (STEP, {"k": "state", "n": 1, "when": "before", "frames": [["F", 1, 0, ""]]}, END):
        file.add(line)
    file.add_raw("documents", b'{"k":"document","d":1,"v":0,"data":{"whole":[1,"#document",0,0]}}')
    file.add_raw("protocol", b'{"k":"call","t":0.15,"span":7,"id":1,"m":"Page.enable","msg":{"id":1}}')
    file.finish()
    page = b"".join(page_of(open_step_trace(path))).decode()
    assert page.count("<script>") == 1
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "script-src 'sha256-" in policy[1]
    index = re.search(r'<script type="application/json" id="index">(.*?)</script>', page)
    assert index is not None
    step = json.loads(index[1])["steps"][0]
    assert step["outcome"]["target"] == 'e1 button "Buy </script>"'
    assert step["before"] == [["F", 1, 0, ""]]
    assert step["messages"] == 1
    packs = {
        name: json.loads(gzip.decompress(base64.b64decode(data)))
        for name, data in re.findall(r'data-kind="gzip" id="([^"]+)">([^<]*)</script>', page)
    }
    assert packs["document-1"][0]["whole"] == [1, "#document", 0, 0]
    assert packs["messages-0"]["1"][0]["m"] == "Page.enable"
