"""Labels: placement of the labels of boxes on a picture, and drawing. Pure; Pillow is imported on first use.

Rule: every label is inside the picture, at the place where it hides least. It covers another label only if all
places at its box are taken.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from cdpengine._snapshot.node import Box, Document, Node
from cdpengine._snapshot.ref import Ref
from cdpengine.errors import ProtocolError, exhausted, shortages_named

_COLOURS = ("#b00020", "#0b57d0", "#146c2e", "#7b1fa2", "#8a4b00", "#00658f", "#5a4fcf", "#9c0063")
"""Colours dark enough for white letters (contrast of at least 4.5)."""

_TEXT = 10.0
_PADDING = 1.5
_CELL = 64

_STEP = 32
"""Minimum difference of brightness (of 255) between neighbouring pixels that counts as visible content."""


@attrs.frozen
class Label:
    """A box to draw, its label, and the label's place, in pixels of the picture."""

    text: str
    box: Box
    place: Box


def boxes_of(
    document: Document, refs: Mapping[tuple[str | None, int], Ref], origins: Mapping[str, tuple[float, float]]
) -> list[tuple[str, Box]]:
    """Return the ref and the box of each node that has both, in CSS pixels of the outermost frame's viewport.

    `refs` are by frame id and backend node id. `origins` maps each child frame's id to the offset of its viewport
    from the corner of its element's box. Boxes are clipped to their frames.
    """
    out: list[tuple[str, Box]] = []
    pending: list[tuple[Node, float, float, Box | None]] = [(node, 0, 0, None) for node in document.roots]
    pending.reverse()
    while pending:
        node, left, top, limit = pending.pop()
        inside: tuple[float, float, Box | None] = (left, top, limit)
        if node.box is not None:
            x, y, width, height = node.box
            box = clip_box((x + left, y + top, width, height), limit)
            ref = None if node.backend_node_id is None else refs.get((node.frame_id, node.backend_node_id))
            if ref is not None and box is not None:
                out.append((ref.id, box))
            child = node.document
            if child is not None and child.frame_id is not None:
                right, down = origins.get(child.frame_id, (0.0, 0.0))
                inner = (x + left + right, y + top + down, *(child.viewport or (width, height)))
                inside = (inner[0], inner[1], clip_box(inner, limit) or (0, 0, 0, 0))
        elif node.document is not None:
            inside = (0, 0, (0, 0, 0, 0))
        pending.extend((each, *inside) for each in reversed(node.children))
    return out


def clip_box(box: Box, limit: Box | None) -> Box | None:
    """Return the part of the box inside the limit; None if none exists."""
    if limit is None:
        limit = box
    left, top = max(box[0], limit[0]), max(box[1], limit[1])
    right = min(box[0] + box[2], limit[0] + limit[2])
    bottom = min(box[1] + box[3], limit[1] + limit[3])
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def place_labels(
    boxes: Sequence[tuple[str, Box]],
    size: tuple[float, float],
    measure: Callable[[str], tuple[float, float]],
    drawn: Callable[[Box], float] = lambda _: 0.0,
) -> list[Label]:
    """Find a place for the label of each box that is in a picture of that size. Other boxes get no label.

    `measure` returns the width and height of a label, `drawn` the amount of visible content at a place. Candidates
    in order: above the box's left corner, left, right and below it, inside at its corners. The chosen place covers
    the least of other labels, then the least of content and boxes.
    """
    width, height = size
    taken, framed = _Taken(), _Taken()
    for _, whole in boxes:
        if (visible := clip_box(whole, (0, 0, width, height))) is not None:
            framed.add(visible)
    out: list[Label] = []
    for text, whole in boxes:
        box = clip_box(whole, (0, 0, width, height))
        if box is None:
            continue
        w, h = measure(text)
        x, y, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
        candidates = [
            (x, y - h), (x - w, y), (right, y), (x, bottom), (right - w, y - h), (right - w, bottom),
            (x - w, bottom - h), (right, bottom - h), (right - w, y), (x, y), (right - w, bottom - h),
            (x, bottom - h),
        ]  # fmt: skip
        places: list[Box] = [
            (max(0.0, min(left, width - w)), max(0.0, min(top, height - h)), w, h) for left, top in candidates
        ]
        best = min(
            places,
            key=lambda place: (
                taken.measure_covered(place),
                drawn(place) + framed.measure_covered(place) / 2,
            ),
        )
        taken.add(best)
        out.append(Label(text, box, best))
    return out


