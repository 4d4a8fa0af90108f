"""Downloads and waits against a browser that reports events late, twice, out of order, or not at all."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._launch.owned_folder import DOWNLOADS_PREFIX, OwnedFolder
from cdpengine._launch.sweeping import sweep_folder
from cdpengine.testing import SILENCE, Refusal, Request, walk_cancellations
from cdpengine.testing.peer import Answer

GUID = "0a1b2c3d-0000-4000-8000-000000000001"


def begin(peer: ScriptedBrowser, guid: str = GUID, frame: str = "T1", name: str = "x.txt") -> None:
    params = {"frameId": frame, "guid": guid, "url": "https://a.example/x", "suggestedFilename": name}
    peer.tell("Browser.downloadWillBegin", params)


def progress(peer: ScriptedBrowser, state: str, received: int = 0, guid: str = GUID, **more: object) -> None:
    params = {"guid": guid, "receivedBytes": received, "totalBytes": 10, "state": state, **more}
    peer.tell("Browser.downloadProgress", params)


def behaviors(peer: ScriptedBrowser) -> list[str]:
    return [
        request.params["behavior"]
        for request in peer.received
        if request.method == "Browser.setDownloadBehavior"
    ]


# --- downloads -----------------------------------------------------------------------------------------------


async def test_a_file_is_returned_once_it_is_at_its_destination(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    async with page.expect_download(tmp_path) as expected:
        begin(scripted, name="../x.txt")
        progress(scripted, "inProgress", 5)
    download = expected.value
    await quiet()
    assert (download.state, download.received, download.total, download.path) == ("running", 5, 10, None)
    (tmp_path / GUID).write_text("0123456789")
    progress(scripted, "completed", 10, filePath="/etc/passwd")
    assert await download.wait(timeout=5) == tmp_path.resolve() / "_x.txt"
    assert [path.name for path in tmp_path.iterdir()] == ["_x.txt"]
    assert behaviors(scripted) == ["allowAndName", "default"]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


async def expect_and_finish(
    page: cdpengine.Page, peer: ScriptedBrowser, guid: str, name: str
) -> cdpengine.Download:
    async with page.expect_download() as expected:
        begin(peer, guid, name=name)
    staging = expected.value._record.staging
    assert staging is not None
    staging.write_text("0123456789")
    progress(peer, "completed", 10, guid)
    while not expected.value.ended:
        await trio.testing.wait_all_tasks_blocked(0.005)
    return expected.value


async def test_without_a_directory_a_file_is_kept_until_the_browser_ends(
    scripted: ScriptedBrowser, temporary: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An expected file is removed silently.

    An unexpected one is named in the log. No file replaces another.
    """
    names = ["x.txt", "x.txt", "cdpengine-owner", "forgotten.txt"]
    async with scripted.engine() as browser:
        page = await browser.new_page()
        assert list(temporary.iterdir()) == [], "the folder is created with its first file"
        downloads = [
            await expect_and_finish(page, scripted, f"{GUID[:-1]}{number}", name)
            for number, name in enumerate(names)
        ]
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        paths = [await downloads[0].wait(), downloads[1].path, downloads[2].path]
        assert [path.name for path in paths if path] == ["x.txt", "x (1).txt", "cdpengine-owner"]
        assert all(path and path.read_text() == "0123456789" and folder in path.parents for path in paths)
        assert caplog.text == ""
    assert list(temporary.iterdir()) == []
    assert caplog.text.count("its path was never requested") == 1


async def test_kept_files_are_removed_for_every_end_of_the_browser(
    scripted: ScriptedBrowser, temporary: Path
) -> None:
    with pytest.raises(KeyError):
        async with scripted.engine() as browser:
            page = await browser.new_page()
            await expect_and_finish(page, scripted, GUID, "x.txt")
            raise KeyError
    assert list(temporary.iterdir()) == []


