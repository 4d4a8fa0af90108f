"""What can be asked of a page and a browser, as data: one class for each kind of request.

Rule: a class says what is asked, and nothing of how it is done; `act/dispatch.py` does it. The name of the kind in
JSON stands in the class, and the names of fields are those of Python in camelCase. Times are milliseconds here, as
in all of the JSON; the engine below counts seconds. `timeoutMs` is by default 8 s for what is done to an element,
20 s for what waits for the network or runs a script, and 120 s for what waits for a person or a server.
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

    `timing` is the time that its kind gets without `timeout_ms`, and the longest that it can get. `in_order` says
    whether it waits its turn among the page's requests; what only looks runs beside them, as evaluate does.
    `runs_script` says whether it runs a script that the caller gives.
    """

    kind: ClassVar[str] = ""
    timing: ClassVar[Timing] = ELEMENT
    in_order: ClassVar[bool] = True
    runs_script: ClassVar[bool] = False

    target_id: str | None = field("The page, by its id or number in tabs; without, the current one.", None)
    timeout_ms: int | None = field("The time that it may take, in milliseconds.", None, least=1)

    @property
    def timeout(self) -> float:
        """The time that it gets, in seconds: `timeout_ms`, at most the longest of its kind."""
        asked = self.timing.default_ms if self.timeout_ms is None else self.timeout_ms
        return min(asked, self.timing.longest_ms) / 1000


@attrs.frozen(kw_only=True)
class ActingRequest(ActRequest):
    """A request that changes the page."""

    diff: bool = field("Answer with what changed in the page's snapshot, too.", False)


@attrs.frozen(kw_only=True)
class ElementRequest(ActingRequest):
    """A request that is aimed at an element: by its ref or by a CSS selector."""

    ref: str | None = field('The element, by its ref in the last snapshot, such as "e12".', None)
    selector: str | None = field("The element, by a CSS selector that matches one.", None)
    heal: bool = field(
        "Where the ref is stale, take what has the same role, name and place now, if sure.", False
    )


# --- elements ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Position:
    """A point, from the top left corner of the element's border box."""

    x: float = field("CSS pixels to the right.")
    y: float = field("CSS pixels down.")


@attrs.frozen(kw_only=True)
class Click(ElementRequest):
    """Click an element, once it can be clicked."""

    kind: ClassVar[str] = "click"
    button: Button = field("The button of the mouse.", "left")
    double_click: bool = field("Click twice, as one double click.", False)
    modifiers: tuple[Modifier, ...] = field("Keys that are held down meanwhile.", (), most=5)
    position: Position | None = field("Where on the element; without, a visible point of it.", None)
    force: bool = field("Click without checking that the element can be clicked.", False)


@attrs.frozen(kw_only=True)
class Type(ElementRequest):
    """Type text into an element, at the end of what is there, by real key events."""

    kind: ClassVar[str] = "type"
    timing: ClassVar[Timing] = Timing(20_000, LONGEST_TIMEOUT_MS)
    text: str = field("The text.", secret=True)
    submit: bool = field("Press Enter at the end.", False)
    slowly: bool = field("Wait 75 ms between two keys, for pages that look at each.", False)


@attrs.frozen(kw_only=True)
class Press(ElementRequest):
    """Press a key or a chord, on an element or where the focus is."""

    kind: ClassVar[str] = "press"
    key: str = field('The key or chord: "Enter", "a", "Control+A".', secret=True)


@attrs.frozen(kw_only=True)
class Hover(ElementRequest):
    """Move the mouse onto an element."""

    kind: ClassVar[str] = "hover"
    modifiers: tuple[Modifier, ...] = field("Keys that are held down meanwhile.", (), most=5)
    force: bool = field("Hover without checking that the element can be reached.", False)


@attrs.frozen(kw_only=True)
class ScrollIntoView(ElementRequest):
    """Scroll until an element is in the viewport."""

    kind: ClassVar[str] = "scrollIntoView"


@attrs.frozen(kw_only=True)
class Scroll(ElementRequest):
    """Turn the mouse wheel over an element, or where the mouse is."""

    kind: ClassVar[str] = "scroll"
    dx: float = field("CSS pixels to the right.", 0)
    dy: float = field("CSS pixels down.", 0)
    direction: Literal["up", "down", "left", "right"] | None = field(
        "One viewport that way, of the page or of what can be scrolled there, in place of dx and dy.", None
    )


@attrs.frozen(kw_only=True)
class Drag(ActingRequest):
    """Drag an element onto another one with the left button."""

    kind: ClassVar[str] = "drag"
    start_ref: str | None = field("The element that is dragged, by its ref.", None)
    end_ref: str | None = field("The element that it is dropped on, by its ref.", None)
    start_selector: str | None = field(
        "The element that is dragged, by a CSS selector that matches one.", None
    )
    end_selector: str | None = field("The element that it is dropped on, by such a selector.", None)
    hold: float = field("Seconds to hold the button before the first move: for a long press.", 0)
    heal: bool = field(
        "Where a ref is stale, take what has the same role, name and place now, if sure.", False
    )


