"""Errors of a page: navigations, downloads, dialogs."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.words import LONGEST_URL, shown_url


@attrs.define(eq=False, slots=False, str=False, repr=False)
class NavigationFailedError(EngineError):
    """The document did not load. `reason` is Chrome's own word, such as net::ERR_CONNECTION_REFUSED.

    `url` is where it was to go; with `asked` (an entry of the history that is not there), where the page is.
    """

    url: str
    reason: str
    asked: str = ""

    def _describe(self) -> str:
        return f"navigation to {self.asked or shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DownloadFailedError(EngineError):
    """There is no file: the download was cancelled, refused or broken off, or its file could not be kept."""

    url: str
    reason: str

    def _describe(self) -> str:
        return f"download of {shown_url(self.url)} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DialogOpenedError(EngineError):
    """A JavaScript dialog opened during `action`, under the policy "raise". It was dismissed at once.

    `dialog` is its record (a `cdpengine.Dialog`); `kind` is its type, `text` what the page said in it. The action
    itself came to its end.
    """

    action: str
    kind: str
    text: str = ""
    dialog: object = None

    def _describe(self) -> str:
        text = self.text if len(self.text) <= LONGEST_URL else f"{self.text[:LONGEST_URL]}..."
        return f"{self.action}: the page opened a dialog ({self.kind} {text!r}), which was dismissed"
