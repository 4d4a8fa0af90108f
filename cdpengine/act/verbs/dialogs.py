"""Verbs about dialogs, file choosers and downloads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine.act.fields import field
from cdpengine.act.notations import MAYBE_TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import LONG, ActRequest, ElementRequest
from cdpengine.act.response import describe_url, file_lines
from cdpengine.errors import DeadlineExceededError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class Dialog(ActRequest):
    """Set the answer to the page's next JavaScript dialog, before the action that opens it.

    It is valid for `timeoutMs`. Without it, dialogs are dismissed and alerts accepted.
    """

    kind = "dialog"
    timing = LONG
    tool = ToolForm(
        meaning="Set the answer to the next dialog, before the action that opens it.", fields=("promptText",)
    )
    commands = (
        CommandForm(
            meaning=(
                "Set the answer to the page's next dialog, before the action that opens it: accept or dismiss."
            ),
            places=(Place("ANSWER", "accept"), Place("TEXT", "prompt_text", needed=False)),
            example="dialog accept",
        ),
    )

    accept: bool = field("OK or Cancel.")
    prompt_text: str | None = field("The text for a prompt.", None, secret=True)

    async def run(self, performance: Performance) -> None:
        async def answer(expected: trio.Event) -> None:
            # A timeout is no error here: no caller waits for the dialog.
            expecting = performance.page.expect_dialog(
                accept=self.accept, text=self.prompt_text, timeout=performance.left
            )
            try:
                async with expecting:
                    expected.set()
            except DeadlineExceededError:
                return

        await performance.actor.arm(answer, performance.left)


@attrs.frozen(kw_only=True)
class FileChooser(ActRequest):
    """Set the files for the page's next file chooser, before the action that opens it.

    They are valid for `timeoutMs`.
    """

    kind = "fileChooser"
    timing = LONG
    tool = ToolForm(meaning="Set the files for the next file chooser.", capability="files")
    commands = (CommandForm(places=(Place("FILE", "paths", many=True),)),)

    paths: tuple[str, ...] = field("Files of this machine.", least=1, most=1000, file=True)

    async def run(self, performance: Performance) -> None:
        async def answer(expected: trio.Event) -> None:
            try:
                async with performance.page.expect_file_chooser(timeout=performance.left) as chooser:
                    expected.set()
                    with trio.move_on_after(performance.left):
                        await chooser.set_files(*self.paths, timeout=performance.left)
            except DeadlineExceededError:
                return

        await performance.actor.arm(answer, performance.left)


@attrs.frozen(kw_only=True)
class Download(ElementRequest):
    """Click an element and wait for its whole download; without an element, wait for the next download."""

    kind = "download"
    timing = LONG
    needs_element = False
    tool = ToolForm(
        meaning="Click an element and wait for its download.", fields=("ref",), capability="files"
    )
    commands = (
        CommandForm(
            meaning="Click an element and wait for the download that it begins.",
            places=(MAYBE_TARGET,),
            example="download e9 --directory .",
        ),
    )

    directory: str | None = field(
        "The folder for the file; without, a private temporary folder.", None, file=True
    )

    async def run(self, performance: Performance) -> dict[str, Any]:
        target = await performance.find_optional(self.ref, self.selector)
        async with performance.page.expect_download(self.directory, timeout=performance.left) as expected:
            if target is not None:
                performance.report(
                    await performance.page.click(
                        target, heal=self.heal, refuse_renamed=True, timeout=performance.left
                    )
                )
        download = expected.value
        path = await download.wait(timeout=performance.left)
        return {
            "path": str(path),
            "url": describe_url(download.url),
            "suggestedFilename": download.suggested_filename,
            "bytes": download.received,
        }

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return file_lines(result)
