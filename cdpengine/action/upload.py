"""Upload: give an input of files its files.

Rule: files are looked for on this machine before anything is sent, and each that is missing is named. What
the input cannot take (several files, a folder) is refused before it is touched: Chrome would leave some out
in silence. The input need not be visible: most are hidden behind a button. No picker is opened. The page sees
trusted input and change events, and the input is read back as it was when it changed, for pages like to empty
it then.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
import trio

from cdpengine.action.context import ActionContext
from cdpengine.action.in_page import Handle, handle_on, post_run, returned, run, stale, together
from cdpengine.action.outcome import ActionOutcome
from cdpengine.action.related import object_from
from cdpengine.browser.node import Node
from cdpengine.browser.worlds import context_gone
from cdpengine.errors import (
    ConnectionLost,
    InvalidArgument,
    NotInteractable,
    RemoteError,
    SessionGone,
    StaleRef,
    ValueRefused,
)
from cdpengine.js import script

_SETTLING = 1.0
"""Seconds that the input gets to tell of its change. It does so before Chrome answers, as a rule."""

_READING = 20.0
"""Seconds at most that Chrome gets to read a folder, which it does after it has answered."""

_group_numbers = itertools.count(1)

FilePath = str | os.PathLike[str]


class _Seen(msgspec.Struct):
    """What upload.js answers."""

    kind: str
    names: list[str]
    multiple: bool = False
    directory: bool = False
    event: str = ""


async def checked_files(paths: Iterable[FilePath]) -> list[Path]:
    """Return the paths as absolute ones. Raises InvalidArgument for none, and for those that are not there."""
    given = list(paths)
    for path in given:
        if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
            raise InvalidArgument(
                what="paths", given=f"a {type(path).__name__}", expected="strings or paths of files"
            )
    if not given:
        raise InvalidArgument(what="paths", given="none", expected="at least one file to upload")

    def look() -> tuple[list[Path], list[Path]]:
        found = [Path(path).absolute() for path in given]
        return found, [path for path in found if not os.access(path, os.R_OK)]

    found, missing = await trio.to_thread.run_sync(look)
    if missing:
        raise InvalidArgument(
            what="paths",
            given=", ".join(map(repr, map(str, missing))),
            expected="files that are there and can be read",
        )
    return found


async def upload(node: Node, *paths: FilePath, context: ActionContext) -> ActionOutcome:
    """Choose these files (for an input of folders: this folder), in place of those that were chosen before.

    Raises InvalidArgument when a file is missing, before anything is sent; StaleRef when the node left its
    document; NotInteractable at once for what takes no files, or not these; Disabled when the budget ends
    first; ValueRefused when the files did not arrive.
    """
    files = await checked_files(paths)
    async with context.inspect(node, "upload to") as inspection:
        await inspection.wait_until_usable(visible=False)
    group = f"cdpengine-upload-{next(_group_numbers)}"
    try:
        await _set_files(await handle_on(node, context.worlds, group), files)
    except RemoteError as error:
        if not context_gone(error):
            raise
        raise stale(node, "a node of another document", "its document was replaced") from error
    finally:
        # Posted, not awaited: Chrome answers it in its own time, also when this task is being cancelled.
        with suppress(SessionGone, ConnectionLost):
            node.session.post("Runtime.releaseObjectGroup", objectGroup=group)
    return ActionOutcome("upload to", node.description)


def check_fits(description: str, files: Sequence[Path], *, multiple: bool, directory: bool) -> None:
    """Raise NotInteractable when an input of that kind does not take these files."""
    folders = [path for path in files if path.is_dir()]
    if directory and (len(files) != 1 or not folders):
        raise _cannot(description, "it takes one folder, and nothing else")
    if folders and not directory:
        raise _cannot(description, f"it takes files, and {folders[0].name!r} is a folder")
    if len(files) > 1 and not multiple:
        raise _cannot(description, f"it takes one file, and {len(files)} were given")


def arrived(files: Sequence[Path], names: Sequence[str]) -> bool:
    """Tell whether an input that holds `names` has these files; of a folder it has some of what is in it."""
    if len(files) == 1 and files[0].is_dir():
        return bool(names) and all(name.startswith(f"{files[0].name}/") for name in names)
    return sorted(names) == sorted(path.name for path in files)


async def _set_files(handle: Handle, files: Sequence[Path]) -> None:
    node, source = handle.node, script("upload")
    seen = await run(handle, source, {"await": 0}, _Seen)
    if seen.kind == "none":
        raise _cannot(
            node.description,
            "it takes no files; where it opens a file chooser, use expect_file_chooser() around a click",
        )
    await trio.to_thread.run_sync(
        partial(check_fits, node.description, files, multiple=seen.multiple, directory=seen.directory)
    )
    with together() as post:
        patience = _READING if seen.directory else _SETTLING
        control = await object_from(handle, "upload", {"control": True})
        change = post(post_run(handle, source, {"await": round(patience * 1000)}))
        sent = post(
            node.session.post("DOM.setFileInputFiles", objectId=control, files=[str(path) for path in files])
        )
        await sent.raw()
        try:
            if arrived(files, (await run(handle, source, {"await": 0}, _Seen)).names):
                return
            told = await returned(change, node, _Seen)
        except StaleRef:
            return  # the page took the files as a reason to show another document
    if told.event != "change" or not arrived(files, told.names):
        raise ValueRefused(
            action="upload to",
            target=node.description,
            reason="the files did not arrive",
            took=", ".join(told.names),
        )


def _cannot(description: str, reason: str) -> NotInteractable:
    return NotInteractable(action="upload to", target=description, reason=reason)
