"""The commands that put a page on paper and into pictures: `screenshot` and `pdf`.

Rule: what cannot be made is refused before a browser starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import (
    Source,
    browser_options,
    json_option,
    may_overwrite,
    output_option,
    timeout_option,
    url_argument,
)
from cdpengine.cli.output import errors_as_json, print_json, say

if TYPE_CHECKING:
    from cdpengine._pictures.options import ImageFormat
    from cdpengine._pictures.pdf import PdfOptions


class _Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers with something in between, as 1280x720 or 0,0,300,200."""

    def __init__(self, name: str, separator: str, count: int) -> None:
        self.name = name
        self._separator = separator
        self._count = count

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        try:
            numbers = tuple(float(part) for part in str(value).lower().split(self._separator))
        except ValueError:
            numbers = ()
        if len(numbers) != self._count:
            self.fail(f"{value!r} is not of the form {self.name}", param, ctx)
        return numbers


@click.command(short_help="Save a page as a picture.")
@url_argument
@output_option("The file: .png, .jpg, .jpeg or .webp.")
@click.option("--full-page", is_flag=True, help="All of the page, not only what is in view.")
@click.option("--target", metavar="CSS", help="Only the first element that matches.")
@click.option("--clip", type=_Numbers("X,Y,WIDTH,HEIGHT", ",", 4), help="Only this rectangle, in CSS pixels.")
@click.option(
    "--format",
    "image_format",
    type=click.Choice(("png", "jpeg", "webp")),
    help="The format, where the file's name does not say it.",
)
@click.option("--quality", type=click.IntRange(0, 100), help="For jpeg and webp.")
@click.option(
    "--viewport", type=_Numbers("WIDTHxHEIGHT", "x", 2), help="The size of the viewport, in CSS pixels."
)
@click.option("--scale", type=click.FloatRange(0.01, 10), help="Pixels of the picture per CSS pixel.")
@click.option("--omit-background", is_flag=True, help="Leave transparent what the page does not paint.")
@click.option("--refs", is_flag=True, help="Frame and label what has a ref in a snapshot.")
@timeout_option("the loading and the picture, each,", 30_000)
@json_option
@browser_options
def screenshot(
    url: str,
    output: Path,
    full_page: bool,
    target: str | None,
    clip: tuple[float, ...] | None,
    image_format: ImageFormat | None,
    quality: int | None,
    viewport: tuple[float, ...] | None,
    scale: float | None,
    omit_background: bool,
    refs: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and save a picture of it. Pages of any height are taken whole with --full-page.

    \b
    Example:
      cdpengine screenshot --full-page https://example.com -o page.png
      cdpengine screenshot --viewport 390x844 --scale 2 https://example.com -o phone.webp
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine import BoundingBox
    from cdpengine._pictures.options import ImageOptions, format_of

    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    overwrite = may_overwrite()
    with errors_as_json(wanted=as_json):
        # What cannot be is said before a browser starts.
        ImageOptions(format_of(output, image_format), quality, scale, omit_background)

        async def take() -> None:
            async with source.open_page("about:blank", timeout=timeout) as page:
                if viewport is not None:
                    await page.set_viewport(int(viewport[0]), int(viewport[1]), timeout=timeout)
                await page.goto(url, timeout=timeout)
                found = None if target is None else await page.find(css=target, timeout=timeout)
                data = await page.screenshot(
                    output,
                    target=found,
                    clip=None if clip is None else BoundingBox(*clip),
                    full_page=full_page,
                    format=image_format,
                    quality=quality,
                    scale=scale,
                    omit_background=omit_background,
                    refs=refs,
                    overwrite=overwrite,
                    timeout=timeout,
                )
                if as_json:
                    print_json({"url": page.url, "path": output, "bytes": len(data)})
                else:
                    say(f"{output}: {len(data):,} bytes")

        trio.run(take)


@click.command(short_help="Save a page as PDF.")
@url_argument
@output_option("The file.")
@click.option(
    "--paper", metavar="NAME|WxH", default="A4", show_default=True, help="Letter, A3, 10cmx20cm, ..."
)
@click.option(
    "--margin", metavar="LENGTH[,...]", help="One length, two or four: 1cm, or 1cm,2cm. 1 cm by default."
)
@click.option("--landscape", is_flag=True, help="The longer side across.")
@click.option("--no-background", is_flag=True, help="Leave out colours and images behind the text.")
@click.option(
    "--scale", type=click.FloatRange(0.1, 2), default=1, show_default=True, help="How large things are."
)
@click.option("--pages", metavar="RANGES", help="Only these: 1-3,5.")
@click.option("--header", metavar="HTML", help="Printed above each page.")
@click.option("--footer", metavar="HTML", help="Printed below: '<span class=pageNumber></span>', say.")
@click.option("--css-page-size", is_flag=True, help="The page's own @page size wins.")
@click.option("--outline", is_flag=True, help="Bookmarks made of the headings.")
@timeout_option("the loading and the printing, each,", 30_000)
@json_option
@browser_options
def pdf(
    url: str,
    output: Path,
    paper: str,
    margin: str | None,
    landscape: bool,
    no_background: bool,
    scale: float,
    pages: str | None,
    header: str | None,
    footer: str | None,
    css_page_size: bool,
    outline: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and save it as PDF, as Chrome would print it."""
    from cdpengine._pictures.pdf import PAPERS, print_params

    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    overwrite = may_overwrite()
    options: PdfOptions = {
        "landscape": landscape,
        "background": not no_background,
        "scale": scale,
        "css_page_size": css_page_size,
        "outline": outline,
    }
    width, across, height = paper.partition("x")
    if paper.lower() in PAPERS or not across:
        options["paper"] = paper  # type: ignore[typeddict-item]
    else:
        options["paper"] = (width, height)
    if margin is not None:
        lengths = margin.split(",")
        options["margin"] = lengths[0] if len(lengths) == 1 else lengths
    if pages is not None:
        options["pages"] = pages
    if header is not None:
        options["header"] = header
    if footer is not None:
        options["footer"] = footer
    with errors_as_json(wanted=as_json):
        print_params(options)  # what cannot be is said before a browser starts

        async def save() -> None:
            async with source.open_page(url, timeout=timeout) as page:
                size = await page.save_pdf(output, overwrite=overwrite, timeout=timeout, **options)
                if as_json:
                    print_json({"url": page.url, "path": output, "bytes": size})
                else:
                    say(f"{output}: {size:,} bytes")

        trio.run(save)
