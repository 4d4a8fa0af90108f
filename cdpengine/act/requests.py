"""Requests to a page and a browser, as data: the base classes of the verbs.

Rule: a verb is one class in `act/verbs/`: its JSON kind, its fields, its policy, and `run`, which calls the method
of the page (`performing.Verb`). Names in JSON are the Python names in camelCase. Times are in milliseconds, as in
all of the JSON; the engine below uses seconds. The default `timeoutMs` is 8 s for actions on an element, 20 s for
requests that wait for the network or run a script, and 120 s for those that wait for a person or a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal
from urllib.request import url2pathname

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.notations import CommandForm, ToolForm
from cdpengine.errors import InvalidArgumentError

LONGEST_TIMEOUT_MS = 120_000

ELEMENT = Timing(8_000, 60_000)
LOADING = Timing(20_000, LONGEST_TIMEOUT_MS)
LONG = Timing(120_000, 600_000)

LoadStateName = Literal["commit", "domcontentloaded", "load", "networkidle"]
SnapshotMode = Literal["role", "ai", "aria", "numbered", "webarena"]

_SCRIPT_SCHEMES = ("javascript:", "data:", "blob:")


@attrs.frozen(kw_only=True)
class ActRequest:
    """A request. `kind` is its name in JSON.

    The policy of a kind: `timing` has the default and the maximum of `timeout_ms`. `in_order`: it waits for its
    turn among the page's requests; requests that only read run concurrently, as evaluate does. `needs_page`: it
    uses a page. `leaves`: it leads to another document. `opens_url`: it goes to a URL of the caller, and opens a
    page if none is open. `runs_script`: it runs a script of the caller. `uses_protocol`: it bypasses all other
    limits of an actor and sees the whole browser, so an actor refuses it unless such requests are enabled.

    `tool` and `commands` are its forms for MCP and the shell. `text_lines` shows a result to a person.
    `listed`, if the result is a list: the field with its items ("": the result itself), and the note for none.
    """

    kind: ClassVar[str] = ""
    timing: ClassVar[Timing] = ELEMENT
    in_order: ClassVar[bool] = True
    needs_page: ClassVar[bool] = True
    leaves: ClassVar[bool] = False
    opens_url: ClassVar[bool] = False
    runs_script: ClassVar[bool] = False
    uses_protocol: ClassVar[bool] = False
    tool: ClassVar[ToolForm | None] = None
    commands: ClassVar[Sequence[CommandForm]] = ()
    listed: ClassVar[tuple[str, str] | None] = None

    target_id: str | None = field("The page, by its id or number in tabs; without, the current one.", None)
    timeout_ms: int | None = field("Timeout, in milliseconds.", None, least=1)

    @property
    def timeout(self) -> float:
        """The timeout in seconds: `timeout_ms`, at most the maximum of its kind."""
        requested = self.timing.default_ms if self.timeout_ms is None else self.timeout_ms
        return min(requested, self.timing.longest_ms) / 1000

    def check(self) -> None:
        """Raise InvalidArgumentError for fields that are incompatible."""

    def wants_page(self) -> bool:
        """Return whether the request uses a page."""
        return self.needs_page

    def script(self) -> str:
        """Return how the request runs a script of the caller, such as "evaluate", or "" if it runs none."""
        return self.kind if self.runs_script else ""

    @staticmethod
    def text_lines(_result: Any) -> Iterable[str] | None:
        """Return the lines that show a result to a person, or None to show it as JSON."""
        return None

    @classmethod
    def notes(cls, result: Any) -> Iterator[str]:
        """Yield notes on a list: that it is empty, or the number of items that it omits."""
        if cls.listed is None:
            return
        field, empty = cls.listed
        items = result[field] if field else result
        if not items:
            yield empty
        count, dropped = (result.get(name, 0) if field else 0 for name in ("count", "dropped"))
        if count > len(items):
            yield f"{count - len(items)} more"
        if dropped:
            yield f"{dropped} older {'one was' if dropped == 1 else 'ones were'} dropped"


@attrs.frozen(kw_only=True)
class ActingRequest(ActRequest):
    """A request that changes the page."""

    diff: bool = field("Also return the changes in the page's snapshot.", False)


@attrs.frozen(kw_only=True)
class ElementRequest(ActingRequest):
    """A request for an element, which has a ref or a CSS selector.

    `needs_element`: a request without an element is refused.
    """

    needs_element: ClassVar[bool] = True

    ref: str | None = field('The element, by its ref in the last snapshot, such as "e12".', None)
    selector: str | None = field(
        "The element, by CSS, or a criterion such as text=Save. One must match.", None
    )
    heal: bool = field(
        "If the ref is stale, use the element with the same role, name and place, if unambiguous.", False
    )

    def check(self) -> None:
        """Raise InvalidArgumentError unless the request has one element."""
        check_element(self, self.kind, needed=self.needs_element)


@attrs.frozen(kw_only=True)
class CacheRequest(ActRequest):
    """A request about the cache."""

    timing = LOADING
    in_order = False
    needs_page = False


def check_element(part: Any, place: str, *, needed: bool = True) -> None:
    """Raise InvalidArgumentError if a request or a part of it has two elements, or lacks a needed one."""
    if part.ref is not None and part.selector is not None:
        raise InvalidArgumentError(place, "a ref and a selector", "one of them")
    if needed and part.ref is None and part.selector is None:
        raise InvalidArgumentError(place, "no element", "a ref of the last snapshot, or a selector")


def script_in_url(kind: str, url: str | None) -> str:
    """Return how a request to go to a URL runs a script, or "" for a URL that contains none."""
    plain = _as_read(url or "").lower()
    scheme = next((each for each in _SCRIPT_SCHEMES if plain.startswith(each)), None)
    return f"{kind} to a URL of {scheme}" if scheme else ""


def file_in_url(url: str | None) -> str | None:
    """Return the path of a file's URL, or None for other URLs."""
    plain = _as_read(url or "").replace("\\", "/")
    found = re.match(r"(?:view-source:\s*)*file:(?://([^/?#]*))?([^?#]*)", plain, re.IGNORECASE)
    if found is None:
        return None
    host = found[1] or ""
    elsewhere = f"//{host}" if host.lower() not in ("", "localhost") else ""
    return url2pathname(f"{elsewhere}/{found[2].lstrip('/')}")


def _as_read(url: str) -> str:
    """Return a URL as browsers read it: without white space before it, and without line breaks."""
    return "".join(each for each in url if each not in "\t\r\n").lstrip("".join(map(chr, range(33))))
