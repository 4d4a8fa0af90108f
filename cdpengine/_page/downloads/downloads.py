"""Downloads: all downloads of a browser, the places of expected files, and the refusal of unexpected ones.

Rule: a file is accepted only while a task expects one from its page, or while its context has a directory for all
downloads. In contexts of the engine every other download is refused, with a record. Chrome writes to a file named
by a GUID. Once complete, the file gets the name that the server suggested, made safe, in the given directory. An
abandoned download leaves no partial file.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.downloads.download import (
    DownloadFolder,
    DownloadRecord,
    in_context,
)
from cdpengine._page.downloads.file_names import place_file, safe_file_name
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.browser import DownloadProgressed, DownloadWillBegin
from cdpengine._protocol.domains.target import TargetCreated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, SessionGoneError, os_reason

logger = get_logger("cdpengine.browser")

MAX_RECORDS = 100
"""Maximum number of downloads whose record is kept."""

CANCEL_TIMEOUT = 1.0
"""Time in seconds for Chrome to confirm the end of a cancelled download."""

_MAX_EARLY_REPORTS = 100
"""Maximum number of early reports about downloads that Chrome has not announced yet."""

_MAX_OPENERS = 1000

_GUID = re.compile(r"[0-9A-Za-z-]{1,64}")


@attrs.define(eq=False)
class AwaitedDownload:
    """One expectation: the next download of `page`, or of its popups, is saved in `directory`."""

    page: PageTarget
    directory: Path
    record: DownloadRecord | None = None


@attrs.define(eq=False)
class _Open:
    """A context in which Chrome may write files to `directory` while `users` need it."""

    directory: Path
    users: int = 0


class Downloads:
    """The downloads of one browser, reported on its session. `pages` are the known pages."""

    def __init__(self, root: Session, pages: Mapping[str, PageTarget], nursery: trio.Nursery) -> None:
        self.records: deque[DownloadRecord] = deque(maxlen=MAX_RECORDS)
        self.changes = Notifier()
        self._root = root
        self._pages = pages
        self._nursery = nursery
        self._refused_contexts: set[str | None] = set()
        self._open: dict[str | None, _Open] = {}
        self._latest: dict[str | None, Path] = {}
        self._awaited: list[AwaitedDownload] = []
        self._running: dict[str, DownloadRecord] = {}
        self._early: dict[str, list[DownloadProgressed]] = {}
        self._openers: dict[str, str] = {}
        self._contexts: dict[str, str] = {}
        self._allowed: dict[str | None, list[Path]] = {}
        self._own_folder = DownloadFolder()
        self._listeners: list[Callable[[DownloadRecord], None]] = []
        root.on_event("Browser.downloadWillBegin", self._will_begin)
        root.on_event("Browser.downloadProgress", self._note_progress)
        root.on_event("Target.targetCreated", self._note_target)
        root.on_end(self.changes.notify)

    def refuse(self, context_id: str | None = None) -> None:
        """Refuse unexpected downloads in a context of the engine (None: the default one)."""
        self._refused_contexts.add(context_id)
        self._post_behavior(context_id)

    def forget_context(self, context_id: str) -> None:
        """Note that a context was disposed of."""
        self._refused_contexts.discard(context_id)
        self._allowed.pop(context_id, None)
        self._open.pop(context_id, None)
        self._latest.pop(context_id, None)

    async def close(self) -> None:
        """Cancel all running downloads and remove partial files and the temporary folder. Bounded and shielded."""
        await self._give_up_all()
        await self._own_folder.remove(self.records)

    async def _give_up_all(self, context_id: str | None = None) -> None:
        running = [
            download
            for download in self._running.values()
            if download.directory is not None and context_id in (None, download.context_id)
        ]
        for download in running:
            download.post_cancel()
        with trio.move_on_after(CANCEL_TIMEOUT, shield=True):
            for download in running:
                await self.changes.wait_for(lambda each=download: each.ended or self._root.ended)  # type: ignore[misc]

    @asynccontextmanager
    async def expecting(self, page: PageTarget, directory: Path) -> AsyncIterator[AwaitedDownload]:
        """Accept the next download of the page during the body, and refuse others again after it.

        A download that began continues after the body. If the body raised, it is cancelled. Raises
        InvalidArgumentError for an invalid directory, RemoteError if Chrome does not allow it.
        """
        directory = await _make_directory(directory)
        awaited = AwaitedDownload(page, directory)
        opened = self._open.setdefault(page.context_id, _Open(directory))
        opened.users += 1
        self._awaited.append(awaited)
        try:
            if opened.users == 1:
                await self._call_allow(page.context_id, directory)
            yield awaited
        except BaseException:
            if awaited.record is not None:
                await self._give_up(awaited.record)
            raise
        finally:
            self._awaited.remove(awaited)
            self._release(page.context_id)

    @asynccontextmanager
    async def following(
        self, context_id: str | None, listener: Callable[[DownloadRecord], None]
    ) -> AsyncIterator[None]:
        """Call `listener` with each download that begins during the block. The reader calls it.

        Chrome reports downloads only on request, so this enables the reports if no context refuses downloads.
        """
        reported = self._reports
        self._listeners.append(listener)
        try:
            if not reported:
                await self._root.call(
                    "Browser.setDownloadBehavior",
                    behavior=self._behavior(context_id),
                    eventsEnabled=True,
                    **in_context(context_id),
                )
            yield
        finally:
            self._listeners.remove(listener)
            if not self._reports:
                self._post_behavior(context_id)

    async def directory_of(self, context_id: str | None) -> Path:
        """Return the default directory of expected downloads: the context's directory, or the temporary folder.

        Raises InvalidArgumentError if no temporary folder can be created.
        """
        return self.allowed(context_id) or await self._own_folder.path()

    def allowed(self, context_id: str | None) -> Path | None:
        """Return the directory for all downloads of the context, or None if unexpected ones are refused."""
        allowed = self._allowed.get(context_id)
        return allowed[-1] if allowed else None

    async def allow(self, context_id: str | None, directory: Path) -> Path:
        """Accept all downloads of a context from now on. Create `directory` and return its absolute path.

        `disallow` ends it. Raises InvalidArgumentError for an invalid directory, RemoteError if Chrome does not
        allow it.
        """
        directory = await _make_directory(directory)
        opened = self._open.setdefault(context_id, _Open(directory))
        opened.users += 1
        self._allowed.setdefault(context_id, []).append(directory)
        try:
            if opened.users == 1:
                await self._call_allow(context_id, directory)
        except BaseException:
            self.disallow(context_id, directory)
            raise
        return directory

    def disallow(self, context_id: str | None, directory: Path) -> None:
        """Refuse downloads of a context again, unless another user allows them. Running ones continue."""
        allowed = self._allowed.get(context_id, [])
        if directory in allowed:
            allowed.remove(directory)
            self._release(context_id)

    async def end_context(self, context_id: str) -> None:
        """Cancel the running downloads of a context before it is disposed of. Bounded and shielded."""
        await self._give_up_all(context_id)
        self.forget_context(context_id)

    async def _call_allow(self, context_id: str | None, directory: Path) -> None:
        await self._root.call(
            "Browser.setDownloadBehavior",
            behavior="allowAndName",
            downloadPath=str(directory),
            eventsEnabled=True,
            **in_context(context_id),
        )

    def _release(self, context_id: str | None) -> None:
        """Refuse downloads again once the context has no users. An earlier refusal would end running downloads."""
        opened = self._open.get(context_id)
        if opened is None:
            return  # the context was disposed of
        opened.users -= 1
        if not opened.users:
            del self._open[context_id]
            self._latest[context_id] = opened.directory
            self._post_behavior(context_id)

    # --- Chrome's reports, in the reader -------------------------------------------------------------------------

    def _note_target(self, event: Event) -> None:
        info = event.decode(TargetCreated).target_info
        if info.opener_id is not None:
            self._openers[info.target_id] = info.opener_id
            while len(self._openers) > _MAX_OPENERS:
                del self._openers[next(iter(self._openers))]
        if info.browser_context_id is not None:
            self._contexts[info.target_id] = info.browser_context_id
            while len(self._contexts) > _MAX_OPENERS:
                del self._contexts[next(iter(self._contexts))]

    def _will_begin(self, event: Event) -> None:
        begun = event.decode(DownloadWillBegin)
        if not _GUID.fullmatch(begun.guid) or self._is_known(begun.guid):
            return
        page = self._page_of(begun.frame_id)
        # A tab opened only for the download may be gone already, or not attached yet.
        context_id = page.context_id if page is not None else self._contexts.get(begun.frame_id)
        download = DownloadRecord(begun, context_id, self._root, self.changes)
        self.records.append(download)
        self._running[begun.guid] = download
        for awaited in self._awaited:
            if awaited.record is None and self.is_of(begun.frame_id, awaited.page):
                awaited.record = download
                download.context_id = awaited.page.context_id
                download.directory = awaited.directory
                opened = self._open[awaited.page.context_id]
                opened.users += 1
                download.staging = opened.directory / begun.guid
                break
        else:
            known = page is not None or begun.frame_id in self._contexts
            self._handle_unexpected(download, self._open.get(download.context_id) if known else None)
        for progress in self._early.pop(begun.guid, ()):
            if begun.guid in self._running:  # reports after its end mean nothing
                self._take(download, progress)
        for listener in tuple(self._listeners):
            listener(download)
        self.changes.notify()
        for each in self._pages.values():
            each.changes.notify()

    def _note_progress(self, event: Event) -> None:
        progress = event.decode(DownloadProgressed)
        download = self._running.get(progress.guid)
        if download is not None:
            self._take(download, progress)
            self.changes.notify()
        elif not self._is_known(progress.guid) and len(self._early) < _MAX_EARLY_REPORTS:
            self._early.setdefault(progress.guid, []).append(progress)

    def _is_known(self, guid: str) -> bool:
        """Return whether the download is running or ended recently, so that this report is a repetition.

        If it were treated as a new download, it would be cancelled, and the first one's file would be removed.
        """
        return guid in self._running or any(record.guid == guid for record in self.records)

    def _take(self, download: DownloadRecord, progress: DownloadProgressed) -> None:
        if progress.state in ("completed", "canceled") and download.directory is not None:
            self._release(download.context_id)
        if progress.state == "completed":
            download.note(progress)
            del self._running[download.guid]
            self._nursery.start_soon(self._finish, download, name="finish a download")
        elif progress.state == "canceled":
            del self._running[download.guid]
            self._nursery.start_soon(self._end_cancelled, download, name="end a download")
        else:
            download.note(progress)

    def _handle_unexpected(self, download: DownloadRecord, opened: _Open | None) -> None:
        context_id = download.context_id
        allowed = self.allowed(context_id)
        if opened is not None and allowed is not None:
            download.directory = allowed
            opened.users += 1
            download.staging = opened.directory / download.guid
        elif opened is not None:
            download.staging = opened.directory / download.guid
            download.refused = True
            download.post_cancel()
        elif self._refuses(context_id):
            download.refused = True
            if (latest := self._latest.get(context_id)) is not None:
                # It may have begun before Chrome received the refusal. Then Chrome writes it there.
                download.staging = latest / download.guid
                download.post_cancel()

    async def _finish(self, download: DownloadRecord) -> None:
        staging, directory = download.staging, download.directory
        if staging is None:
            download.end(None)  # saved by Chrome elsewhere, not by the engine
        elif directory is None:
            # It was complete before Chrome received the cancellation.
            await self._end_cancelled(download)
        else:
            name = safe_file_name(download.suggested_filename)
            try:
                path = await trio.to_thread.run_sync(place_file, staging, directory, name)
            except OSError as error:
                await self._remove(staging)
                reason = f"the file could not be moved to its place: {os_reason(error)}"
                download.fail(reason)
                logger.warning("a download was lost: %s", reason)
            else:
                download.end(path)
        self.changes.notify()

    async def _end_cancelled(self, download: DownloadRecord) -> None:
        """Mark the download as ended once its partial file is gone. Chrome reports the end slightly earlier."""
        if download.staging is not None:
            await self._remove(download.staging)
        download.end_cancelled()
        self.changes.notify()

    async def _remove(self, staging: Path) -> None:
        def remove() -> None:
            for path in (staging, staging.with_name(f"{staging.name}.crdownload")):
                path.unlink(missing_ok=True)

        with suppress(OSError):  # Chrome still has it open, and removes it
            await trio.to_thread.run_sync(remove)

    # --- commands to Chrome ----------------------------------------------------------------------------------

    async def _give_up(self, download: DownloadRecord) -> None:
        with undoing(CANCEL_TIMEOUT), suppress(ConnectionLostError):
            await download.cancel()

    @property
    def _reports(self) -> bool:
        """Whether Chrome must report downloads."""
        return bool(self._refused_contexts or self._open or self._listeners)

    def _behavior(self, context_id: str | None) -> str:
        return "deny" if self._refuses(context_id) else "default"

    def _post_behavior(self, context_id: str | None) -> None:
        with suppress(SessionGoneError, ConnectionLostError):
            self._root.post(
                "Browser.setDownloadBehavior",
                behavior=self._behavior(context_id),
                eventsEnabled=self._reports,
                **in_context(context_id),
            )

    def _refuses(self, context_id: str | None) -> bool:
        """Return whether the context refuses downloads. If the default context (None) does, all contexts do."""
        return context_id in self._refused_contexts or None in self._refused_contexts

    # --- owners of downloads -------------------------------------------------------------------------------------

    def _page_of(self, frame_id: str) -> PageTarget | None:
        page = self._pages.get(frame_id)
        if page is not None:
            return page
        return next((each for each in self._pages.values() if each.frames.get(frame_id) is not None), None)

    def is_of(self, frame_id: str, page: PageTarget) -> bool:
        """Return whether the frame belongs to the page, or to a page opened from it."""
        own = self._page_of(frame_id)
        target_id: str | None = frame_id if own is None else own.target_id
        for _ in range(_MAX_OPENERS):
            if target_id == page.target_id:
                return True
            target_id = self._openers.get(target_id or "")
            if target_id is None:
                break
        return False


async def _make_directory(directory: Path) -> Path:
    """Create the directory if needed, and return its absolute path."""

    def make() -> Path:
        # Chrome writes partial files there with its own permissions, so a new directory is closed to other users.
        # An existing one keeps its permissions.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return directory.resolve(strict=True)

    try:
        return await trio.to_thread.run_sync(make)
    except OSError as error:
        expected = f"a directory that exists or can be created ({os_reason(error)})"
        raise InvalidArgumentError(what="directory", given=repr(str(directory)), expected=expected) from None
