"""Clickables: the elements that a page made clickable without saying so. Pure.

Rule: an element is clickable by its own doing, not by what is around it. These are own signs:
- it listens to clicks or presses itself (`isClickable`: addEventListener, the attribute or the property). One
  that does nothing else to invite a click, and holds other things to click or more than `MOST_INSIDE` elements,
  listens on behalf of what is in it, as a list, a document or the root of a React application does;
- its cursor is a pointer, its parent's is not. Where all its text belongs to links and buttons inside, it is
  only their surroundings; inside of a link or button, it is a part of that;
- it has a `tabindex` of 0 or more.
`html`, `body`, labels and options never are. What has no box, or is invisible, is left out.
"""

from __future__ import annotations

from itertools import accumulate

import attrs

from cdpengine.snapshot.domsnapshot import ELEMENT, TEXT, Capture, CapturedDocument
from cdpengine.snapshot.text import collapse_space, shorten

MOST_INSIDE = 20
"""What listens, and holds more elements than this, listens for them."""

LONGEST_TEXT = 2000
"""Of the text of an element, no more than about this many characters are read."""

LONGEST_NAME = 80

_NEVER = frozenset({"HTML", "BODY", "LABEL", "OPTION", "OPTGROUP", "HEAD", "IFRAME", "FRAME"})
_NATIVE = frozenset({"A", "BUTTON", "INPUT", "SELECT", "TEXTAREA", "SUMMARY", "AREA"})
_EDITABLE = frozenset({"", "true", "plaintext-only"})
_NAMING = ("aria-label", "title", "alt")
_HANDLERS = ("onclick", "onmousedown", "onmouseup")
_ATTRIBUTES = frozenset({*_NAMING, *_HANDLERS, "contenteditable", "href", "tabindex"})
_MOST_READ = 500


@attrs.frozen
class Clickable:
    """One such element. `text` is what is written in it, on one line; `name` that, or what attributes call it.

    `index` and `end` are the range of its nodes in the capture. `new` says whether it may be shown where the
    tree has no node for it: what is a control by its kind and has none was left out for a reason. `tag` is the
    element's name in capitals.
    """

    index: int
    end: int
    backend_node_id: int
    name: str
    text: str
    new: bool = True
    tag: str = ""


@attrs.define(eq=False)
class _Tables:
    """Columns by node index, made once for a document."""

    capture: Capture
    document: CapturedDocument
    above: list[int]  # the element that a node is in, -1 for none
    ends: list[int]
    rows: dict[int, int]  # the row of its layout
    names: dict[str, int]  # the strings that attributes are looked up by

    def attribute(self, index: int, *wanted: str) -> str | None:
        all_given = self.document.nodes.attributes
        given = all_given[index] if index < len(all_given) else ()
        for name in wanted if given else ():
            number = self.names.get(name)
            for at in range(0, len(given) - 1, 2) if number is not None else ():
                if given[at] == number:
                    return self.capture.string(given[at + 1])
        return None

    def style(self, index: int, column: int) -> str:
        row = self.rows.get(index)
        if row is None or row >= len(self.document.layout.styles):
            return ""
        styles = self.document.layout.styles[row]
        return self.capture.string(styles[column]) if column < len(styles) else ""

    def written(self, row: int) -> str:
        texts = self.document.layout.text
        return self.capture.string(texts[row]) if row < len(texts) else ""


def subtree_ends(parents: tuple[int, ...]) -> list[int]:
    """Return, for each node, the index after the last one that is in it. Parents come before their children."""
    ends = list(range(1, len(parents) + 1))
    for index in range(len(parents) - 1, -1, -1):
        parent = parents[index]
        if 0 <= parent < index and ends[parent] < ends[index]:
            ends[parent] = ends[index]
    return ends


def find_clickables(capture: Capture, frame_id: str, *, within: int | None = None) -> list[Clickable]:
    """Return the clickables of a frame's document, in the order of the page, outer ones first.

    `within` is a backend node id: only what is in that element, it included.
    """
    document = capture.document(frame_id)
    if document is None:
        return []
    tables = _tables(capture, document)
    found = _Finding(tables).find()
    if within is None:
        return found
    ids = document.nodes.backend_node_id
    if within not in ids:
        return []
    first = ids.index(within)
    return [each for each in found if first <= each.index < tables.ends[first]]


def _tables(capture: Capture, document: CapturedDocument) -> _Tables:
    nodes = document.nodes
    above: list[int] = []
    for index, parent in enumerate(nodes.parent_index):
        inside = 0 <= parent < index
        above.append(-1 if not inside else parent if nodes.node_type[parent] == ELEMENT else above[parent])
    rows: dict[int, int] = {}
    for row, index in enumerate(document.layout.node_index):
        if 0 <= index < len(above):
            rows.setdefault(index, row)
    names = {string: number for number, string in enumerate(capture.strings) if string in _ATTRIBUTES}
    return _Tables(capture, document, above, subtree_ends(nodes.parent_index), rows, names)


