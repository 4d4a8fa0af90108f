"""Verbs about a page as a whole: recover, resize, wait and evaluate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from cdpengine.act.fields import Timing, camel_case, field
from cdpengine.act.notations import MAYBE_TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import (
    LOADING,
    LONGEST_TIMEOUT_MS,
    ActingRequest,
    ActRequest,
    LoadStateName,
    check_element,
)
from cdpengine.act.words.wording import in_requests
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance

RecoveryName = Literal["terminate", "reload", "close"]


@attrs.frozen(kw_only=True)
class Recover(ActRequest):
    """Bring back an unresponsive page. A page that responds is left unchanged."""

    kind = "recover"
    timing = LOADING
    in_order = False
    tool = ToolForm(name="navigate", action="recover", fields=("allow",))
    commands = (
        CommandForm(
            meaning="Stop the script of a page that hangs. HOW is how far it may go: terminate, reload or close.",
            places=(Place("HOW", "allow", needed=False),),
            console=False,
        ),
    )

    allow: RecoveryName = field(
        "terminate stops its script and answers its dialog. If that is not enough, reload loads it again, and "
        "close closes it.",
        "terminate",
    )

    async def run(self, performance: Performance) -> dict[str, Any]:
        report = await performance.page.recover(allow=self.allow, timeout=performance.left)
        if report.closed:
            performance.page_or_none = None
        return {"responsive": report.responsive, "closed": report.closed, "report": in_requests(str(report))}

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        yield escape_line(result["report"])


@attrs.frozen(kw_only=True)
class Resize(ActingRequest):
    """Change the size of the page's viewport."""

    kind = "resize"
    tool = ToolForm(meaning="Resize the viewport.", capability="more", acts=True)
    commands = (
        CommandForm(
            meaning="Change the size of the page's viewport, in CSS pixels.",
            places=(Place("WIDTH", "width"), Place("HEIGHT", "height")),
            example="resize 390 844",
        ),
    )

    width: int = field("CSS pixels.", least=1, most=10_000_000)
    height: int = field("CSS pixels.", least=1, most=10_000_000)
    device_scale_factor: float = field("Screen pixels per CSS pixel.", 1, least=0.01, most=100)

    async def run(self, performance: Performance) -> None:
        await performance.page.emulation.set_viewport(
            self.width, self.height, device_scale_factor=self.device_scale_factor, timeout=performance.left
        )


@attrs.frozen(kw_only=True)
class Wait(ActRequest):
    """Wait until all given conditions hold at the same time."""

    kind = "wait"
    timing = LOADING
    in_order = False
    tool = ToolForm(
        meaning="Wait until all given conditions hold.",
        fields=("text", "textGone", "url", "loadState", "timeMs", "timeoutMs"),
    )
    commands = (
        CommandForm(
            meaning="Wait for a time in milliseconds, for a CSS selector, or for the conditions of the options.",
            places=(Place("WHAT", "what", needed=False),),
            example='wait --text "Thank you"',
        ),
    )

    time_ms: int | None = field(
        "This time has passed, in milliseconds.", None, least=0, most=LONGEST_TIMEOUT_MS
    )
    text: str | None = field("This text is visible.", None)
    text_gone: str | None = field("This text is not visible.", None)
    selector: str | None = field("A visible element matches this CSS selector.", None)
    url: str | None = field("The page's URL matches this glob; only * is special.", None)
    load_state: LoadStateName | None = field("The document has reached this load state.", None)
    function: str | None = field("This expression, or function without arguments, is true in the page.", None)

    def script(self) -> str:
        """Return "wait with a function" if the condition is a function, else ""."""
        return "" if self.function is None else "wait with a function"

    def check(self) -> None:
        """Raise InvalidArgumentError without a condition."""
        names = ("time_ms", "text", "text_gone", "selector", "url", "load_state", "function")
        if all(getattr(self, name) is None for name in names):
            expected = f"at least one of {', '.join(map(camel_case, names))}"
            raise InvalidArgumentError("wait", "no condition", expected)

    async def run(self, performance: Performance) -> None:
        await performance.page.wait_for(
            seconds=None if self.time_ms is None else self.time_ms / 1000,
            text=self.text,
            text_gone=self.text_gone,
            css=self.selector,
            url=self.url,
            load_state=self.load_state,
            expression=self.function,
            timeout=performance.left,
        )


_SCRIPT = (Place("SCRIPT", "function", rest=True), MAYBE_TARGET)
_RAW = {"--raw": "Write a string unchanged, without a line end. Not to a terminal."}


@attrs.frozen(kw_only=True)
class Evaluate(ActRequest):
    """Run a script in the page and return its value. The timeout stops it."""

    kind = "evaluate"
    timing = Timing(20_000, 600_000)
    in_order = False
    runs_script = True
    tool = ToolForm(
        meaning="Run a script in the page; with a ref, the function gets that element.",
        fields=("ref", "timeoutMs"),
        capability="scripts",
    )
    commands = (
        CommandForm(
            name="eval",
            meaning="Run a script in the page and print its value: a string as text, other values as JSON.",
            places=_SCRIPT,
            options=_RAW,
            loads=True,
            example="eval https://example.com document.title",
        ),
        CommandForm(
            name="evaluate",
            meaning="The same as eval.",
            places=_SCRIPT,
            options=_RAW,
            loads=True,
            example="evaluate https://example.com 'el => el.outerHTML' e3",
            console=False,
        ),
    )

    function: str = field("An expression, or a function, which is called with the element (if any) and args.")
    ref: str | None = field("The function's first argument: an element, by its ref.", None)
    selector: str | None = field("The same, by CSS, or a criterion such as text=Save. One must match.", None)
    args: tuple[Any, ...] = field("Further arguments: JSON values.", (), most=1000, secret=True)
    recover: RecoveryName = field(
        "How far to go if the page does not respond after the script was stopped.", "terminate"
    )

    def check(self) -> None:
        """Raise InvalidArgumentError for two elements."""
        check_element(self, self.kind, needed=False)

    async def run(self, performance: Performance) -> Any:
        target = await performance.find_optional(self.ref, self.selector)
        return await performance.page.evaluate(
            self.function, *self.args, target=target, recover=self.recover, timeout=performance.left
        )
