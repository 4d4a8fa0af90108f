"""URLs as they are typed: what is wrong with one, and what was probably meant. Loads nothing of the engine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit


def url_problem(text: str, folder: str = "") -> tuple[str, str]:
    """Return what is wrong with a URL, "" where it is absolute, and which one was probably meant, "" for none.

    `folder` is where names of files are looked for.
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
