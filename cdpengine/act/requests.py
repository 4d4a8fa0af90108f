"""Requests to a page and a browser, as data: one class for each kind.

Rule: a class describes a request, not how it is performed; `act/dispatch.py` performs it. The class has its
JSON kind; field names in JSON are the Python names in camelCase. Times are in milliseconds, as in all of the
JSON; the engine below uses seconds. The default `timeoutMs` is 8 s for actions on an element, 20 s for requests
that wait for the network or run a script, and 120 s for those that wait for a person or a server.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs

from cdpengine.act.fields import Timing, field

LONGEST_TIMEOUT_MS = 120_000

ELEMENT = Timing(8_000, 60_000)
LOADING = Timing(20_000, LONGEST_TIMEOUT_MS)
ARRIVING = Timing(120_000, 600_000)

Button = Literal["left", "right", "middle", "back", "forward"]
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]
RecoveryName = Literal["terminate", "reload", "close"]
LoadStateName = Literal["commit", "domcontentloaded", "load", "networkidle"]
SnapshotMode = Literal["role", "ai", "aria", "numbered", "webarena"]


@attrs.frozen(kw_only=True)
class ActRequest:
    """A request. `kind` is its name in JSON.

    `timing` has the default of `timeout_ms` for this kind, and its maximum. `in_order` is whether it waits for its
    turn among the page's requests; requests that only read run concurrently, as evaluate does. `runs_script` is
    whether it runs a script of the caller.
    """

    kind: ClassVar[str] = ""
    timing: ClassVar[Timing] = ELEMENT
    in_order: ClassVar[bool] = True
    runs_script: ClassVar[bool] = False

    target_id: str | None = field("The page, by its id or number in tabs; without, the current one.", None)
    timeout_ms: int | None = field("Timeout, in milliseconds.", None, least=1)

    @property
    def timeout(self) -> float:
        """The timeout in seconds: `timeout_ms`, at most the maximum of its kind."""
        asked = self.timing.default_ms if self.timeout_ms is None else self.timeout_ms
        return min(asked, self.timing.longest_ms) / 1000


@attrs.frozen(kw_only=True)
class ActingRequest(ActRequest):
    """A request that changes the page."""

    diff: bool = field("Also return the changes in the page's snapshot.", False)


@attrs.frozen(kw_only=True)
class ElementRequest(ActingRequest):
    """A request for an element, which has a ref or a CSS selector."""

    ref: str | None = field('The element, by its ref in the last snapshot, such as "e12".', None)
    selector: str | None = field("The element, by a CSS selector that matches one.", None)
    heal: bool = field(
        "If the ref is stale, use the element with the same role, name and place, if unambiguous.", False
    )


# --- elements ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Position:
    """A point, from the top left corner of the element's border box."""

    x: float = field("CSS pixels to the right.")
    y: float = field("CSS pixels down.")


@attrs.frozen(kw_only=True)
class Click(ElementRequest):
    """Click an element, once it is ready."""

    kind: ClassVar[str] = "click"
    button: Button = field("The mouse button.", "left")
    double_click: bool = field("Click twice, as one double click.", False)
    modifiers: tuple[Modifier, ...] = field("Keys to hold down meanwhile.", (), most=5)
    position: Position | None = field("The point on the element; without, a visible one.", None)
    force: bool = field("Click without checking that the element is ready.", False)


@attrs.frozen(kw_only=True)
class Type(ElementRequest):
    """Type text into an element, after its present text, by real key events."""

    kind: ClassVar[str] = "type"
    timing: ClassVar[Timing] = Timing(20_000, LONGEST_TIMEOUT_MS)
    text: str = field("The text.", secret=True)
    submit: bool = field("Press Enter at the end.", False)
    slowly: bool = field("Wait 75 ms between two keys, for pages that react to each key.", False)


@attrs.frozen(kw_only=True)
class Press(ElementRequest):
    """Press a key or a chord, on an element or on the focused one."""

    kind: ClassVar[str] = "press"
    key: str = field('The key or chord: "Enter", "a", "Control+A".', secret=True)


@attrs.frozen(kw_only=True)
class Hover(ElementRequest):
    """Move the mouse onto an element."""

    kind: ClassVar[str] = "hover"
    modifiers: tuple[Modifier, ...] = field("Keys to hold down meanwhile.", (), most=5)
    force: bool = field("Hover without checking that the element can be reached.", False)


@attrs.frozen(kw_only=True)
class ScrollIntoView(ElementRequest):
    """Scroll until an element is in the viewport."""

    kind: ClassVar[str] = "scrollIntoView"


@attrs.frozen(kw_only=True)
class Scroll(ElementRequest):
    """Turn the mouse wheel over an element, or at the mouse's position."""

    kind: ClassVar[str] = "scroll"
    dx: float = field("CSS pixels to the right.", 0)
    dy: float = field("CSS pixels down.", 0)
    direction: Literal["up", "down", "left", "right"] | None = field(
        "One viewport in this direction, of the page or the scrollable element, instead of dx and dy.", None
    )


