"""Templates of snapshots in strings and files, and the rule for writing the files.

Rule: a template that matches is never written again, so its patterns and omitted lines stay. The environment
variable CDPENGINE_UPDATE_SNAPSHOTS decides about the others: "1" writes files that are missing or do not match,
"0" writes none. Without it, only missing files are written.
"""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import trio

from cdpengine._checks import wrong_type
from cdpengine._paths import to_path
from cdpengine._snapshot.template.lines import LineTree, parse_template
from cdpengine._snapshot.text import quote
from cdpengine.errors import FileNotWrittenError, FileUnreadableError, InvalidArgumentError, os_reason

VARIABLE = "CDPENGINE_UPDATE_SNAPSHOTS"
"""Environment variable; the pytest option --update-snapshots sets it to 1."""

_NO_FILE = "it does not exist"

_SUFFIXES = (".yml", ".yaml", ".txt")
"""Suffixes of a string that is probably a path, if it does not begin with the "-" of a line."""


@attrs.frozen
class SnapshotTemplate:
    """A template and its file, if it has one. `lines` is None if the file is missing and is to be written.

    `update` is whether a template that does not match is to be replaced.
    """

    lines: LineTree | None
    path: Path | None
    update: bool

    @property
    def words(self) -> str:
        """The description for messages."""
        return "the template" if self.path is None else f"the template {self.path.name}"

    async def write(self, text: str) -> None:
        """Write the file. Raises FileNotWrittenError."""
        assert self.path is not None
        try:
            await trio.Path(self.path.parent).mkdir(parents=True, exist_ok=True)
            await trio.Path(self.path).write_text(text, "utf-8", "surrogatepass")
        except OSError as error:
            raise FileNotWrittenError(
                what="a snapshot template", path=str(self.path), reason=os_reason(error)
            ) from error


async def load_template(template: str | os.PathLike[str], *, writable: bool) -> SnapshotTemplate:
    """Return the template in a string, or in the file of a path.

    Raises InvalidArgumentError for an invalid line, FileUnreadableError for a file that cannot be read. A missing
    file raises it too, unless the file may be written.
    """
    setting = os.environ.get(VARIABLE, "")
    update = writable and setting == "1"
    if isinstance(template, str):
        if template.endswith(_SUFFIXES) and not template.lstrip().startswith("-"):
            raise InvalidArgumentError("template", quote(template[-60:]), "a template, or the Path of a file")
        return SnapshotTemplate(parse_template(template), None, update)
    if not isinstance(template, os.PathLike):
        raise wrong_type("template", template, "a template as a str, or the Path of a file")
    path = to_path("template", template)
    try:
        text = await trio.Path(path).read_text("utf-8", "surrogatepass")
    except FileNotFoundError as error:
        if writable and setting != "0":
            return SnapshotTemplate(None, path, update)
        advice = f"Run without {VARIABLE}=0 to write it" if writable else ""
        raise FileUnreadableError("a snapshot template", str(path), _NO_FILE, advice) from error
    except (OSError, ValueError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else "it is no text in UTF-8"
        raise FileUnreadableError("a snapshot template", str(path), reason) from error
    try:
        return SnapshotTemplate(parse_template(text), path, update)
    except InvalidArgumentError as error:
        if update:
            return SnapshotTemplate(None, path, update)
        raise FileUnreadableError("a snapshot template", str(path), str(error)) from None
