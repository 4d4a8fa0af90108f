"""Requests that read a page, and those about tabs, storage, dialogs, files and downloads.

See `act/requests.py`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.requests import (
    ARRIVING,
    LOADING,
    ActRequest,
    ElementRequest,
    LoadStateName,
    SnapshotMode,
)

# --- reading -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class TakeSnapshot(ActRequest):
    """Read the page as lines of text, with refs for interactive elements."""

    kind: ClassVar[str] = "snapshot"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    mode: SnapshotMode = field("The format of the lines.", "role")
    interactive: bool = field("Only interactive elements.", False)
    compact: bool = field("Omit lines that only give structure.", False)
    max_depth: int | None = field("Omit lines at a greater depth.", None, least=0)
    max_chars: int | None = field("Maximum length, in characters.", None, least=1)
    max_tokens: int | None = field("Maximum length, in estimated tokens.", None, least=1)
    root: str | None = field("Only the content of this element: a ref, or a CSS selector.", None)
    find: str | None = field("Only lines that contain this string (in any case), and their ancestors.", None)
    frame: str | None = field("Only this frame: its id, name, URL pattern, or the ref of its element.", None)
    refs: Literal["actions", "all"] = field("all: give each element a ref.", "actions")
    diff: bool = field("Return the changes since the last snapshot instead of the whole.", False)


@attrs.frozen(kw_only=True)
class Find(ActRequest):
    """Find elements by role, name or text, and return their refs."""

    kind: ClassVar[str] = "find"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    role: str | None = field("The role, as in snapshots.", None)
    name: str | None = field("Part of the accessible name, in any case.", None)
    text: str | None = field("Part of its visible text, in any case.", None)
    exact: bool = field("Match the whole name and text, in this case.", False)
    limit: int = field("Maximum number of elements.", 20, least=1, most=1000)


@attrs.frozen(kw_only=True)
class Screenshot(ActRequest):
    """Take a picture of the viewport, of the whole page or of one element."""

    kind: ClassVar[str] = "screenshot"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    ref: str | None = field("Only this element, by its ref.", None)
    selector: str | None = field("Only this element, by a CSS selector that matches one.", None)
    full_page: bool = field("The whole page, not only the viewport.", False)
    format: Literal["png", "jpeg", "webp"] = field("The format of the picture.", "png")
    quality: int | None = field("The quality of jpeg and webp.", None, least=0, most=100)
    max_side: int | None = field(
        "Maximum length of the longer side, in pixels; a larger picture is scaled down.", None, least=1
    )
    labels: bool = field(
        "Frame and label interactive elements with their refs; the result contains the snapshot.", False
    )
    path: str | None = field("Write it to this file instead of returning it.", None)


@attrs.frozen(kw_only=True)
class Pdf(ActRequest):
    """Print the page as PDF."""

    kind: ClassVar[str] = "pdf"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    landscape: bool = field("Wider than high.", False)
    print_background: bool = field("Print backgrounds.", False)
    path: str | None = field("Write it to this file instead of returning it.", None)


@attrs.frozen(kw_only=True)
class Extract(ActRequest):
    """Return the readable content of the page, as text or Markdown."""

    kind: ClassVar[str] = "extract"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    format: Literal["text", "markdown"] = field("The format of the result.", "markdown")
    ref: str | None = field("Only the content of this element, by its ref.", None)
    selector: str | None = field("Only the content of the element that this CSS selector matches.", None)
    main_only: bool = field("Only the main content, without navigation, headers and footers.", False)
    max_chars: int | None = field("Maximum length, in characters.", None, least=1)


@attrs.frozen(kw_only=True)
class Console(ActRequest):
    """Return the page's console messages and uncaught errors; the newest 500 and 200 are kept."""

    kind: ClassVar[str] = "console"
    in_order: ClassVar[bool] = False
    level: Literal["debug", "info", "warning", "error"] = field("This level and those above it.", "debug")
    limit: int = field("Maximum number of entries, the newest ones.", 100, least=1, most=700)
    clear: bool = field("Remove the returned entries.", False)


@attrs.frozen(kw_only=True)
class Requests(ActRequest):
    """Return the page's requests, with status or failure; the newest 500 are kept."""

    kind: ClassVar[str] = "requests"
    in_order: ClassVar[bool] = False
    url: str | None = field("Only requests whose URL matches this glob; only * is special.", None)
    failed: bool = field("Only requests that failed or have a status of 400 or more.", False)
    limit: int = field("Maximum number of requests, the newest ones.", 100, least=1, most=500)
    clear: bool = field("Remove all kept requests.", False)


# --- cookies and storage -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Cookies(ActRequest):
    """Return the cookies of the page's browser context."""

    kind: ClassVar[str] = "cookies"
    in_order: ClassVar[bool] = False
    urls: tuple[str, ...] = field("Only cookies that would be sent to these URLs.", (), most=100)


