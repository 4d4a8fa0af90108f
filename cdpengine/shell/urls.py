"""URLs on the command line: the fault of a URL, and the URL that was probably meant."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from cdpengine._urls import EXAMPLE, explain_no_url


def url_problem(text: str, folder: str = "") -> tuple[str, str]:
    """Return the fault of a URL, "" if it is absolute, and the expected URL.

    The fault continues a sentence: "'/a' is a path without a host". File names are relative to `folder`.
    """
    problem, suggestion = explain_no_url(text)
    if problem and text.strip():
        file = Path(folder, text)
        if file.exists():
            return "is a file", file.resolve().as_uri()
    if problem:
        return problem, suggestion if problem == "has no scheme" else f"an address such as {suggestion}"
    try:
        parts = urlsplit(text)
    except ValueError as error:
        return f"is not a URL: {error}", f"an address such as {EXAMPLE}"
    if parts.scheme in ("http", "https") and not parts.netloc:
        return "names no host", f"an address such as {EXAMPLE}"
    return "", ""
