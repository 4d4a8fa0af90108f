"""Verbs that make pictures of a page: screenshot and PDF."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import field
from cdpengine.act.notations import FILE, MAYBE_TARGET, CommandForm, ToolForm
from cdpengine.act.requests import LOADING, ActRequest, check_element
from cdpengine.act.response import file_lines
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


FORCE = {"--force": "Overwrite FILE if it exists."}
"""Options of the shell for commands that write a file."""


@attrs.frozen(kw_only=True)
class Screenshot(ActRequest):
    """Take a picture of the viewport, of the whole page or of one element."""

    kind = "screenshot"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Take a picture of the page or an element.", fields=("ref", "fullPage", "labels"))
    commands = (
        CommandForm(
            meaning="Write a picture of the page to FILE, or to a new file in this folder.",
            places=(FILE, MAYBE_TARGET),
            options=FORCE,
            example="screenshot page.png --full-page",
        ),
    )

    ref: str | None = field("Only this element, by its ref.", None)
    selector: str | None = field("Only this element, by a CSS selector that matches one.", None)
    full_page: bool = field("The whole page, not only the viewport.", False)
    format: Literal["png", "jpeg", "webp"] = field("The format of the picture.", "png")
    quality: int | None = field("The quality of jpeg and webp.", None, least=0, most=100)
    max_side: int | None = field(
        "Maximum length of the longer side, in pixels; a larger picture is scaled down.", None, least=1
    )
    labels: bool = field(
        "Frame and label interactive elements with their refs; the result contains the snapshot.", False
    )
    path: str | None = field("Write it to this file instead of returning it.", None, file=True)

    def check(self) -> None:
        """Raise InvalidArgumentError for fields that exclude each other."""
        check_element(self, self.kind, needed=False)
        aimed = self.ref is not None or self.selector is not None
        if aimed and (self.full_page or self.labels):
            raise InvalidArgumentError("screenshot", "an element, and fullPage or labels", "one of them")
        if self.quality is not None and self.format == "png":
            raise InvalidArgumentError(
                "screenshot.quality", "one for png, which has none", "jpeg or webp with it"
            )

    async def run(self, performance: Performance) -> dict[str, Any]:
        from cdpengine._page.downloads.output_file import checked_path, output_file

        described: dict[str, Any] = {"format": self.format}
        place = None if self.path is None else checked_path("the screenshot", self.path, overwrite=True)
        if self.labels:
            labelled = await performance.page.pictures.labelled_screenshot(
                format=self.format,
                quality=self.quality,
                full_page=self.full_page,
                max_side=self.max_side,
                timeout=performance.left,
            )
            data, described["snapshot"] = labelled.image, labelled.snapshot.text
        else:
            data = await performance.page.screenshot(
                target=await performance.find_optional(self.ref, self.selector),
                full_page=self.full_page,
                format=self.format,
                quality=self.quality,
                max_side=self.max_side,
                timeout=performance.left,
            )
        if place is None:
            return {**described, "bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}
        async with output_file("the screenshot", place, overwrite=True) as file:
            await file.write(data)
        return {**described, "bytes": len(data), "path": str(place)}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return file_lines(result)


@attrs.frozen(kw_only=True)
class Pdf(ActRequest):
    """Print the page as PDF."""

    kind = "pdf"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Print the page to a file.", fields=("path",), capability="files")
    commands = (
        CommandForm(
            meaning="Write the page as PDF to FILE, or to a new file in this folder.",
            places=(FILE,),
            options=FORCE,
            example="pdf page.pdf",
        ),
    )

    landscape: bool = field("Wider than high.", False)
    print_background: bool = field("Print backgrounds.", False)
    path: str | None = field("Write it to this file instead of returning it.", None, file=True)

    async def run(self, performance: Performance) -> dict[str, Any]:
        from cdpengine._page.downloads.output_file import checked_path

        landscape, backgrounds = self.landscape, self.print_background
        if self.path is not None:
            place = checked_path("the PDF", self.path, overwrite=True)
            size = await performance.page.pictures.save_pdf(
                place, landscape=landscape, background=backgrounds, timeout=performance.left
            )
            return {"bytes": size, "path": str(place)}
        data = await performance.page.pdf(
            landscape=landscape, background=backgrounds, timeout=performance.left
        )
        return {"bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        return file_lines(result)
