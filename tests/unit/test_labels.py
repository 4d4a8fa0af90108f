"""Labels on pictures: inside the picture, apart if possible, cut at frames."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cdpengine._snapshot.labels import boxes_of, clip_box, draw_labels, place_labels
from cdpengine._snapshot.node import Box, Document, Node
from cdpengine._snapshot.refs import Ref

SIZE = (400.0, 300.0)


def measure(text: str) -> tuple[float, float]:
    return 6.0 * len(text) + 4, 14.0


numbers = st.floats(-100, 500, allow_nan=False)
lengths = st.floats(0, 300, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers, lengths, lengths), max_size=30))
def test_every_box_in_the_picture_has_its_label_inside_of_it(boxes: list[Box]) -> None:
    named = [(f"e{number}", box) for number, box in enumerate(boxes)]
    labels = place_labels(named, SIZE, measure)
    assert [label.text for label in labels] == [name for name, box in named if clip_box(box, (0, 0, *SIZE))]
    for label in labels:
        x, y, width, height = label.place
        assert x >= 0
        assert y >= 0
        assert x + width <= SIZE[0]
        assert y + height <= SIZE[1]


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=20),
    st.integers(5, 80),
    st.integers(5, 40),
)
def test_labels_do_not_overlap_if_there_is_room(cells: set[tuple[int, int]], width: int, height: int) -> None:
    boxes = [(f"e{x}{y}", (x * 80.0, y * 50.0, float(width), float(height))) for x, y in sorted(cells)]
    places = [label.place for label in place_labels(boxes, SIZE, measure)]
    for number, place in enumerate(places):
        assert all(clip_box(place, other) is None for other in places[:number])


def ref(number: int, frame: str) -> Ref:
    return Ref(
        f"e{number}", "button", "B", 0, backend_node_id=number, frame_id=frame, loader_id="L", session_id=None
    )


def test_boxes_of_frames_are_moved_and_cut() -> None:
    inner = Node("button", "interactive", backend_node_id=3, frame_id="in", box=(10, 10, 500, 20))
    below = Node("button", "interactive", backend_node_id=4, frame_id="in", box=(10, 210, 50, 20))
    frame = Node("iframe", "interactive", backend_node_id=2, frame_id="top", box=(100, 50, 210, 110))
    frame.document = Document([inner, below], frame_id="in", viewport=(200, 100))
    frame.children = frame.document.roots
    refs = {
        (each.frame_id, each.backend_node_id): each for each in (ref(2, "top"), ref(3, "in"), ref(4, "in"))
    }
    assert boxes_of(Document([frame], frame_id="top"), refs, {"in": (5.0, 5.0)}) == [
        ("e2", (100, 50, 210, 110)),
        ("e3", (115, 65, 190, 20)),
    ]


def test_drawing_keeps_the_size_and_marks_the_box_at_its_scale() -> None:
    out = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(out, "PNG")
    for image_format in ("png", "jpeg", "webp"):
        drawn = draw_labels(
            out.getvalue(),
            [("e1", (30.0, 20.0, 40.0, 20.0))],
            width=100,
            image_format=image_format,
            quality=None,
        )
        with Image.open(io.BytesIO(drawn)) as image:
            assert (image.format, image.size) == (image_format.upper(), (200, 100))
            edge, middle = image.convert("RGB").getpixel((140, 60)), image.convert("RGB").getpixel((100, 60))
        assert isinstance(edge, tuple)
        assert isinstance(middle, tuple)
        assert sum(middle) > 700
    with Image.open(
        io.BytesIO(
            draw_labels(
                out.getvalue(),
                [("e1", (30.0, 20.0, 40.0, 20.0))],
                width=100,
                image_format="png",
                quality=None,
            )
        )
    ) as image:
        assert image.getpixel((60, 60)) == (0xB0, 0x00, 0x20)
        assert image.getpixel((139, 60)) == (0xB0, 0x00, 0x20)
        assert image.getpixel((142, 60)) == (255, 255, 255)


def test_a_label_moves_to_a_plain_area_next_to_its_box() -> None:
    picture = Image.new("RGB", (200, 100), "white")
    for x in range(0, 200, 2):  # content everywhere except below the box
        picture.paste("black", (x, 0, x + 1, 60))
    out = io.BytesIO()
    picture.save(out, "PNG")
    box = (80.0, 40.0, 40.0, 20.0)
    drawn = draw_labels(out.getvalue(), [("e1", box)], width=200, image_format="png", quality=None)
    with Image.open(io.BytesIO(drawn)) as image:
        assert image.crop((0, 0, 200, 38)).tobytes() == picture.crop((0, 0, 200, 38)).tobytes()
        assert image.crop((80, 62, 120, 74)).getcolors() != [(40 * 12, (255, 255, 255))]
