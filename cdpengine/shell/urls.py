"""URLs on the command line: the fault of a URL, and the URL that was probably meant.

Imports nothing of the engine.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit


def url_problem(text: str, folder: str = "") -> tuple[str, str]:
    """Return the fault of a URL, "" if it is absolute, and the URL that was probably meant, or "".

    File names are relative to `folder`.
    """
    try:
        parts = urlsplit(text)
    except ValueError as error:
        return f"is not a URL: {error}", ""
    # "localhost:8000/x" splits into the scheme "localhost" and the path "8000/x".
    has_scheme = bool(parts.scheme) and (bool(parts.netloc) or not parts.path[:1].isdigit())
    file = Path(folder, text)
    if not has_scheme and file.exists():
        return "is a file", file.resolve().as_uri()
    if not has_scheme:
        scheme = "http" if text.startswith(("localhost", "127.")) else "https"
        return "has no scheme", f"{scheme}://{text}"
    return ("names no host", "") if parts.scheme in ("http", "https") and not parts.netloc else ("", "")
