"""URLs as they are typed: what is wrong with one, and what was probably meant. Loads nothing of the engine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit


def url_problem(text: str, folder: str = "") -> str:
    """Return what is wrong with a URL, "" where it is absolute.

    `folder` is where names of files are looked for.
    """
    try:
        parts = urlsplit(text)
    except ValueError as error:
        return f"is not a URL: {error}"
    # "localhost:8000/x" splits into the scheme "localhost" and the path "8000/x".
    has_scheme = bool(parts.scheme) and (bool(parts.netloc) or not parts.path[:1].isdigit())
    file = Path(folder, text)
    if not has_scheme and file.exists():
        return f"is a file; did you mean {file.resolve().as_uri()}?"
    if not has_scheme:
        scheme = "http" if text.startswith(("localhost", "127.")) else "https"
        return f"has no scheme; did you mean {scheme}://{text}?"
    if parts.scheme in ("http", "https") and not parts.netloc:
        return "names no host"
    return ""