@attrs.frozen(kw_only=True)
class Select(ElementRequest):
    """Choose options of a select, a listbox or a combobox, or a radio button of a group."""

    kind: ClassVar[str] = "select"
    values: tuple[str, ...] = field(
        "Values or labels of the options; in a list of several exactly these.", most=1000
    )


@attrs.frozen(kw_only=True)
class FormField:
    """One field of a form."""

    ref: str | None = field("The control, by its ref.", None)
    selector: str | None = field("The control, by a CSS selector that matches one.", None)
    value: str | float | bool | tuple[str, ...] = field(
        "What goes into it: a text or number; true or false to check or uncheck; a list for several options.",
        secret=True,
    )


@attrs.frozen(kw_only=True)
class Fill(ActingRequest):
    """Fill in the fields of a form, in order. What stood in them is replaced."""

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
    """Choose files in an input of files."""

    kind: ClassVar[str] = "upload"
    timing: ClassVar[Timing] = LOADING
    paths: tuple[str, ...] = field("Files of this machine; none empties the input.", most=1000)


@attrs.frozen(kw_only=True)
class Highlight(ElementRequest):
    """Mark an element in the browser's window for a while. The page cannot notice."""

    kind: ClassVar[str] = "highlight"
    in_order: ClassVar[bool] = False
    duration_ms: int = field("How long, in milliseconds.", 2_000, least=1, most=60_000)


# --- the page ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Resize(ActingRequest):
    """Give the page's viewport another size."""

    kind: ClassVar[str] = "resize"
    width: int = field("CSS pixels.", least=1, most=10_000_000)
    height: int = field("CSS pixels.", least=1, most=10_000_000)
    device_scale_factor: float = field("Pixels of the screen in one CSS pixel.", 1, least=0.01, most=100)


@attrs.frozen(kw_only=True)
class Wait(ActRequest):
    """Wait until all conditions that are given hold at the same time."""

    kind: ClassVar[str] = "wait"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    time_ms: int | None = field("So many milliseconds have passed.", None, least=0, most=LONGEST_TIMEOUT_MS)
    text: str | None = field("This text is visible.", None)
    text_gone: str | None = field("This text is not visible.", None)
    selector: str | None = field("A visible element matches this CSS selector.", None)
    url: str | None = field("The page's URL matches this glob, in which only * is special.", None)
    load_state: LoadStateName | None = field("The document has got so far.", None)
    function: str | None = field("This expression, or function without arguments, is true in the page.", None)


@attrs.frozen(kw_only=True)
class Evaluate(ActRequest):
    """Run a script in the page and return its value. One that does not end is stopped at the timeout."""

    kind: ClassVar[str] = "evaluate"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    runs_script: ClassVar[bool] = True
    function: str = field("An expression, or a function, which is called with the element (if any) and args.")
    ref: str | None = field("An element that the function gets as its first argument, by its ref.", None)
    selector: str | None = field("The same, by a CSS selector that matches one.", None)
    args: tuple[Any, ...] = field("Further arguments: what JSON holds.", (), most=1000, secret=True)


@attrs.frozen(kw_only=True)
class Navigate(ActingRequest):
    """Go to a URL."""

    kind: ClassVar[str] = "navigate"
    timing: ClassVar[Timing] = LOADING
    url: str = field("The URL.")
    wait_until: LoadStateName = field("How far the document has to get.", "load")


@attrs.frozen(kw_only=True)
class Back(ActingRequest):
    """Go back in the page's history."""

    kind: ClassVar[str] = "back"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("How far the document has to get.", "load")


@attrs.frozen(kw_only=True)
class Forward(ActingRequest):
    """Go forward in the page's history."""

    kind: ClassVar[str] = "forward"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("How far the document has to get.", "load")


@attrs.frozen(kw_only=True)
class Reload(ActingRequest):
    """Load the document again."""

    kind: ClassVar[str] = "reload"
    timing: ClassVar[Timing] = LOADING
    wait_until: LoadStateName = field("How far the document has to get.", "load")


@attrs.frozen(kw_only=True)
class Recover(ActRequest):
    """Bring back a page that does not answer; nothing is done to one that answers."""

    kind: ClassVar[str] = "recover"
    timing: ClassVar[Timing] = LOADING
    in_order: ClassVar[bool] = False
    allow: RecoveryName = field(
        "terminate stops its script and answers its dialog. Where that is not enough, reload loads it again, and "
        "close closes it.",
        "terminate",
    )
