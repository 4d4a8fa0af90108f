"""`cdpengine screenshot URL -o FILE`: a page as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say
from cdpengine.cli.output_files import may_overwrite, output_option

if TYPE_CHECKING:
    from cdpengine._pictures.options import ImageFormat


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
