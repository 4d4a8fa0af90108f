"""The files that commands write: their names, their formats, and the refusal of existing ones."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdpengine._launch.private_files import is_taken
from cdpengine.errors import InvalidArgumentError

_PICTURES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}


def check_new_file(what: str, path: str, *, force: bool) -> None:
    """Raise InvalidArgumentError for a file in a missing folder, and without `force` for an existing file."""
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise InvalidArgumentError(
            what=what, given=f"{path}, whose folder does not exist", expected="a file in an existing folder"
        )
    if not force and is_taken(Path(path)):
        raise InvalidArgumentError(
            what=what, given=f"{path}, which exists already", expected="another name, or --force"
        )


def check_different_files(verb: str, path: object, options: Mapping[str, str | bool]) -> None:
    """Raise InvalidArgumentError if a command would write two of its result, recording and trace to one file."""
    taken = {os.path.realpath(path): "FILE"} if isinstance(path, str) else {}
    for name in ("--record", "--trace"):
        if isinstance(other := options.get(name), str):
            if (known := taken.get(os.path.realpath(other))) is not None:
                raise InvalidArgumentError(
                    what=f"{verb} {name}", given=f"{other}, which is also {known}", expected="another file"
                )
            taken[os.path.realpath(other)] = f"the file of {name}"


def choose_file(verb: str, request: dict[str, Any], folder: str, *, force: bool, as_json: bool) -> None:
    """Set the file of a picture or a PDF, and the format that its name implies. Raises InvalidArgumentError."""
    path: str | None = request.get("path")
    if path is None:
        if not as_json:
            suffix = "pdf" if verb == "pdf" else request.get("format", "png")
            request["path"] = new_name(folder, verb, suffix)
        return
    check_new_file(verb, path, force=force)
    if verb == "screenshot":
        _choose_format(request, os.path.splitext(path)[1].lower())


def _choose_format(request: dict[str, Any], suffix: str) -> None:
    """Set the format of a picture to that of its file's name. Raises InvalidArgumentError if they differ."""
    implied, given = _PICTURES.get(suffix), request.get("format")
    if given is None and implied is None and suffix:
        raise InvalidArgumentError(
            what="screenshot", given=f"a file name that ends in {suffix!r}", expected=", ".join(_PICTURES)
        )
    if given is not None and implied not in (None, given):
        raise InvalidArgumentError(
            what="screenshot --format", given=f"{given}, for a file that ends in {suffix}", expected=implied
        )
    if implied is not None:
        request["format"] = implied


def new_name(folder: str, name: str, suffix: str) -> str:
    """Return an unused file name, with the time and, if needed, a number."""
    stem = os.path.join(folder, f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
    number = 1
    while os.path.lexists(path := f"{stem}.{suffix}" if number == 1 else f"{stem}-{number}.{suffix}"):
        number += 1
    return path