class _Taken:
    """The taken places, by squares of the picture."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[Box]] = {}

    def add(self, box: Box) -> None:
        for square in self._of(box):
            self._squares.setdefault(square, []).append(box)

    def measure_covered(self, box: Box) -> float:
        found = {other for square in self._of(box) for other in self._squares.get(square, ())}
        parts = (clip_box(box, other) for other in found)
        return sum(part[2] * part[3] for part in parts if part is not None)

    def _of(self, box: Box) -> list[tuple[int, int]]:
        columns = range(int(box[0] // _CELL), int((box[0] + box[2]) // _CELL) + 1)
        rows = range(int(box[1] // _CELL), int((box[1] + box[3]) // _CELL) + 1)
        return [(column, row) for column in columns for row in rows]


@shortages_named(partial(exhausted, "draw labels on a picture"))
def draw_labels(
    picture: bytes,
    boxes: Sequence[tuple[str, Box]],
    *,
    width: float,
    image_format: str,
    quality: int | None,
) -> bytes:
    """Draw the boxes on the PNG and return it in the requested format. `width` is its width in CSS pixels.

    Raises PackageMissingError if Pillow is not installed, ProtocolError for bytes that are not a picture.
    """
    from PIL import Image, ImageDraw, ImageFilter, ImageFont, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(picture)) as opened:
            image = opened.convert("RGB")
    except UnidentifiedImageError as error:
        reason = "it holds no picture"
        raise ProtocolError(method="Page.captureScreenshot", reason=reason, raw=picture) from error
    edges = image.convert("L").filter(ImageFilter.FIND_EDGES).point([0] * _STEP + [255] * (256 - _STEP))

    def measure_drawn(place: Box) -> float:
        x, y, w, h = place
        return edges.crop((int(x), int(y), int(x + w) + 1, int(y + h) + 1)).histogram()[255]

    scale = image.width / width if width > 0 else 1.0
    text_scale = max(scale, 1.0)  # keeps the labels of a reduced picture legible
    font = ImageFont.load_default(size=_TEXT * text_scale)
    pixels = [(text, tuple(value * scale for value in box)) for text, box in boxes]
    draw = ImageDraw.Draw(image)
    line = max(1, round(scale * 1.5))
    padding = _PADDING * text_scale
    labels = place_labels(
        [(text, (box[0], box[1], box[2], box[3])) for text, box in pixels],
        (image.width, image.height),
        lambda text: (font.getlength(text) + 2 * padding, _TEXT * text_scale + 2 * padding),
        measure_drawn,
    )
    colours = [_COLOURS[number % len(_COLOURS)] for number in range(len(labels))]
    for label, colour in zip(labels, colours, strict=True):
        x, y, w, h = label.box
        draw.rectangle((x, y, max(x, x + w - 1), max(y, y + h - 1)), outline=colour, width=line)
    for label, colour in zip(labels, colours, strict=True):
        x, y, w, h = label.place
        draw.rectangle((x, y, x + w - 1, y + h - 1), fill=colour, outline="white")
        draw.text((x + w / 2, y + h / 2), label.text, fill="white", font=font, anchor="mm")
    out = io.BytesIO()
    options = {} if quality is None else {"quality": quality}
    image.save(out, image_format.upper(), **options)
    return out.getvalue()
