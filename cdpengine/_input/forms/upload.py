"""Upload: set the files of a file input.

Rule: the engine looks up the files on this machine before it sends anything, and names each missing one. If the
input does not accept the files (several files, a folder), the upload fails before the input is touched, because
Chrome would silently omit some. The input may be invisible: most are hidden behind a button. No picker opens.
The page receives trusted input and change events. The read-back uses the files at the time of the change event,
because pages often empty the input then. Chrome only accepts paths, and at least one. Files given as bytes, and
the removal of all files, are set by script, and the outcome reports that.
"""

from __future__ import annotations

import base64
import mimetypes
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio

from cdpengine._checks import check_type, invalid, wrong_type
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.library_calls import (
    Handle,
    decode_result,
    handle_on,
    post_run,
    run,
    stale_ref_error,
)
from cdpengine._input.forms.related import object_from
from cdpengine._javascript import script, with_dom
from cdpengine._page.scripts.page_functions import VALUE, Node, context_gone, object_group
from cdpengine._paths import to_path
from cdpengine._protocol.calls import pending_group
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    RemoteError,
    StaleRefError,
    ValueRefusedError,
)

_CHANGE_TIMEOUT = 1.0
"""Maximum time until the change event, in seconds. It normally comes before Chrome's response."""

_FOLDER_TIMEOUT = 20.0
"""Maximum time for Chrome to read a folder, in seconds. Chrome reads it after its response."""

_MOST_BYTES = 50_000_000
"""Maximum size of an upload through the protocol, in bytes. Chrome rejects messages above 100 MB."""


@attrs.frozen
class FileContent:
    """A file to upload from memory: its name, bytes and MIME type (derived from the name by default)."""

    name: str
    data: bytes = attrs.field(repr=False)
    mime_type: str | None = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or "/" in self.name or "\x00" in self.name:
            raise invalid("name", self.name, 'the name of a file, such as "a.txt"')
        check_type("data", self.data, bytes | bytearray | memoryview, "bytes")
        check_type("mime_type", self.mime_type, str | None, 'a string such as "text/plain"')

    @property
    def type(self) -> str:
        """The MIME type that the page sees, "" if unknown."""
        return mimetypes.guess_type(self.name)[0] or "" if self.mime_type is None else self.mime_type


FilePath = str | os.PathLike[str]
UploadFile = FilePath | FileContent
"""A path on this machine, or a FileContent."""


class _State(msgspec.Struct):
    """The result of upload.js."""

    kind: str
    names: list[str]
    multiple: bool = False
    directory: bool = False
    event: str = ""


async def check_files(files: Iterable[UploadFile]) -> list[Path | FileContent]:
    """Return the files with absolute paths. Raises InvalidArgumentError for missing or too large files.

    Symbolic links in the directory are resolved. The last component is kept, so a link keeps its name.
    """
    listed = list(files)
    for each in listed:
        if isinstance(each, list | tuple):
            raise wrong_type("paths", each, "each file as a separate argument: upload(target, *files)")
        if not isinstance(each, FileContent):
            to_path("paths", each, "strings or paths of files, or FileContents")

    def find() -> tuple[list[Path | FileContent], list[Path]]:
        found = [each if isinstance(each, FileContent) else _absolute(Path(each)) for each in listed]
        paths = [each for each in found if isinstance(each, Path)]
        missing = [path for path in paths if not os.access(path, os.R_OK)]
        if len(paths) < len(found) and not missing:
            _check_size(found)
        return found, missing

    found, missing = await trio.to_thread.run_sync(find)
    if missing:
        raise InvalidArgumentError(
            what="paths",
            given=", ".join(map(repr, map(str, missing))),
            expected="existing, readable files",
        )
    return found


def _absolute(path: Path) -> Path:
    # Chrome accepts a path that contains "..", but the page then cannot read the file.
    return path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name


def _check_size(files: Sequence[Path | FileContent]) -> None:
    size = sum(
        each.stat().st_size if isinstance(each, Path) else memoryview(each.data).nbytes for each in files
    )
    if size > _MOST_BYTES:
        raise InvalidArgumentError(
            what="files",
            given=f"{size} bytes",
            expected=f"at most {_MOST_BYTES}, or only paths, whose files may be of any size",
        )


