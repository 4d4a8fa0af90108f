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
    """Read the page as lines of text, with refs for what can be acted on."""

    kind: ClassVar[str] = "snapshot"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    mode: SnapshotMode = field("How the lines look.", "role")
    interactive: bool = field("Only what can be acted on.", False)
    compact: bool = field("Leave out lines that only give structure.", False)
    max_depth: int | None = field("Leave out lines that are deeper.", None, least=0)
    max_chars: int | None = field("Cut after so many characters.", None, least=1)
    max_tokens: int | None = field("Cut after so many tokens, estimated.", None, least=1)
    root: str | None = field("Only what is in this element: a ref, or a CSS selector.", None)
    find: str | None = field(
        "Only lines that say this, in any case of letters, and those that they are in.", None
    )
    frame: str | None = field("Only this frame: its id, name, URL pattern, or the ref of its element.", None)
    refs: Literal["actions", "all"] = field("all: each element that is shown has a ref.", "actions")
    diff: bool = field("Answer with what changed since the last snapshot, in place of the whole.", False)


@attrs.frozen(kw_only=True)
class Find(ActRequest):
    """Find elements by what is said of them, and return their refs."""

    kind: ClassVar[str] = "find"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    role: str | None = field("The role, as snapshots call it.", None)
    name: str | None = field("The accessible name, in any case of letters.", None)
    text: str | None = field("Visible text in it, in any case of letters.", None)
    exact: bool = field("Name and text are whole, and in this case of letters.", False)
    limit: int = field("The most elements that are returned.", 20, least=1, most=1000)


@attrs.frozen(kw_only=True)
class Screenshot(ActRequest):
    """Take a picture of the viewport, of the whole page or of one element."""

    kind: ClassVar[str] = "screenshot"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    ref: str | None = field("Only this element, by its ref.", None)
    selector: str | None = field("Only this element, by a CSS selector that matches one.", None)
    full_page: bool = field("All of the page, what is outside of the viewport included.", False)
    format: Literal["png", "jpeg", "webp"] = field("The format of the picture.", "png")
    quality: int | None = field("The quality of jpeg and webp.", None, least=0, most=100)
    max_side: int | None = field(
        "Make it smaller until its longer side has at most so many pixels.", None, least=1
    )
    labels: bool = field("Frame what can be acted on, with its refs; the snapshot is in the result.", False)
    path: str | None = field("Write it to this file, in place of returning it.", None)


@attrs.frozen(kw_only=True)
class Pdf(ActRequest):
    """Print the page as PDF."""

    kind: ClassVar[str] = "pdf"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    landscape: bool = field("Wider than high.", False)
    print_background: bool = field("Print backgrounds.", False)
    path: str | None = field("Write it to this file, in place of returning it.", None)


@attrs.frozen(kw_only=True)
class Extract(ActRequest):
    """Return what a reader sees of the page, as text or Markdown."""

    kind: ClassVar[str] = "extract"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    format: Literal["text", "markdown"] = field("What it is returned as.", "markdown")
    ref: str | None = field("Only what is in this element, by its ref.", None)
    selector: str | None = field("Only what is in the element that this CSS selector matches.", None)
    main_only: bool = field("Only the main content, without navigation, headers and footers.", False)
    max_chars: int | None = field("Cut after so many characters.", None, least=1)


@attrs.frozen(kw_only=True)
class Console(ActRequest):
    """Return what the page wrote to its console, and its uncaught errors; the newest 500 and 200 are kept."""

    kind: ClassVar[str] = "console"
    in_order: ClassVar[bool] = False
    level: Literal["debug", "info", "warning", "error"] = field("This level and those above it.", "debug")
    limit: int = field("The most that is returned, the newest ones.", 100, least=1, most=700)
    clear: bool = field("Forget what is returned.", False)


@attrs.frozen(kw_only=True)
class Requests(ActRequest):
    """Return the page's requests, with status or failure; the newest 500 are kept."""

    kind: ClassVar[str] = "requests"
    in_order: ClassVar[bool] = False
    url: str | None = field("Only those whose URL matches this glob, in which only * is special.", None)
    failed: bool = field("Only those that failed, or were answered with 400 and above.", False)
    limit: int = field("The most that is returned, the newest ones.", 100, least=1, most=500)
    clear: bool = field("Forget all that is kept.", False)


# --- cookies and storage -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Cookies(ActRequest):
    """Return the cookies of the page's browser context."""

    kind: ClassVar[str] = "cookies"
    in_order: ClassVar[bool] = False
    urls: tuple[str, ...] = field("Only those that would be sent to these URLs.", (), most=100)


@attrs.frozen(kw_only=True)
class CookieSetting:
    """A cookie to set. Of `url` and `domain`, one says whose it is."""

    name: str = field("Its name.")
    value: str = field("Its value.", secret=True)
    url: str = field("A URL that it is for.", "")
    domain: str = field("The domain that it is for; with a leading dot for its subdomains, too.", "")
    path: str = field("The path that it is for.", "/")
    expires: float | None = field("Seconds since 1970; without, it ends with the browser's session.", None)
    http_only: bool = field("No script can read it.", False)
    secure: bool = field("It is sent over https only.", False)
    same_site: Literal["Strict", "Lax", "None"] | None = field("When other sites' requests bear it.", None)


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
    keys: tuple[str, ...] = field("The items' names; none removes all.", (), most=10_000)


# --- the web -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Search(ActRequest):
    """Search the web, in a tab of its own, and return the results: title, URL and snippet."""

    kind: ClassVar[str] = "search"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    query: str = field("What to search for.")
    engine: str = field("The search engine, by its name.", "duckduckgo")
    limit: int = field("The most results that are returned.", 10, least=1, most=100)


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
    url: str | None = field("Where it goes; without, it is blank.", None)
    wait_until: LoadStateName = field("How far the document has to get.", "load")


@attrs.frozen(kw_only=True)
class FocusTab(ActRequest):
    """Make a page the current one, and its window's active tab."""

    kind: ClassVar[str] = "focusTab"
    index: int | None = field("Its number in tabs, from 0; in place of targetId.", None, least=0)


@attrs.frozen(kw_only=True)
class Close(ActRequest):
    """Close a page. The one that opened it becomes the current one, or the last that is open."""

    kind: ClassVar[str] = "close"
    in_order: ClassVar[bool] = False
    index: int | None = field("Its number in tabs, from 0; in place of targetId.", None, least=0)


# --- what a page asks for ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Dialog(ActRequest):
    """Say how the page's next JavaScript dialog is answered, before the action that opens it.

    It counts for `timeoutMs`; dialogs are dismissed (alerts accepted) where nothing is said.
    """

    kind: ClassVar[str] = "dialog"
    timing: ClassVar[Timing] = ARRIVING
    accept: bool = field("OK or Cancel.")
    prompt_text: str | None = field("What goes into a prompt.", None, secret=True)


@attrs.frozen(kw_only=True)
class FileChooser(ActRequest):
    """Say which files the page's next file chooser gets, before the action that opens it.

    It counts for `timeoutMs`.
    """

    kind: ClassVar[str] = "fileChooser"
    timing: ClassVar[Timing] = ARRIVING
    paths: tuple[str, ...] = field("Files of this machine.", least=1, most=1000)


@attrs.frozen(kw_only=True)
class Download(ElementRequest):
    """Click an element and wait for the whole download that it begins; without an element, for the next one."""

    kind: ClassVar[str] = "download"
    timing: ClassVar[Timing] = ARRIVING
    directory: str | None = field("Where its file is kept; without, a private temporary folder.", None)
