"""`cdpengine pdf URL -o FILE`: a page on paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say
from cdpengine.cli.output_files import may_overwrite, output_option

if TYPE_CHECKING:
    from cdpengine._pictures.pdf import PdfOptions


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
