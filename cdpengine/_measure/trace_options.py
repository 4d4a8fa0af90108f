"""TraceOptions: what Chrome is to trace, and in which format. Pure.

Rule: the file's name says the format; what Chrome would pass over in silence is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import attrs

from cdpengine.errors import InvalidArgumentError

DEFAULT_CATEGORIES = (
    "blink.console",
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-v8.cpu_profiler",
    "latencyInfo",
    "loading",
    "toplevel",
    "v8.execute",
)
"""What the Performance panel of Chrome's own tools needs."""

SCREENSHOTS = "disabled-by-default-devtools.screenshot"

_PROTO_NAMES = (".pftrace", ".perfetto-trace", ".pb", ".proto")

_SMALLEST_BUFFER = 1 << 20


@attrs.frozen
class TraceOptions:
    """`buffer_size` is in bytes; None for Chrome's own 200 MB."""

    categories: tuple[str, ...] = DEFAULT_CATEGORIES
    buffer_size: int | None = None
    keep_latest: bool = False
    format: Literal["json", "proto"] = "json"

    @classmethod
    def checked(
        cls,
        path: Path,
        categories: Sequence[str] | None,
        *,
        screenshots: bool,
        buffer_size: int | None,
        keep_latest: bool,
    ) -> TraceOptions:
        """Return the options. Raises InvalidArgumentError."""
        chosen = DEFAULT_CATEGORIES if categories is None else _checked_categories(categories)
        if screenshots and SCREENSHOTS not in chosen:
            chosen = (*chosen, SCREENSHOTS)
        wrong = isinstance(buffer_size, bool) or not isinstance(buffer_size, int | None)
        if wrong or (buffer_size is not None and buffer_size < _SMALLEST_BUFFER):
            raise InvalidArgumentError(
                what="buffer_size",
                given=repr(buffer_size)[:80],
                expected=f"bytes, {_SMALLEST_BUFFER} or more",
            )
        return cls(chosen, buffer_size, keep_latest, format_of(path))

    def params(self) -> dict[str, object]:
        """Return the parameters of `Tracing.start`."""
        config: dict[str, object] = {
            "includedCategories": list(self.categories),
            "excludedCategories": ["*"],
            "recordMode": "recordContinuously" if self.keep_latest else "recordUntilFull",
        }
        if self.buffer_size is not None:
            config["traceBufferSizeInKb"] = self.buffer_size // 1024
        return {
            "transferMode": "ReturnAsStream",
            "streamFormat": self.format,
            "bufferUsageReportingInterval": 500,
            "traceConfig": config,
        }


def format_of(path: Path) -> Literal["json", "proto"]:
    """Return the format that a file's name asks for: Perfetto's own for ".pftrace", ".perfetto-trace", ".pb"."""
    name = path.name.lower().removesuffix(".gz")
    return "proto" if name.endswith(_PROTO_NAMES) else "json"


def _checked_categories(categories: Sequence[str]) -> tuple[str, ...]:
    if isinstance(categories, str):
        categories = [category.strip() for category in categories.split(",")]
    expected = 'names of categories or patterns such as "v8*", without commas and leading minus'
    if not isinstance(categories, Sequence) or not categories:
        raise InvalidArgumentError(what="categories", given=repr(categories)[:80], expected=expected)
    for category in categories:
        odd = not isinstance(category, str) or not category or category.startswith("-")
        if odd or any(sign in category for sign in ", \t\n"):
            raise InvalidArgumentError(what="categories", given=repr(category)[:80], expected=expected)
    return tuple(dict.fromkeys(categories))
