"""ExpectedFileChooser: the file chooser that one waits for, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import attrs

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.forms.upload import UploadFile, upload
from cdpengine._page.file_choosers import AwaitedChooser, FileChooser, OpenedChooser
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine.errors import InvalidArgumentError, NotInteractableError


@attrs.frozen(eq=False)
class ExpectedFileChooser:
    """What `page.expect_file_chooser()` gives: the next file chooser of the page, once it has opened."""

    _page: PageTarget
    _awaited: AwaitedChooser
    _act: Callable[[str, float], AbstractAsyncContextManager[ActionContext]]

    @property
    def value(self) -> FileChooser:
        """The file chooser. Raises InvalidArgumentError while none has opened: ask after the block."""
        if self._awaited.opened is None:
            raise InvalidArgumentError(
                what="value",
                given="asked for before a file chooser opened",
                expected="to be asked after the block",
            )
        return self._awaited.opened.record

    async def opened(self) -> OpenedChooser:
        """Wait until it has opened. Raises why the page ended."""
        return await self._page.wait_for(lambda: self._awaited.opened)

    async def set_files(self, *paths: UploadFile, timeout: float = 30) -> ActionOutcome:
        """Wait until the chooser has opened, and choose these files in it. Raises as `page.upload` does.

        The input need not be in a document: pages make one for the moment. NotInteractableError for a chooser
        without an input: Chrome has refused it to the page.
        """
        async with self._act("choose files", timeout) as context:
            opened = await self.opened()
            record = opened.record
            if record.backend_node_id is None:
                raise NotInteractableError(
                    action="choose files in",
                    target="the file chooser",
                    reason="a script opened it without an input of files; Chrome gives it no files",
                )
            node = Node(
                opened.session, record.backend_node_id, record.frame_id, "the input of the file chooser"
            )
            outcome = await upload(node, *paths, context=context, attached=False)
            opened.record = attrs.evolve(record, answer="files")
            return outcome
