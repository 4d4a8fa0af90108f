"""Animated WebP files: pictures, durations and changed parts, as Pillow reads them back."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from cdpengine._pictures.webp_animation import WebPAnimation
from cdpengine.errors import ProtocolError


def picture(box: tuple[int, int, int, int] | None = None, size: tuple[int, int] = (61, 41)) -> bytes:
    image = Image.new("RGB", size, "white")
    if box is not None:
        ImageDraw.Draw(image).rectangle(box, fill="black")
    encoded = io.BytesIO()
    image.save(encoded, "PNG")
    return encoded.getvalue()


def written(*pictures: tuple[bytes, int]) -> bytes:
    file = io.BytesIO()
    animation = WebPAnimation(file, 90)
    for image, duration in pictures:
        animation.add(image, duration)
    animation.finish()
    return file.getvalue()


def test_pictures_and_durations_are_read_back() -> None:
    data = written(
        (picture(), 100), (picture((31, 21, 40, 30)), 250), (picture((31, 21, 40, 30)), 50), (picture(), 7)
    )
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size, image.n_frames) == ("WEBP", (61, 41), 3)  # type: ignore[attr-defined]
        durations, colours = [], []
        for number in range(3):
            image.seek(number)
            image.load()
            durations.append(image.info["duration"])
            colours.append(image.convert("L").tobytes()[25 * 61 + 35] > 128)
    assert durations == [100, 300, 7]
    assert colours == [True, False, True]


def test_a_small_change_adds_little() -> None:
    whole = written((picture(size=(800, 600)), 10))
    changed = written((picture(size=(800, 600)), 10), (picture((3, 3, 8, 8), (800, 600)), 10))
    assert len(changed) - len(whole) < 200


def test_another_size_is_fitted_into_the_first() -> None:
    data = written((picture(), 10), (picture(size=(30, 41)), 10))
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == (61, 41)


def test_bytes_without_a_picture_raise() -> None:
    with pytest.raises(ProtocolError):
        written((b"no picture", 10))
