"""`page.accessibility_issues()`: axe-core in all frames of a page, with refs of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import InvalidArgumentError, InvalidStateError

GOOD = "<!doctype html><html lang=en><title>good</title><main><h1>Good</h1><p>text</p></main>"

BAD = """<!doctype html><html lang=en><title>bad</title><main><h1>Bad</h1>
<img src="data:," id=picture><button id=button></button><div id=host></div>
<iframe title=same src="/inner"></iframe><iframe title=other src="OTHER/inner"></iframe></main>
<script>host.attachShadow({mode: "open"}).innerHTML = "<button></button>"; seen = [];
addEventListener("message", (event) => seen.push(event.data));
new MutationObserver((records) => seen.push(records)).observe(document, {subtree: true, childList: true});</script>"""

INNER = (
    "<!doctype html><html lang=en><title>inner</title><input><iframe title=deep srcdoc='<input>'></iframe>"
)


def serve(server: HTTPServer) -> str:
    here = server.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
    other = here.replace("127.0.0.1", "localhost")
    for path, body in {"/good": GOOD, "/bad": BAD.replace("OTHER", other), "/inner": INNER}.items():
        server.expect_request(path).respond_with_data(body, content_type="text/html")
    server.expect_request("/favicon.ico").respond_with_data("", status=204)
    return here


async def test_refs_have_the_time_of_the_call(
    page: cdpengine.Page, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit for explanations of errors is too short for refs on a busy computer."""
    monkeypatch.setattr("cdpengine._api.page.targets._FATE_TIMEOUT", 1e-4)
    await page.goto(f"{serve(httpserver)}/bad")
    issues = await page.accessibility_issues(rules=["button-name", "image-alt"])
    assert len(issues) > 2
    assert all(issue.ref for issue in issues)


async def test_issues_of_all_frames_have_refs_of_their_elements(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    here = serve(httpserver)
    await page.goto(f"{here}/good")
    assert await page.accessibility_issues() == []
    await page.goto(f"{here}/bad")
    issues = await page.accessibility_issues(rules=["image-alt", "button-name", "label"])
    assert sorted(issue.rule for issue in issues) == ["button-name"] * 2 + ["image-alt"] + ["label"] * 4
    assert len({issue.ref for issue in issues}) == 7
    assert {issue.frame_id for issue in issues} == {frame.id for frame in page.frames}
    for issue in issues:
        tag = {"image-alt": "IMG", "button-name": "BUTTON", "label": "INPUT"}[issue.rule]
        assert await page.evaluate("(element) => element.tagName", page.locate(ref=issue.ref)) == tag
        assert issue.impact == "critical"
        assert issue.help_url.startswith("https://dequeuniversity.com/")
        assert issue.summary.startswith("Fix any of the following")
        assert issue.html.startswith(f"<{tag.lower()}")
        assert "wcag2a" in issue.tags
        assert issue.ref in str(issue)
    button = next(issue for issue in issues if 'id="button"' in issue.html)
    await page.click(button.ref)
    for issue in issues:
        if issue.rule == "label":
            await page.fill(issue.ref, "named")
            await page.evaluate(
                "(element) => element.setAttribute('aria-label', 'name')", page.locate(ref=issue.ref)
            )
    assert {issue.rule for issue in await page.accessibility_issues(rules=["label", "image-alt"])} == {
        "image-alt"
    }
    assert await page.evaluate("[typeof axe, seen.length]") == ["undefined", 0]


async def test_tags_rules_and_exceptions_restrict_the_check(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    await page.goto(f"{serve(httpserver)}/bad")
    everything = {issue.rule for issue in await page.accessibility_issues()}
    assert {"image-alt", "button-name", "label"} <= everything
    some = {issue.rule for issue in await page.accessibility_issues(tags=["wcag2a"], without=["label"])}
    assert {"image-alt", "button-name"} <= some
    assert "label" not in some
    for options in ({"rules": ["no-rule"]}, {"tags": ["no-tag"]}, {"without": ["no-rule"]}, {"rules": "label"},
                    {"rules": ["label"], "tags": ["wcag2a"]}):  # fmt: skip
        with pytest.raises(InvalidArgumentError):
            await page.accessibility_issues(**options)


async def test_the_file_of_axe_is_found_and_named_if_it_is_missing(
    page: cdpengine.Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await page.set_content(GOOD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(InvalidStateError, match="npm install axe-core"):
        await page.accessibility_issues()
    own = tmp_path / "node_modules" / "axe-core"
    own.mkdir(parents=True)
    (own / "axe.min.js").write_text("window.axe = {version: '3.0'}", "utf-8")
    with pytest.raises(InvalidArgumentError, match=r"4\.3 or newer"):
        await page.accessibility_issues()
    with pytest.raises(InvalidArgumentError, match="readable file"):
        await page.accessibility_issues(axe=tmp_path / "missing.js")


async def test_a_cancelled_check_leaves_a_page_that_can_be_checked(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    await page.goto(f"{serve(httpserver)}/bad")
    for seconds in (0, 0.002, 0.01, 0.05):
        with trio.move_on_after(seconds):
            await page.accessibility_issues()
    with trio.fail_after(30):
        assert len(await page.accessibility_issues(rules=["image-alt"])) == 1


async def test_a_ref_of_an_element_in_a_frame_of_the_same_origin_names_that_frame(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    await page.goto(f"{serve(httpserver)}/inner")
    ref = await page.locate(css="input", frame=page.frames[1]).ref()
    assert ref.frame_id == page.frames[1].id
    await page.fill(ref, "named")
    assert await page.evaluate("document.querySelector('input').value", frame=page.frames[1]) == "named"
