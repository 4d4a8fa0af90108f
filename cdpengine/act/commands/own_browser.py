"""Checks of a command that loads a URL in a browser of its own: the URL, and the options for that browser.

Rule: everything is refused before a browser starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cdpengine._urls.mistakes import EXAMPLE, explain_no_url
from cdpengine._urls.reading import WEB, split_url
from cdpengine.act.commands.files import check_new_file
from cdpengine.act.commands.verbs import Verb
from cdpengine.errors import InvalidArgumentError


def check_endpoint(verb: Verb, options: Mapping[str, str | bool]) -> None:
    """Raise InvalidArgumentError for --endpoint together with an option for a browser that the command starts."""
    others = [name for name in ("--browser", "--headful", "--user-data-dir") if name in options]
    if others and "--endpoint" in options:
        expected = f"{others[0]}, which starts a browser, or --endpoint, which uses a running one"
        raise InvalidArgumentError(what=verb.name, given=f"{others[0]} and --endpoint", expected=expected)


def check_own_browser(
    verb: Verb, url: str | None, options: Mapping[str, str | bool], folder: str, *, has_session: bool
) -> None:
    """Raise InvalidArgumentError for a wrong URL or file, and for options without their browser.

    `options` are the shell's options of the command. File names are relative to `folder`.
    """
    if url is not None:
        check_url(verb.name, url, folder)
    if url is not None or "--endpoint" in options:
        if has_session:
            given = "--session, and a URL" if url is not None else "--session and --endpoint"
            raise InvalidArgumentError(what=verb.name, given=given, expected="one of them")
    else:
        names = {each: each.partition(" ")[0] for each in verb.browser_options if each not in verb.options}
        if lonely := next((name for name in names.values() if name in options), ""):
            raise InvalidArgumentError(what=f"{verb.name} {lonely}", given="no URL", expected="a URL to load")
    for name in ("--record", "--trace"):
        if isinstance(path := options.get(name), str):
            check_new_file(f"{verb.name} {name}", path, force="--force" in options)


def check_url(what: str, url: str, folder: str = "") -> None:
    """Raise InvalidArgumentError for a URL that is not absolute. `what` names it in the error."""
    problem, suggestion = url_problem(url, folder)
    if problem:
        raise InvalidArgumentError(what=what, given=f"{url[:80]!r}, which {problem}", expected=suggestion)


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
    scheme, host = split_url(text)
    if scheme in WEB and not host:
        return "has no valid host", f"an address such as {EXAMPLE}"
    return "", ""