class _Finding:
    def __init__(self, tables: _Tables) -> None:
        self._tables = tables
        self._nodes = tables.document.nodes
        self._count = len(self._nodes.parent_index)
        strings = tables.capture.strings
        self._tags = [
            strings[name].upper() if kind == ELEMENT and 0 <= name < len(strings) else ""
            for name, kind in zip(self._nodes.node_name, self._nodes.node_type, strict=True)
        ]

    def find(self) -> list[Clickable]:
        tables, tags = self._tables, self._tags
        listening = self._listening()
        pointing = {index for index in tables.rows if self._points(index)}
        focusable = {index for index in tables.rows if tags[index] and self._takes_focus(index)}
        signed = (listening | pointing | focusable) & tables.rows.keys()
        native = [self._is_native(index) for index in range(self._count)]
        in_native = self._inherited(native)
        # Sums over all nodes before an index: elements with a box, signs and controls, text outside of controls.
        boxes = self._sums([bool(tags[index]) and index in tables.rows for index in range(self._count)])
        signs = self._sums([index in signed or native[index] for index in range(self._count)])
        controls = self._sums(native)
        loose = self._sums(
            [
                self._nodes.node_type[index] == TEXT and index in tables.rows and not in_native[index]
                for index in range(self._count)
            ]
        )
        found = []
        for index in sorted(signed):
            tag, inside, end = tags[index], index + 1, tables.ends[index]
            if tag in _NEVER or tag.startswith("::") or not tag or tables.style(index, 1) != "visible":
                continue
            invites = index in pointing or index in focusable or tables.style(index, 0) == "pointer"
            delegates = (
                signs[end] > signs[inside] or boxes[end] - boxes[inside] > MOST_INSIDE
            ) and not invites
            surrounds = controls[end] > controls[inside] and loose[end] == loose[inside]
            by_listening = index in listening and not delegates and not native[index]
            by_pointing = index in pointing and not surrounds and not (in_native[index] and not native[index])
            by_focus = index in focusable and not native[index]
            if by_listening or by_pointing or by_focus:
                found.append(self._clickable(index, new=not native[index]))
        return found

    def _listening(self) -> set[int]:
        """Return what listens itself. What can be edited counts as clickable to Chrome, all through."""
        editable = self._inherited(
            [
                bool(tag) and (self._tables.attribute(index, "contenteditable") in _EDITABLE)
                for index, tag in enumerate(self._tags)
            ]
        )
        return {
            index
            for index in self._nodes.is_clickable.index
            if 0 <= index < self._count and (not editable[index] or self._has_handler(index))
        }

    def _has_handler(self, index: int) -> bool:
        return self._tables.attribute(index, *_HANDLERS) is not None

    def _points(self, index: int) -> bool:
        tables = self._tables
        if not self._tags[index] or tables.style(index, 0) != "pointer":
            return False
        above = tables.above[index]
        while above >= 0 and above not in tables.rows:
            above = tables.above[above]
        return above < 0 or tables.style(above, 0) != "pointer"

    def _takes_focus(self, index: int) -> bool:
        given = self._tables.attribute(index, "tabindex")
        try:
            return given is not None and int(given.strip()) >= 0
        except ValueError:
            return False

    def _is_native(self, index: int) -> bool:
        tag = self._tags[index]
        return tag in _NATIVE and (
            tag not in ("A", "AREA") or self._tables.attribute(index, "href") is not None
        )

    def _inherited(self, given: list[bool]) -> list[bool]:
        """Return for each node whether it, or an element that it is in, has what is given."""
        out: list[bool] = []
        for index, own in enumerate(given):
            above = self._tables.above[index]
            out.append(own or (above >= 0 and out[above]))
        return out

    @staticmethod
    def _sums(given: list[bool]) -> list[int]:
        return list(accumulate(given, initial=0))

    def _clickable(self, index: int, *, new: bool) -> Clickable:
        tables = self._tables
        end = tables.ends[index]
        pieces: list[str] = []
        length = 0
        called = ""
        block = -1
        for inside in range(index, min(end, index + _MOST_READ)):
            row = tables.rows.get(inside)
            if row is None:
                continue
            if self._nodes.node_type[inside] == TEXT:
                if self._tags[tables.above[inside]].startswith("::"):
                    continue  # a bullet or the like
                if (now := self._block_of(inside)) != block:
                    pieces.append(" ")
                    block = now
                pieces.append(tables.written(row))
                length += len(pieces[-1])
            else:
                called = called or tables.attribute(inside, *_NAMING) or ""
            if length > LONGEST_TEXT:
                break
        text = collapse_space("".join(pieces))[:LONGEST_TEXT]
        label = collapse_space(tables.attribute(index, "aria-label") or "")
        name = shorten(label or text or collapse_space(called), LONGEST_NAME)
        return Clickable(index, end, self._nodes.backend_node_id[index], name, text, new, self._tags[index])

    def _block_of(self, index: int) -> int:
        """Return the element on whose lines a text stands."""
        above = self._tables.above[index]
        while above >= 0 and self._tables.style(above, 2) == "inline":
            above = self._tables.above[above]
        return above
