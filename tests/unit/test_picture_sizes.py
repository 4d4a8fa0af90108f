"""Sizes of pictures read from their headers, compared with Pillow's own encoders."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from cdpengine._pictures.sizes import size_of
from cdpengine.errors import ProtocolError


@pytest.mark.parametrize(
    ("form", "mode", "options"),
    [
        ("PNG", "RGBA", {}),
        ("JPEG", "RGB", {}),
        ("JPEG", "RGB", {"progressive": True, "comment": b"x" * 300}),
        ("WEBP", "RGB", {}),
        ("WEBP", "RGBA", {}),
        ("WEBP", "RGBA", {"lossless": True}),
        ("WEBP", "RGB", {"exif": b"Exif\0\0x"}),
    ],
)
def test_the_header_gives_the_size(form: str, mode: str, options: dict[str, object]) -> None:
    written = io.BytesIO()
    Image.new(mode, (1234, 321)).save(written, form, **options)
    data = written.getvalue()
    assert size_of(data) == (1234, 321)
    for end in (0, 3, 8, 15, 18):
        with pytest.raises(ProtocolError):
            size_of(data[:end])


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\xff\xd8" + b"\0" * 50, b"RIFF1234WEBPxxxx" + b"\0" * 50])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        size_of(data)