async def upload(
    node: Node, *files: UploadFile, context: ActionContext, attached: bool = True
) -> ActionOutcome:
    """Select these files (for a folder input: this folder), replacing earlier ones.

    Without files, the input is emptied. If a file is given as bytes, all files are sent through the protocol. With
    `attached=False`, the input need not be in a document.

    Raises InvalidArgumentError if a file is missing, before anything is sent. Raises StaleRefError if the node
    left its document. Raises NotInteractableError immediately if the node does not accept files, or not these,
    and with state "disabled" if the budget ends first. Raises ValueRefusedError if the files did not arrive.
    """
    checked = await check_files(files)
    if attached:
        async with context.inspect(node, "upload to") as inspection:
            await inspection.wait_until_usable(visible=False)
    with object_group("upload") as group:
        try:
            by_script = await _set_files(await handle_on(node, context.worlds, group), checked)
        except RemoteError as error:
            if not context_gone(error):
                raise
            raise stale_ref_error(node, "a node of another document", "its document was replaced") from error
    return ActionOutcome("upload to", node.description, set_by_script=by_script)


async def takes_files(node: Node, context: ActionContext) -> bool:
    """Return whether the node is a file input or the label of one."""
    async with context.inspect(node, "upload to") as inspection:
        return (await inspection.run(script("_input/forms/upload"), {"await": 0}, _State)).kind == "file"


def check_fits(
    description: str, files: Sequence[Path | FileContent], *, multiple: bool, directory: bool
) -> None:
    """Raise NotInteractableError if an input with these attributes does not accept the files."""
    folders = [each for each in files if isinstance(each, Path) and each.is_dir()]
    if directory and files and (len(files) != 1 or not folders):
        raise _cannot(description, "it takes one folder, and nothing else")
    if folders and not directory:
        raise _cannot(description, f"it takes files, and {folders[0].name!r} is a folder")
    if len(files) > 1 and not multiple:
        raise _cannot(description, f"it takes one file, and {len(files)} were given")


def have_arrived(files: Sequence[Path | FileContent], names: Sequence[str]) -> bool:
    """Return whether an input that holds `names` has these files. For a folder, some of its files suffice."""
    if len(files) == 1 and isinstance(files[0], Path) and files[0].is_dir():
        return bool(names) and all(name.startswith(f"{files[0].name}/") for name in names)
    return sorted(names) == sorted(each.name for each in files)


async def _set_files(handle: Handle, files: Sequence[Path | FileContent]) -> bool:
    """Select the files. Return whether a script did it."""
    node, source = handle.node, script("_input/forms/upload")
    state = await run(handle, source, {"await": 0}, _State)
    if state.kind == "none":
        raise _cannot(
            node.description,
            "it takes no files; where it opens a file chooser, use expect_file_chooser() around a click",
        )
    await trio.to_thread.run_sync(
        partial(check_fits, node.description, files, multiple=state.multiple, directory=state.directory)
    )
    if not files and not state.names:
        return False
    paths = [str(each) for each in files if isinstance(each, Path)]
    if not files or len(paths) < len(files):
        await _set_contents(handle, files)
        return True
    with pending_group() as post:
        seconds = _FOLDER_TIMEOUT if state.directory else _CHANGE_TIMEOUT
        control = await object_from(handle, "_input/forms/upload", {"control": True})
        change = post(post_run(handle, source, {"await": round(seconds * 1000)}))
        control_id = None if control is None else control.reference
        sent = post(node.session.post("DOM.setFileInputFiles", objectId=control_id, files=paths))
        await sent.raw()
        try:
            if have_arrived(files, (await run(handle, source, {"await": 0}, _State)).names):
                return False
            changed = await decode_result(change, node, _State)
        except StaleRefError:
            return False  # the page navigated in response to the files
    if changed.event != "change" or not have_arrived(files, changed.names):
        raise _not_arrived(node, changed.names)
    return False


async def _set_contents(handle: Handle, files: Sequence[Path | FileContent]) -> None:
    def encode() -> list[dict[str, str]]:
        contents = [
            FileContent(each.name, each.read_bytes()) if isinstance(each, Path) else each for each in files
        ]
        return [
            {"name": each.name, "type": each.type, "data": base64.b64encode(each.data).decode("ascii")}
            for each in contents
        ]

    request = {"files": await trio.to_thread.run_sync(encode)}
    # Not registered as the engine's script, so that recordings omit its arguments, as they omit files.
    call = handle.object.post(
        with_dom(script("_input/forms/upload_contents")), request, how=VALUE, repeats=False
    )
    try:
        names = await decode_result(call, handle.node, list[str])
    except StaleRefError:
        return  # the page navigated in response to the files
    if not have_arrived(files, names):
        raise _not_arrived(handle.node, names)


def _not_arrived(node: Node, names: Sequence[str]) -> ValueRefusedError:
    return ValueRefusedError(
        action="upload to", target=node.description, reason="the files did not arrive", took=", ".join(names)
    )


def _cannot(description: str, reason: str) -> NotInteractableError:
    return NotInteractableError(action="upload to", target=description, reason=reason)
