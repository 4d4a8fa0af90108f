"""Screenshots and PDFs from a real Chromium: their content, their size, and the absence of leftovers."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import pytest
import trio
from PIL import Image

import cdpengine
from cdpengine._pictures.editing import LARGEST

pytestmark = pytest.mark.chrome

Image.MAX_IMAGE_PIXELS = None

BANDS = 24
BAND = 1000
"""More pixels than Chrome can draw in one pass on a GPU."""


def colour(band: int) -> tuple[int, int, int]:
    return band * 10, 255 - band * 10, 100


TALL = (
    "<!doctype html><style>body { margin: 0 } i { position: fixed; left: 0; top: 0; width: 50px; height: 20px; \
background: #0000ff }</style><i></i>"
    + "".join(
        f"<div style='margin-left: 100px; height: {BAND}px; background: rgb{colour(band)}'></div>"
        for band in range(BANDS)
    )
)


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def near(seen: Any, wanted: tuple[int, ...]) -> bool:
    return bool(max(abs(a - b) for a, b in zip(seen, wanted, strict=False)) <= 6)


@pytest.fixture
async def tall(page: cdpengine.Page) -> cdpengine.Page:
    await page.emulation.set_viewport(400, 300)
    await page.set_content(TALL)
    return page


@pytest.mark.sample(5, start=4)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"format": "jpeg", "quality": 90},
        {"scale": 0.5, "format": "webp"},
        {"omit_background": True},
        {"scale": 1.5},
    ],
    ids=str,
)
async def test_a_very_tall_page_is_whole(tall: cdpengine.Page, options: dict[str, Any]) -> None:
    scale = options.get("scale", 1)
    assert BANDS * BAND * scale > LARGEST
    data = await tall.screenshot(full_page=True, **options)
    image = opened(data)
    assert image.format == options.get("format", "png").upper()
    assert image.height == BANDS * BAND * scale
    assert abs(image.width - 400 * scale) <= 15 * scale
    for band in range(BANDS):
        for y in (band * BAND + 3, (band + 1) * BAND - 3):
            assert near(image.getpixel((int(200 * scale), int(y * scale))), colour(band)), (band, y)
    # A fixed element appears once, at its place on the page.
    left = [image.getpixel((int(20 * scale), int((y * 500 + 10) * scale))) for y in range(BANDS * 2)]
    blue = [index for index, pixel in enumerate(left) if near(pixel, (0, 0, 255))]
    assert blue == [0]
    if options.get("omit_background"):
        assert image.getpixel((70, 5000)) == (0, 0, 0, 0)
    assert await tall.evaluate("[innerWidth, innerHeight, scrollY]") == [400, 300, 0]
    assert opened(await tall.screenshot()).mode == "RGB"  # the background is back


async def test_a_picture_made_smaller_shows_the_same(tall: cdpengine.Page, tmp_path: Path) -> None:
    image = opened(await tall.screenshot(full_page=True, max_side=1568))
    assert image.height == 1568
    scale = 1568 / (BANDS * BAND)
    for band in range(BANDS):
        assert near(image.getpixel((20, int((band + 0.5) * BAND * scale))), colour(band)), band
    assert opened(await tall.screenshot(max_side=200)).size == (200, 150)
    assert opened(await tall.screenshot(max_side=4000)).size == (400, 300)
    place = tmp_path / "labelled.webp"
    labelled = await tall.pictures.labelled_screenshot(place, full_page=True, max_side=500)
    assert opened(labelled.image).height == 500
    assert place.read_bytes() == labelled.image
    assert opened(labelled.image).format == "WEBP"
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="exists"):
        await tall.pictures.labelled_screenshot(place, overwrite=False)


async def test_formats_that_cannot_hold_the_size_are_refused(tall: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="a webp picture: got .* 24000 pixels"):
        await tall.screenshot(full_page=True, format="webp")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="jpeg"):
        await tall.screenshot(full_page=True, format="jpeg", scale=3)


async def test_parts_of_a_page(tall: cdpengine.Page, tmp_path: Path) -> None:
    await tall.emulation.set_viewport(400, 300, device_scale_factor=1.5)
    assert opened(await tall.screenshot()).size == (600, 450)
    await tall.evaluate("scrollTo(0, 2500)")
    clip = await tall.screenshot(
        clip=cdpengine.BoundingBox(100, 400, 50, 200)
    )  # 2900 to 3100 of the document
    image = opened(clip)
    assert image.size == (75, 300)
    assert near(image.getpixel((10, 10)), colour(2))
    assert near(image.getpixel((10, 290)), colour(3))
    image = opened(await tall.screenshot(clip=cdpengine.BoundingBox(0, 0, 60, 30), scale=4))
    assert image.size == (240, 120)
    assert near(image.getpixel((190, 70)), (0, 0, 255))
    assert near(image.getpixel((210, 70)), (255, 255, 255))
    band = await tall.find(css="div:nth-of-type(5)")
    path = tmp_path / "band.webp"
    image = opened(await tall.screenshot(path, target=band))
    assert path.read_bytes()[:4] == b"RIFF"
    assert abs(image.height - 1500) <= 1
    assert near(image.getpixel((5, 5)), colour(4))
    fixed = await tall.find(css="i")
    masked = opened(await tall.screenshot(mask=[fixed], mask_color="#00ff00"))
    assert near(masked.getpixel((37, 15)), (0, 255, 0))
    assert not near(masked.getpixel((80, 15)), (0, 255, 0))
    assert [each.name for each in tmp_path.iterdir()] == ["band.webp"]


async def test_a_page_behind_another_and_a_page_that_hangs(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    await page.set_content("<body style='background: #ff0000'>")
    front = await browser.new_page()
    await front.bring_to_front()
    assert near(opened(await page.screenshot(timeout=20)).getpixel((5, 5)), (255, 0, 0))
    assert (await page.pdf(timeout=20)).startswith(b"%PDF")
    await front.close()
    await page.session.call("Runtime.evaluate", expression="void setTimeout(() => { while (true) {} })")
    with trio.fail_after(20):
        while await page.measure.unresponsive_for() == 0:  # until the script runs
            pass
    with pytest.raises(cdpengine.errors.PageUnresponsiveError):
        await page.screenshot(full_page=True, timeout=0.7)
    with pytest.raises(cdpengine.errors.PageUnresponsiveError):
        await page.pdf(timeout=0.7)
    await page.recover()
    assert near(opened(await page.screenshot()).getpixel((5, 5)), (255, 0, 0))


async def test_pictures_of_several_tabs_in_turn(browser: cdpengine.Browser) -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    tabs = [await browser.new_page() for _ in colours]
    for tab, colour in zip(tabs, colours, strict=True):
        await tab.set_content(f"<body style='background: rgb{colour}'>")
    for _ in range(2):
        for tab, colour in zip(tabs, colours, strict=True):
            assert near(opened(await tab.screenshot(timeout=5)).getpixel((5, 5)), colour)
    for tab in tabs:
        await tab.close()


# --- PDF -----------------------------------------------------------------------------------------------------


def pages(pdf: bytes) -> int:
    return pdf.count(b"/Type /Page\n") or pdf.count(b"/Type /Page ") or pdf.count(b"/Type /Page/")


def boxes(pdf: bytes) -> set[bytes]:
    return {part.partition(b"]")[0].partition(b"[")[2].strip() for part in pdf.split(b"/MediaBox")[1:]}


def streams(pdf: bytes) -> bytes:
    found = []
    for part in pdf.split(b"stream\n")[1:]:
        try:
            found.append(zlib.decompressobj().decompress(part))
        except zlib.error:
            continue
    return b"".join(found)


async def test_pdf_has_the_requested_size(page: cdpengine.Page, tmp_path: Path) -> None:
    parts = [
        f"<div style='break-after: page; background: #f00'><h1>{number}</h1></div>" for number in range(4)
    ]
    await page.set_content("".join(parts))
    assert boxes(await page.pdf()) == {b"0 0 612 792"}
    a4 = await page.pdf(paper="A4", landscape=True, pages="2-3")
    ((_, _, width, height),) = [[float(number) for number in box.split()] for box in boxes(a4)]
    assert [width, height] == pytest.approx([842, 595], abs=1)
    assert pages(a4) == 2
    own = await page.pdf(paper=("10cm", "5in"), margin=0)
    ((_, _, width, height),) = [[float(number) for number in box.split()] for box in boxes(own)]
    assert [width, height] == pytest.approx([283.5, 360], abs=1)
    assert b"1 0 0 rg" in streams(own)
    assert b"1 0 0 rg" not in streams(await page.pdf(background=False))
    path = tmp_path / "a.pdf"
    assert (
        await page.pictures.save_pdf(path, outline=True, footer="<span class=pageNumber></span>")
        == path.stat().st_size
    )
    assert path.read_bytes().startswith(b"%PDF")
    assert b"/Outlines" in path.read_bytes()
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="pages that the document has"):
        await page.pdf(pages="90")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="pages that the document has"):
        await page.pictures.save_pdf(tmp_path / "b.pdf", pages="90")
    with pytest.raises(cdpengine.errors.FileNotWrittenError):
        await page.pictures.save_pdf(tmp_path / "none" / "b.pdf")
    assert list(tmp_path.iterdir()) == [path]


async def test_a_pdf_of_many_pages_is_read_in_pieces(page: cdpengine.Page) -> None:
    await page.set_content("".join(f"<p>{'word ' * 200}{number}" for number in range(400)))
    pdf = await page.pdf(margin="1cm")
    assert pdf.startswith(b"%PDF")
    assert pdf.rstrip().endswith(b"%%EOF")
    assert pages(pdf) > 20
