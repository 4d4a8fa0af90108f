"""Verbs that read the content of a page: snapshot, find and extract."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import MAYBE_TARGET, CommandForm, ToolForm
from cdpengine.act.requests import LOADING, ActRequest, SnapshotMode, check_element
from cdpengine.act.response import shorten_diff
from cdpengine.act.views import take_snapshot
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine._page.search.locator import FoundNode
    from cdpengine._snapshot.ref import Ref
    from cdpengine._snapshot.snapshot import Snapshot
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class TakeSnapshot(ActRequest):
    """Read the page as lines of text, with refs for interactive elements."""

    kind = "snapshot"
    timing = LOADING
    in_order = False
    tool = ToolForm(
        meaning="Read the page as text. Elements have refs such as e12, which the other tools take.",
        fields=("interactive", "root", "find", "maxTokens"),
    )
    commands = (
        CommandForm(
            meaning="Print the page's content, with a ref for each element.",
            loads=True,
            example="snapshot --interactive https://example.com",
        ),
    )

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
    source: Literal["ax", "computed", "hybrid", "dom"] | None = field(
        "The source of the snapshot; by default the best one for each frame.", None
    )
    ignored: bool = field("In mode aria, include the nodes that Chrome ignores.", False)
    details: bool = field(
        "Also return the refs, the gaps and the statistics as data; in mode aria, the nodes, too.", False
    )
    diff: bool = field("Return the changes since the last snapshot instead of the whole.", False)

    def check(self) -> None:
        """Raise InvalidArgumentError for fields that exclude `find`."""
        if self.find is None:
            return
        if not self.find.strip():
            raise InvalidArgumentError("snapshot.find", "nothing to find", "a text")
        if self.diff or self.max_chars is not None or self.max_tokens is not None:
            raise InvalidArgumentError("snapshot", "find, and diff, maxChars or maxTokens", "one of them")

    async def run(self, performance: Performance) -> dict[str, Any]:
        options: dict[str, Any] = {
            "mode": self.mode,
            "interactive": self.interactive,
            "compact": self.compact,
            "max_depth": self.max_depth,
            "max_chars": self.max_chars,
            "max_tokens": self.max_tokens,
            "root": self.root,
            "frame": self.frame,
            "refs": self.refs,
            "source": self.source,
            "ignored": self.ignored,
        }
        snapshot = await performance.actor.look(performance.page, performance.left, **options)
        result: dict[str, Any] = {"title": snapshot.title, "refs": len(snapshot.refs)}
        if self.details:
            known = snapshot.to_json()
            result["details"] = {name: known[name] for name in _DETAILS if name in known}
        if self.diff and snapshot.diff is not None:
            performance.actor.give(performance.page, snapshot, snapshot.diff.lines)
            return {**result, "diff": str(snapshot.diff)}
        if self.find is None:
            performance.actor.give(performance.page, snapshot)
            return {**result, "snapshot": snapshot.text}
        found = _lines_that_say(self.find, snapshot.text)
        performance.actor.give(performance.page, snapshot, found.split("\n"))
        return {**result, "snapshot": found}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        yield shorten_diff(result["diff"]) if "diff" in result else result["snapshot"]


_DETAILS = ("refs", "gaps", "stats", "nodes")
"""Fields of a snapshot's JSON that `details` adds to the result."""


def _lines_that_say(words: str, text: str) -> str:
    """Return the lines that contain `words`, ignoring case, and the lines of their ancestors."""
    folded = words.casefold()
    lines = text.split("\n")
    widths = [len(line) - len(line.lstrip()) for line in lines]
    numbers: set[int] = set()
    above: list[int] = []
    for number, line in enumerate(lines):
        while above and widths[above[-1]] >= widths[number]:
            above.pop()
        if folded in line.casefold():
            numbers.update(above, [number])
        above.append(number)
    return "\n".join(lines[number] for number in sorted(numbers)) or f"# no line contains {words[:80]!r}"