async def test_no_folder_can_be_created(
    page: cdpengine.Page, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "nowhere"))
    with pytest.raises(
        cdpengine.errors.InvalidArgumentError,
        match=r"no temporary folder can be made \(.*expected a directory",
    ):
        async with page.expect_download():
            pytest.fail("entered")


async def test_files_of_a_killed_program_are_removed_by_the_next_one(temporary: Path) -> None:
    folder = OwnedFolder.make(DOWNLOADS_PREFIX)
    (folder.path / "files").mkdir()
    (folder.path / "files/x.txt").write_text("x")
    assert sweep_folder(temporary, lambda _seconds: False) == 0, "its owner lives"
    folder.release()  # as the system does when its owner dies
    assert sweep_folder(temporary, lambda _seconds: False) == 1
    assert list(temporary.iterdir()) == []


async def test_events_in_a_wrong_order_and_twice(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    (tmp_path / GUID).write_text("x")
    async with page.expect_download(tmp_path) as expected:
        progress(scripted, "inProgress", 3)
        progress(scripted, "completed", 10)
        await quiet()
        begin(scripted)
        begin(scripted)
        progress(scripted, "canceled")
    assert (await expected.value.wait(timeout=5)).name == "x.txt"
    begin(scripted, guid="../../etc/passwd")
    scripted.tell("Browser.downloadProgress", {"guid": 5})
    scripted.tell("Browser.downloadWillBegin", {"nothing": "here"})
    await quiet()
    assert [download.guid for download in browser.downloads] == [GUID], "two reports of one download"


async def test_the_file_is_missing_where_chrome_reports_it(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    async with page.expect_download(tmp_path) as expected:
        begin(scripted)
        progress(scripted, "completed", 10)
    with pytest.raises(
        cdpengine.errors.DownloadFailedError, match="could not be moved to its place: No such file"
    ):
        await expected.value.wait(timeout=5)


async def test_whose_download_it_is(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    other = await browser.new_page()
    async with page.expect_download(tmp_path) as expected:
        begin(scripted, "other", other.target_id)
        begin(scripted, "nobodys", "T77")
        scripted.tell(
            "Target.targetCreated", {"targetInfo": {"targetId": "T9", "type": "page", "openerId": "T1"}}
        )
        scripted.tell("Target.targetDestroyed", {"targetId": "T9"})
        begin(scripted, "own", "T9")
        begin(scripted, "second", "T1")
    assert expected.value.guid == "own", "a popup's, though the popup is gone"
    await quiet()
    cancelled = [
        request.params["guid"] for request in scripted.received if request.method == "Browser.cancelDownload"
    ]
    assert cancelled == ["other", "second"]
    for guid in cancelled:
        progress(scripted, "canceled", guid=guid)
    for download in browser.downloads:
        if download.guid in cancelled:
            with pytest.raises(cdpengine.errors.DownloadFailedError):
                await download.wait(timeout=5)  # reported after a thread has searched for the file
    states = {download.guid: download.state for download in browser.downloads}
    assert states == {"other": "refused", "nobodys": "running", "own": "running", "second": "refused"}


async def test_a_refused_download_that_finished_first_leaves_no_file(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    other = await browser.new_page()
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="1 others began"):
        async with page.expect_download(tmp_path, timeout=0.2):
            begin(scripted, frame=other.target_id)
            (tmp_path / GUID).write_text("whole")
            progress(scripted, "completed", 10)
            await browser.session.call("Browser.getVersion")  # everything before its answer has arrived
    (download,) = browser.downloads
    with pytest.raises(cdpengine.errors.DownloadFailedError, match="it was not expected"):
        await download.wait(timeout=5)
    assert list(tmp_path.iterdir()) == []


async def test_a_download_that_began_as_the_expectation_ended_leaves_no_file(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    browser.internals.downloads.refuse()
    async with page.expect_download(tmp_path) as expected:
        begin(scripted)
        (tmp_path / GUID).write_text("0123456789")
        progress(scripted, "completed", 10)
    assert await expected.value.wait(timeout=5) == tmp_path.resolve() / "x.txt"
    await quiet()  # the end of the block sends the last of these without waiting
    assert behaviors(scripted) == ["deny", "allowAndName", "deny"]
    # Chrome started it before it received the command, and reports it afterwards.
    begin(scripted, guid="second")
    (tmp_path / "second").write_text("whole")
    progress(scripted, "completed", 10, guid="second")
    await scripted.wait_for("Browser.cancelDownload")
    late = browser.downloads[-1]
    with pytest.raises(cdpengine.errors.DownloadFailedError, match="it was not expected"):
        await late.wait(timeout=5)
    assert late.state == "refused"
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]


@pytest.mark.parametrize("answer", [Refusal(-32000, "Not supported"), SILENCE])
async def test_chrome_does_not_allow_it(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path, answer: Answer
) -> None:
    scripted.on("Browser.setDownloadBehavior", answer)
    if answer is SILENCE:

        async def end_once_asked() -> None:
            await scripted.wait_for("Browser.setDownloadBehavior")
            scope.cancel()

        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(end_once_asked)
                async with page.expect_download(tmp_path):
                    raise AssertionError
        assert scope.cancelled_caught
    else:
        with pytest.raises(cdpengine.errors.RemoteError, match="Not supported"):
            async with page.expect_download(tmp_path):
                raise AssertionError
    await quiet()
    assert behaviors(scripted) == ["allowAndName", "default"]


async def test_a_pattern_without_a_host_is_explained(page: cdpengine.Page, autojump_clock: MockClock) -> None:
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match=r"the whole URL: \*/account"):
        await page.wait_for(url="/account", timeout=1)


async def test_the_answer_to_a_prompt_needs_an_accepted_dialog(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="accept: got False with `text`"):
        async with page.expect_dialog(accept=False, text="Ada"):
            pass


async def test_the_page_closes_during_an_expectation(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    with pytest.raises(cdpengine.errors.SessionGoneError):
        async with page.expect_download(tmp_path):
            scripted.vanish("T1")
    with pytest.raises(cdpengine.errors.SessionGoneError):
        async with page.expect_dialog():
            pass
    await quiet()
    assert scripted.count("Browser.cancelDownload") == 0
    assert behaviors(scripted) == ["allowAndName", "default"]


async def test_the_connection_ends_during_a_download(scripted: ScriptedBrowser, tmp_path: Path) -> None:
    async with scripted.engine() as browser:
        page = await browser.new_page()
        async with page.expect_download(tmp_path) as expected:
            begin(scripted)
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                with pytest.raises(cdpengine.errors.ConnectionLostError):
                    await expected.value.wait(timeout=60)

            nursery.start_soon(wait)
            await quiet()
            scripted.links[0].drop()
        with pytest.raises(cdpengine.errors.ConnectionLostError):
            async for _progress in expected.value.progresses():
                pass


async def test_chrome_never_confirms_a_cancellation(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    async with page.expect_download(tmp_path) as expected:
        begin(scripted)
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await expected.value.cancel(timeout=0.05)
    started = trio.current_time()
    with pytest.raises(ZeroDivisionError):
        async with page.expect_download(tmp_path):
            begin(scripted, guid="second")
            await quiet()
            raise ZeroDivisionError
    assert trio.current_time() - started < 5, "the block's own error is not held up for long"


# --- waits ---------------------------------------------------------------------------------------------------


def watching(scripted: ScriptedBrowser, reports: list[Any]) -> None:
    """A page whose observer sends these reports in order, then none."""

    def called(request: Request) -> Answer:
        source = request.params["functionDeclaration"]
        if "this.next" in source or "this.now" in source:
            if not reports:
                return SILENCE
            report = reports[0] if len(reports) == 1 or "this.now" in source else reports.pop(0)
            if isinstance(report, Refusal):
                return report
            if "this.next" in source and request.params["arguments"][0].get("value") == report["key"]:
                return SILENCE
            return {"result": {"type": "object", "value": report}}
        return {"result": {"type": "object", "objectId": "W1"}}

    scripted.on("Runtime.callFunctionOn", called)


def report(*holds: bool) -> dict[str, Any]:
    words = ["seen" for _ in holds]
    return {
        "key": ",".join(map(str, holds)),
        "holds": list(holds),
        "observed": words,
        "texts": words,
        "invalid": "",
    }


async def test_a_new_document_gets_a_new_observer(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    reports: list[Any] = [
        report(False),
        Refusal(-32000, "Execution context was destroyed."),
        Refusal(-32000, "Promise was collected"),
        report(True),
    ]
    watching(scripted, reports)
    with trio.fail_after(5):
        await page.wait_for(text="x")
    await quiet()
    assert scripted.count("Page.createIsolatedWorld") == 3


async def test_a_silent_observer(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    watching(scripted, [])
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="a document did not answer"):
        await page.wait_for(text="x", timeout=1)
    assert trio.current_time() - started < 1.15
    watching(scripted, [report(False)])
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="text 'x': seen was 'seen'"):
        await page.wait_for(text="x", timeout=1)
    await quiet()  # until sent messages have arrived
    stops = [r for r in scripted.received if "this.stop" in r.params.get("functionDeclaration", "")]
    assert len(stops) == 2, "each observer that was made was stopped"


@pytest.mark.parametrize(
    "conditions", [{"text": "x"}, {"url": "never"}, {"seconds": 60}, {"network_idle": 1}]
)
async def test_the_page_closes_during_a_wait(
    page: cdpengine.Page, scripted: ScriptedBrowser, conditions: dict[str, Any]
) -> None:
    watching(scripted, [report(False)])
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            with pytest.raises(cdpengine.errors.SessionGoneError):
                await page.wait_for(**conditions)

        nursery.start_soon(wait)
        await quiet()
        scripted.vanish("T1")


async def test_a_crash_under_a_wait(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    watching(scripted, [report(False)])
    async with trio.open_nursery() as nursery:

        async def wait() -> None:
            with pytest.raises(cdpengine.errors.TargetCrashedError):
                await page.wait_for(text="x")

        nursery.start_soon(wait)
        await quiet()
        scripted.page_event("Inspector.targetCrashed", {})


async def test_a_load_that_is_reported_out_of_order(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    done = trio.Event()

    async def wait() -> None:
        await page.wait_for(url="*/next", load_state="load", timeout=5)
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await quiet()
        early = {"frameId": "T1", "loaderId": "T1.2", "name": "load"}
        scripted.page_event("Page.lifecycleEvent", early)
        await quiet()
        assert not done.is_set()
        scripted.commit("T1", "https://a.example/next", loaded=False)
        with trio.fail_after(1):
            await done.wait()


async def test_waits_cancelled_at_each_moment(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    watching(scripted, [report(True, True)])

    async def operation() -> None:
        await page.wait_for(text="x", css="y", url="about:*", seconds=0.0001)
        async with page.expect_download(tmp_path) as expected:
            begin(scripted)
        assert expected.value.guid == GUID
        progress(scripted, "canceled")

    async def check() -> None:
        progress(scripted, "canceled")
        await quiet()
        assert not page.session.feed._streams
        assert set(page.session.domains.users) == {"Page"}
        assert page.browser.internals.downloads._open == {}
        assert page.browser.internals.downloads._awaited == []
        wanted = behaviors(scripted)
        assert wanted.count("allowAndName") <= wanted.count("default")
        page.browser.internals.downloads.records.clear()

    with trio.fail_after(60):
        assert await walk_cancellations(operation, check, own_steps_only=True) > 5
