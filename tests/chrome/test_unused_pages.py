"""Pages of another client in a connected browser: the engine leaves them alone until it must act on them."""

from __future__ import annotations

from bare_protocol import Bare, bare_connection

import cdpengine
from cdpengine._launch.endpoint import resolve_endpoint

PAGE = """data:text/html,<title>Owner</title><button onclick="window.answer = confirm(1)">Ask</button>
<input type=file oncancel="window.cancelled = true"><iframe srcdoc="<input type=file>"></iframe>"""

WORKER = "new Promise(r => { new Worker('data:text/javascript,postMessage(1)').onmessage = () => r('runs') })"


async def evaluate(bare: Bare, session: str, expression: str) -> object:
    reply = await bare.call(
        "Runtime.evaluate",
        session,
        expression=expression,
        returnByValue=True,
        awaitPromise=True,
        userGesture=True,
    )
    return reply["result"].get("value")


STATE = "[document.hasFocus(), document.visibilityState]"


async def test_engine_leaves_focus_alone_until_it_acts(shared_endpoint: str) -> None:
    async with bare_connection((await resolve_endpoint(shared_endpoint)).ws_url) as bare:
        target = (await bare.call("Target.createTarget", url=PAGE))["targetId"]
        above = (await bare.call("Target.createTarget", url="about:blank"))["targetId"]
        session = (await bare.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        alone = await evaluate(bare, session, STATE)
        assert alone == [False, "hidden"]
        async with cdpengine.connect(shared_endpoint) as browser:
            page = next(each for each in browser.pages if each.target_id == target)
            assert await page.title() == "Owner"
            assert not page.internals.target.running.used
            assert await evaluate(bare, session, WORKER) == "runs"
            assert await evaluate(bare, session, STATE) == alone
            await evaluate(bare, session, "setTimeout(() => { self.answer = confirm('Sure?') }), 1")
            dialogs = page.internals.target.dialogs
            await page.internals.target.changes.wait_for(lambda: dialogs.is_open)
            await browser.session.call("Browser.getVersion")
            assert [(each.accepted, each.answered_by) for each in page.dialogs.records] == [(None, "")]
            await page.snapshot()
            assert await evaluate(bare, session, "self.answer") is False
            assert [(each.accepted, each.answered_by) for each in page.dialogs.records] == [(False, "policy")]
            assert await evaluate(bare, session, STATE) == [True, "visible"]
        for each in (target, above):
            await bare.call("Target.closeTarget", targetId=each)


async def test_engine_leaves_dialogs_alone_until_it_acts() -> None:
    async with cdpengine.launch(debugging_port=0) as owner:
        assert owner.endpoint is not None
        mine = await owner.new_page(PAGE)
        button = await mine.find("button")
        async with cdpengine.connect(owner.endpoint) as browser:
            theirs = next(each for each in browser.pages if each.target_id == mine.target_id)
            for accept in (True, False, True):
                async with mine.expect_dialog(accept=accept):
                    await mine.click(button)
                assert await mine.evaluate("window.answer") is accept
            async with theirs.expect_dialog(accept=False) as seen, mine.expect_dialog(accept=True):
                await mine.click(button)
            answer = await mine.evaluate("window.answer")
            assert seen.value.accepted is answer
            assert (seen.value.answered_by, bool(seen.value.failure)) == (
                ("elsewhere", True) if answer else ("expectation", False)
            )
            assert [each.answered_by for each in theirs.dialogs.records][:3] == ["elsewhere"] * 3