@attrs.frozen(kw_only=True)
class Find(ActRequest):
    """Find elements by role, name or text, and return their refs."""

    kind = "find"
    listed = ("nodes", "nothing was found")
    timing = LOADING
    in_order = False
    tool = ToolForm(
        meaning="Find elements by role, name or text; returns their refs.", fields=("role", "name", "text")
    )
    commands = (
        CommandForm(
            meaning="Find elements by role, name or text, and print their refs; exit with 1 if none matches.",
            example="find --role button --name Buy",
            script=False,  # it has only options
        ),
    )

    role: str | None = field("The role, as in snapshots.", None)
    name: str | None = field("The whole accessible name, in any case.", None)
    text: str | None = field("Part of its visible text, in any case.", None)
    exact: bool = field("Match the whole name and text, in this case.", False)
    limit: int = field("Maximum number of elements.", 20, least=1, most=1000)

    def check(self) -> None:
        """Raise InvalidArgumentError if nothing is to be found."""
        if not (self.role or self.name or self.text):
            raise InvalidArgumentError("find", "nothing to find", "a role, a name or a text")

    async def run(self, performance: Performance) -> dict[str, Any]:
        page = performance.page
        snapshot = await take_snapshot(page, refs="all", timeout=performance.left)
        found: Sequence[Ref] = []
        if self.text is not None and self.role is None and self.name is None:
            nodes = await page.find_all(text=self.text, exact=self.exact, timeout=0)
            found = [await _ref_of(performance, node) for node in nodes[: self.limit]]
            count = len(nodes)
        if not found:  # the string is only part of a name
            matched = snapshot.find_all(self.role, self.name, text=self.text, exact=self.exact)
            found, count = matched[: self.limit], len(matched)
        page.internals.give({ref.id: ref for ref in found})
        texts = _texts_in(snapshot, {ref.id for ref in found if not ref.name})
        listed = [
            {"ref": ref.id, "role": ref.role, "name": ref.name, "nth": ref.nth}
            | ({"text": texts[ref.id]} if ref.id in texts else {})
            for ref in found
        ]
        return {"count": count, "nodes": listed}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        from cdpengine._snapshot.text import shorten

        for node in result["nodes"]:
            words = shorten(node["name"] or node.get("text", ""), _LONGEST_FOUND)
            yield escape_line(f'{node["ref"]} {node["role"]} "{words}"')


def _texts_in(snapshot: Snapshot, refs: Collection[str]) -> dict[str, str]:
    """Return the text in each of these elements, shortened; without those that have none."""
    from cdpengine._snapshot.text import shorten

    nodes = snapshot.nodes if refs else ()
    texts = {}
    for place, node in enumerate(nodes):
        if node.ref is None or node.ref.id not in refs:
            continue
        words = node.text
        for inside in islice(nodes, place + 1, None):
            if inside.parent is None or inside.parent < place or len(words) > _TEXT_OF_FOUND:
                break
            words = f"{words} {inside.text or inside.name}"
        if text := shorten(" ".join(words.split()), _TEXT_OF_FOUND):
            texts[node.ref.id] = text
    return texts


_LONGEST_FOUND = 100
"""Maximum length of the name or text of an element that a list shows, in characters."""

_TEXT_OF_FOUND = 300
"""Maximum length of the text that names an element without another name, in characters."""


async def _ref_of(performance: Performance, found: FoundNode) -> Ref:
    """Return the ref of an element found by its text: its current ref, or a new one, named by the text."""
    from cdpengine._api.page.targets import assign_found
    from cdpengine._page.frames import renderer_of
    from cdpengine._snapshot.text import shorten

    refs = performance.page.internals.refs
    known = refs.known(found.loader_id, found.backend_node_id)
    if known is not None:
        return known
    text = await performance.page.extract_text(found, timeout=performance.left)
    name = shorten(" ".join(text.split()), _TEXT_OF_FOUND)
    frames = performance.page.internals.target.frames
    frame = frames.get(found.frame_id) or frames.main
    return assign_found(refs, found, "generic", name, await renderer_of(frame.session, frame))


@attrs.frozen(kw_only=True)
class Extract(ActRequest):
    """Return the readable content of the page, as text or Markdown."""

    kind = "extract"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Read the page's text as Markdown.", fields=("ref", "mainOnly", "maxChars"))
    commands = (
        CommandForm(
            meaning="Print the readable content of the page, as Markdown or text.",
            places=(MAYBE_TARGET,),
            loads=True,
            example="extract --main-only https://example.com",
        ),
        CommandForm(
            name="text",
            meaning="Print the readable content of the page as text, like extract --format text.",
            places=(MAYBE_TARGET,),
            preset={"format": "text"},
            loads=True,
            example="text https://example.com",
            console=False,
        ),
        CommandForm(
            name="markdown",
            meaning="Print the readable content of the page as Markdown, like extract.",
            places=(MAYBE_TARGET,),
            preset={"format": "markdown"},
            loads=True,
            example="markdown https://example.com main",
            console=False,
        ),
    )

    format: Literal["text", "markdown"] = field("The format of the result.", "markdown")
    ref: str | None = field("Only the content of this element, by its ref.", None)
    selector: str | None = field("Only the content of the element that this CSS selector matches.", None)
    main_only: bool = field("Only the main content, without navigation, headers and footers.", False)
    max_chars: int | None = field("Maximum length, in characters.", None, least=1)

    def check(self) -> None:
        """Raise InvalidArgumentError for two elements."""
        check_element(self, self.kind, needed=False)

    async def run(self, performance: Performance) -> str:
        target = self.ref if self.ref is not None else self.selector
        extract = (
            performance.page.extract_markdown if self.format == "markdown" else performance.page.extract_text
        )
        return await extract(
            target, main_only=self.main_only, max_chars=self.max_chars, timeout=performance.left
        )