@attrs.frozen(kw_only=True)
class CookieSetting:
    """A cookie to set. Give `url` or `domain`."""

    name: str = field("Its name.")
    value: str = field("Its value.", secret=True)
    url: str = field("A URL of the cookie.", "")
    domain: str = field("The domain; with a leading dot, also its subdomains.", "")
    path: str = field("The path.", "/")
    expires: float | None = field(
        "Expiry in seconds since 1970; without, it ends with the browser's session.", None
    )
    http_only: bool = field("Hide it from scripts.", False)
    secure: bool = field("Send it only over HTTPS.", False)
    same_site: Literal["Strict", "Lax", "None"] | None = field(
        "Whether requests from other sites include it.", None
    )


@attrs.frozen(kw_only=True)
class SetCookies(ActRequest):
    """Set cookies of the page's browser context."""

    kind: ClassVar[str] = "setCookies"
    cookies: tuple[CookieSetting, ...] = field("The cookies.", least=1, most=1000)


@attrs.frozen(kw_only=True)
class ClearCookies(ActRequest):
    """Remove all cookies of the page's browser context."""

    kind: ClassVar[str] = "clearCookies"


@attrs.frozen(kw_only=True)
class Storage(ActRequest):
    """Return the items of the document's local or session storage."""

    kind: ClassVar[str] = "storage"
    in_order: ClassVar[bool] = False
    area: Literal["local", "session"] = field("Which storage.", "local")


@attrs.frozen(kw_only=True)
class SetStorage(ActRequest):
    """Set items of the document's local or session storage."""

    kind: ClassVar[str] = "setStorage"
    area: Literal["local", "session"] = field("Which storage.", "local")
    items: dict[str, str] = field("The items: names and values.", least=1, most=10_000, secret=True)


@attrs.frozen(kw_only=True)
class ClearStorage(ActRequest):
    """Remove items of the document's local or session storage."""

    kind: ClassVar[str] = "clearStorage"
    area: Literal["local", "session"] = field("Which storage.", "local")
    keys: tuple[str, ...] = field("The names of the items; an empty list removes all.", (), most=10_000)


# --- the web -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Search(ActRequest):
    """Search the web in a new tab, and return the results: title, URL and snippet."""

    kind: ClassVar[str] = "search"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    query: str = field("The search terms.")
    engine: str = field("The search engine, by its name.", "duckduckgo")
    limit: int = field("Maximum number of results.", 10, least=1, most=100)


# --- tabs ----------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Tabs(ActRequest):
    """List the open pages; the current one is marked."""

    kind: ClassVar[str] = "tabs"
    in_order: ClassVar[bool] = False


@attrs.frozen(kw_only=True)
class NewTab(ActRequest):
    """Open a page, which becomes the current one."""

    kind: ClassVar[str] = "newTab"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    url: str | None = field("Its URL; without, it is blank.", None)
    wait_until: LoadStateName = field("The load state to wait for.", "load")


@attrs.frozen(kw_only=True)
class FocusTab(ActRequest):
    """Make a page the current one, and its window's active tab."""

    kind: ClassVar[str] = "focusTab"
    index: int | None = field("Its number in tabs, from 0, instead of targetId.", None, least=0)


@attrs.frozen(kw_only=True)
class Close(ActRequest):
    """Close a page. Its opener, or the last open page, becomes the current one."""

    kind: ClassVar[str] = "close"
    in_order: ClassVar[bool] = False
    index: int | None = field("Its number in tabs, from 0, instead of targetId.", None, least=0)


# --- dialogs, files, downloads -------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Dialog(ActRequest):
    """Set the answer to the page's next JavaScript dialog, before the action that opens it.

    It is valid for `timeoutMs`. Without it, dialogs are dismissed and alerts accepted.
    """

    kind: ClassVar[str] = "dialog"
    timing: ClassVar[Timing] = ARRIVING
    accept: bool = field("OK or Cancel.")
    prompt_text: str | None = field("The text for a prompt.", None, secret=True)


@attrs.frozen(kw_only=True)
class FileChooser(ActRequest):
    """Set the files for the page's next file chooser, before the action that opens it.

    They are valid for `timeoutMs`.
    """

    kind: ClassVar[str] = "fileChooser"
    timing: ClassVar[Timing] = ARRIVING
    paths: tuple[str, ...] = field("Files of this machine.", least=1, most=1000)


@attrs.frozen(kw_only=True)
class Download(ElementRequest):
    """Click an element and wait for its whole download; without an element, wait for the next download."""

    kind: ClassVar[str] = "download"
    timing: ClassVar[Timing] = ARRIVING
    directory: str | None = field("The folder for the file; without, a private temporary folder.", None)
