"""Pictures without a browser: tiles, PNGs joined line by line, image options, Pillow's part."""

from __future__ import annotations

import io
import random
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cdpengine._pictures.editing import (
    SIGNATURE,
    Area,
    ImageFormat,
    ImageOptions,
    OtherKind,
    PngColumn,
    check_colour,
    check_pixels,
    format_of,
    join_pictures,
    paint_boxes,
    rows_of_tiles,
)
from cdpengine.errors import InvalidArgumentError


def picture(width: int, height: int, mode: str = "RGB", seed: int = 1) -> Image.Image:
    noise = random.Random(seed).randbytes(width * height * len(mode))
    return Image.frombytes(mode, (width, height), noise)


def png(image: Image.Image) -> bytes:
    to = io.BytesIO()
    image.save(to, "PNG")
    return to.getvalue()


def filtered_png(image: Image.Image, kind: int) -> bytes:
    """Return a PNG whose lines all have the filter `kind`, written by the specification."""
    width, height = image.size
    channels = len(image.mode)
    raw = image.tobytes()
    lines = []
    above = bytes(width * channels)
    for row in range(height):
        line = raw[row * width * channels : (row + 1) * width * channels]
        out = bytearray([kind])
        for at, value in enumerate(line):
            a = line[at - channels] if at >= channels else 0
            b = above[at]
            c = above[at - channels] if at >= channels else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((value - (0, a, b, (a + b) // 2, paeth)[kind]) & 0xFF)
        lines.append(bytes(out))
        above = line
    header = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b"")]
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("kind", range(5))
def test_a_column_contains_the_pictures_in_order(kind: int, mode: str) -> None:
    parts = [picture(7, height, mode, seed) for seed, height in enumerate((3, 1, 5))]
    column = PngColumn()
    for part in parts:
        column.add(filtered_png(part, kind))
    with Image.open(io.BytesIO(column.finish())) as whole:
        assert whole.size == (7, 9)
        assert whole.mode == mode
        assert whole.tobytes() == b"".join(part.tobytes() for part in parts)


def test_a_column_of_large_pictures_as_pillow_writes_them() -> None:
    parts = [picture(700, 600, "RGB", seed) for seed in range(2)] + [Image.new("RGB", (700, 600), "#123456")]
    column = PngColumn()
    for part in parts:
        column.add(png(part))
    with Image.open(io.BytesIO(column.finish())) as whole:
        assert whole.tobytes() == b"".join(part.tobytes() for part in parts)


def test_pictures_of_another_kind_are_refused_before_anything_is_added() -> None:
    column = PngColumn()
    column.add(png(picture(4, 4)))
    for other in (
        png(picture(5, 4)),
        png(picture(4, 4, "RGBA")),
        png(picture(4, 4).convert("L")),
        b"GIF89a",
        SIGNATURE,
    ):
        with pytest.raises(OtherKind):
            column.add(other)
    column.add(png(picture(4, 2)))
    with Image.open(io.BytesIO(column.finish())) as whole:
        assert whole.size == (4, 6)


@given(
    st.integers(1, 30_000),
    st.integers(1, 60_000),
    st.sampled_from([0.5, 1, 1.25, 1.5, 2, 2.75, 3]),
    st.floats(0, 50),
)
def test_tiles_cover_an_area_without_overlap(width: int, height: int, scale: float, x: float) -> None:
    area = Area(x, 7, width, height)
    rows = rows_of_tiles(area, scale)
    assert sum(row[0].height for row in rows) == height
    assert all(sum(tile.width for tile in row) == width for row in rows)
    assert all(max(tile.pixels(scale)) <= 8192 for row in rows for tile in row)
    top = 7.0
    for row in rows:
        assert {tile.y for tile in row} == {top}
        top += row[0].height
    assert sum(row[0].pixels(scale)[1] for row in rows) == area.pixels(scale)[1]


def test_a_small_picture_is_one_tile() -> None:
    area = Area(1.5, 2, 8192, 8192)
    assert rows_of_tiles(area, 1) == ((area,),)
    assert len(rows_of_tiles(area, 1.01)) == 2


@pytest.mark.parametrize("image_format", ["png", "jpeg", "webp"])
def test_tiles_joined_by_pillow(image_format: ImageFormat) -> None:
    colours = [["#ff0000", "#00ff00"], ["#0000ff", "#ffffff"]]
    rows = [[png(Image.new("RGB", (32, 16), colour)) for colour in row] for row in colours]
    with Image.open(
        io.BytesIO(join_pictures(rows, image_format, 100 if image_format != "png" else None))
    ) as whole:
        assert whole.size == (64, 32)
        for y, row in enumerate(colours):
            for x, colour in enumerate(row):
                seen = whole.convert("RGB").getpixel((x * 32 + 16, y * 16 + 8))
                wanted = tuple(bytes.fromhex(colour[1:]))
                assert isinstance(seen, tuple)
                assert max(abs(a - b) for a, b in zip(seen, wanted, strict=True)) <= 4


def test_boxes_are_painted_over() -> None:
    data = paint_boxes(
        png(Image.new("RGB", (20, 10))), [(2.4, 3, 6, 8), (-5, -5, 1, 1)], "#ff00ff", "png", None
    )
    with Image.open(io.BytesIO(data)) as image:
        pink = {(x, y) for x in range(20) for y in range(10) if image.getpixel((x, y)) == (255, 0, 255)}
    assert pink == {(0, 0)} | {(x, y) for x in range(2, 6) for y in range(3, 8)}


def test_formats_come_from_names() -> None:
    named = {"a.png": "png", "a.JPG": "jpeg", "a.jpeg": "jpeg", "b.webp": "webp"}
    assert {name: format_of(Path(name), None) for name in named} == named
    assert format_of(None, None) == "png"
    assert format_of(None, "webp") == "webp"
    assert format_of(Path("shot.bin"), "jpeg") == "jpeg"
    for name, given_format in (("a.gif", None), ("a", None), ("a.png", "jpeg")):
        with pytest.raises(InvalidArgumentError):
            format_of(Path(name), given_format)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"format": "gif"},
        {"quality": 50},
        {"format": "jpeg", "quality": 101},
        {"format": "jpeg", "quality": "90"},
        {"format": "jpeg", "omit_background": True},
        {"scale": 0},
        {"scale": 11},
        {"scale": "2"},
        {"scale": True},
    ],
)
def test_odd_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        ImageOptions(**options)  # type: ignore[arg-type]


def test_options_a_format_lacks_are_refused_by_name() -> None:
    ImageOptions("png").check_size(1, 200_000)
    ImageOptions("jpeg").check_size(65_535, 1)
    for image_format, size in (("jpeg", (1, 65_536)), ("webp", (16_384, 1))):
        with pytest.raises(InvalidArgumentError, match=r'use "png", a smaller `scale`') as refused:
            ImageOptions(image_format).check_size(*size)  # type: ignore[arg-type]
        assert f"{size[0]} x {size[1]} pixels" in str(refused.value)
    with pytest.raises(InvalidArgumentError):
        check_pixels("jpeg", 65_535, 65_535)
    for colour in ("red", "#12345", "#12345g", None):
        with pytest.raises(InvalidArgumentError):
            check_colour(colour)  # type: ignore[arg-type]