@attrs.frozen(kw_only=True)
class Drag(ActingRequest):
    """Drag an element onto another one with the left button."""

    kind: ClassVar[str] = "drag"
    start_ref: str | None = field("The element to drag, by its ref.", None)
    end_ref: str | None = field("The element to drop it on, by its ref.", None)
    start_selector: str | None = field("The element to drag, by a CSS selector that matches one.", None)
    end_selector: str | None = field("The element to drop it on, by such a selector.", None)
    hold: float = field("Seconds to hold the button before the first move: for a long press.", 0)
    heal: bool = field(
        "If a ref is stale, use the element with the same role, name and place, if unambiguous.", False
    )


@attrs.frozen(kw_only=True)
class Select(ElementRequest):
    """Choose options of a select, a listbox or a combobox, or a radio button of a group."""

    kind: ClassVar[str] = "select"
    values: tuple[str, ...] = field(
        "Values or labels of the options; a multiple list gets exactly these.", most=1000
    )


@attrs.frozen(kw_only=True)
class FormField:
    """One field of a form."""

    ref: str | None = field("The control, by its ref.", None)
    selector: str | None = field("The control, by a CSS selector that matches one.", None)
    value: str | float | bool | tuple[str, ...] = field(
        "Its value: text or a number; true or false to check or uncheck; a list for several options.",
        secret=True,
    )


@attrs.frozen(kw_only=True)
class Fill(ActingRequest):
    """Fill in the fields of a form, in order. Their previous values are replaced."""

    kind: ClassVar[str] = "fill"
    timing: ClassVar[Timing] = Timing(20_000, LONGEST_TIMEOUT_MS)
    fields: tuple[FormField, ...] = field("The fields, with their values.", least=1, most=500)


@attrs.frozen(kw_only=True)
class Check(ElementRequest):
    """Check a checkbox, a switch or a radio button, or uncheck it."""

    kind: ClassVar[str] = "check"
    checked: bool = field("False unchecks it.", True)


@attrs.frozen(kw_only=True)
class Upload(ElementRequest):
    """Choose files in a file input."""

    kind: ClassVar[str] = "upload"
    timing: ClassVar[Timing] = LOADING
    paths: tuple[str, ...] = field("Files of this machine; an empty list clears the input.", most=1000)


@attrs.frozen(kw_only=True)
class Highlight(ElementRequest):
    """Highlight an element in the browser's window for a while. The page cannot notice."""

    kind: ClassVar[str] = "highlight"
    in_order: ClassVar[bool] = False
    duration_ms: int = field("Duration, in milliseconds.", 2_000, least=1, most=60_000)


# --- the page ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Resize(ActingRequest):
    """Change the size of the page's viewport."""

    kind: ClassVar[str] = "resize"
    width: int = field("CSS pixels.", least=1, most=10_000_000)
    height: int = field("CSS pixels.", least=1, most=10_000_000)
    device_scale_factor: float = field("Screen pixels per CSS pixel.", 1, least=0.01, most=100)


@attrs.frozen(kw_only=True)
class Wait(ActRequest):
    """Wait until all given conditions hold at the same time."""

    kind: ClassVar[str] = "wait"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    time_ms: int | None = field(
        "This time has passed, in milliseconds.", None, least=0, most=LONGEST_TIMEOUT_MS
    )
    text: str | None = field("This text is visible.", None)
    text_gone: str | None = field("This text is not visible.", None)
    selector: str | None = field("A visible element matches this CSS selector.", None)
    url: str | None = field("The page's URL matches this glob; only * is special.", None)
    load_state: LoadStateName | None = field("The document has reached this load state.", None)
    function: str | None = field("This expression, or function without arguments, is true in the page.", None)


@attrs.frozen(kw_only=True)
class Evaluate(ActRequest):
    """Run a script in the page and return its value. The timeout stops it."""

    kind: ClassVar[str] = "evaluate"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    runs_script: ClassVar[bool] = True
    function: str = field("An expression, or a function, which is called with the element (if any) and args.")
    ref: str | None = field("The function's first argument: an element, by its ref.", None)
    selector: str | None = field("The same, by a CSS selector that matches one.", None)
    args: tuple[Any, ...] = field("Further arguments: JSON values.", (), most=1000, secret=True)


@attrs.frozen(kw_only=True)
class Navigate(ActingRequest):
    """Go to a URL."""

    kind: ClassVar[str] = "navigate"
    timing: ClassVar[Timing] = LOADING
    url: str = field("The URL.")
    wait_until: LoadStateName = field("The load state to wait for.", "load")


@attrs.frozen(kw_only=True)
class Back(ActingRequest):
    """Go back in the page's history."""

    kind: ClassVar[str] = "back"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("The load state to wait for.", "load")


@attrs.frozen(kw_only=True)
class Forward(ActingRequest):
    """Go forward in the page's history."""

    kind: ClassVar[str] = "forward"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("The load state to wait for.", "load")


@attrs.frozen(kw_only=True)
class Reload(ActingRequest):
    """Load the document again."""

    kind: ClassVar[str] = "reload"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("The load state to wait for.", "load")


@attrs.frozen(kw_only=True)
class Recover(ActRequest):
    """Bring back an unresponsive page. A page that responds is left unchanged."""

    kind: ClassVar[str] = "recover"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    allow: RecoveryName = field(
        "terminate stops its script and answers its dialog. If that is not enough, reload loads it again, and "
        "close closes it.",
        "terminate",
    )
