"""The verbs of the shell, as data: the request of each verb, and which of its fields are positional.

Rule: a verb is one row. All other fields of the request's class are options (`max_depth` is `--max-depth`), so the
shell supports whatever a request supports. `client.VERBS` has the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from cdpengine.act import KINDS, ActRequest


@attrs.frozen
class Place:
    """A positional argument: its name in the usage (capitals), its field, and its allowed number."""

    name: str
    field: str
    needed: bool = True
    many: bool = False

    def __str__(self) -> str:
        text = f"{self.name}..." if self.many else self.name
        return text if self.needed else f"[{text}]"


@attrs.frozen(kw_only=True, eq=False)
class Verb:
    """A verb. `preset` are fields with fixed values; `options` are options of the shell itself.

    A `kind` of "" is a verb of the shell itself, without a request. `meaning` is one sentence.
    """

    name: str
    kind: str
    meaning: str
    places: Sequence[Place] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)
    options: Mapping[str, str] = attrs.field(factory=dict)
    example: str = ""

    @property
    def request(self) -> type[ActRequest] | None:
        """The class of the request; None for a verb of the shell itself."""
        return KINDS[self.kind] if self.kind else None

    @property
    def usage(self) -> str:
        """The usage, without options."""
        return " ".join([self.name, *map(str, self.places)])


TARGET = Place("TARGET", "target")
"""An element: a ref of the last snapshot ("e3"; "@e3" and "3" are the same), or a CSS selector."""

MAYBE_TARGET = Place("TARGET", "target", needed=False)
_FILE = Place("FILE", "path", needed=False)
_VALUES = {"--values FILE": "A file with the values of variables, as JSON; - is standard input."}
_FORCE = {"--force": "Overwrite FILE if it exists."}
_HEADFUL = "Show the browser's window. Only for the first command, because it applies to the whole service."
_BROWSER = "The browser to start: a path, or chrome, chromium, edge, brave. Only for the first command."
_VIEWPORT = (
    "The viewport of new pages, by default 1280x720; none is the window's. Only for the first command."
)

TABLE: Sequence[Verb] = (
    Verb(
        name="open",
        kind="navigate",
        meaning="Go to a URL; start the browser if none is running.",
        places=(Place("URL", "url"),),
        options={"--headful": _HEADFUL, "--browser PATH": _BROWSER, "--viewport SIZE": _VIEWPORT},
        example="open https://example.com",
    ),
    Verb(
        name="snapshot",
        kind="snapshot",
        meaning="Print the page's content, with a ref for each element.",
        example="snapshot --interactive",
    ),
    Verb(name="click", kind="click", meaning="Click an element.", places=(TARGET,), example="click e3"),
    Verb(
        name="type",
        kind="type",
        meaning="Type text into an element, after its present text, by real key events.",
        places=(TARGET, Place("TEXT", "text")),
        example='type e5 "blue shoes" --submit',
    ),
    Verb(
        name="fill",
        kind="fill",
        meaning="Replace the values of one or several fields of a form.",
        places=(TARGET, Place("VALUE", "value"), Place("TARGET VALUE", "more", needed=False, many=True)),
        example='fill e5 ada e6 "ada@example.com"',
    ),
    Verb(
        name="press",
        kind="press",
        meaning="Press a key or a chord, on an element or on the focused one.",
        places=(Place("KEY", "key"), MAYBE_TARGET),
        example="press Control+A",
    ),
    Verb(
        name="select",
        kind="select",
        meaning="Choose options of a select, a listbox or a combobox, by value or label.",
        places=(TARGET, Place("VALUE", "values", many=True)),
        example="select e7 Red",
    ),
    Verb(
        name="check", kind="check", meaning="Check a checkbox, a switch or a radio button.", places=(TARGET,)
    ),
    Verb(
        name="uncheck",
        kind="check",
        meaning="Uncheck a checkbox or a switch.",
        places=(TARGET,),
        preset={"checked": False},
    ),
    Verb(name="hover", kind="hover", meaning="Move the mouse onto an element.", places=(TARGET,)),
    Verb(
        name="scroll",
        kind="scroll",
        meaning="Turn the mouse wheel: one viewport of the page or scrollable area there, or by --dx and --dy.",
        places=(Place("DIRECTION", "direction", needed=False), MAYBE_TARGET),
        example="scroll down",
    ),
    Verb(
        name="scroll-into-view",
        kind="scrollIntoView",
        meaning="Scroll until an element is in the viewport.",
        places=(TARGET,),
    ),
    Verb(
        name="drag",
        kind="drag",
        meaning="Drag an element onto another one.",
        places=(Place("FROM", "start_ref"), Place("TO", "end_ref")),
        example="drag e3 e8",
    ),
    Verb(
        name="upload",
        kind="upload",
        meaning="Choose files in a file input; without files, clear it.",
        places=(TARGET, Place("FILE", "paths", needed=False, many=True)),
        example="upload e4 photo.jpg",
    ),
    Verb(
        name="highlight",
        kind="highlight",
        meaning="Highlight an element in the browser's window for a while.",
        places=(TARGET,),
    ),
    Verb(
        name="wait",
        kind="wait",
        meaning="Wait for a time in milliseconds, for a CSS selector, or for the conditions of the options.",
        places=(Place("WHAT", "what", needed=False),),
        example='wait --text "Thank you"',
    ),
    Verb(
        name="eval",
        kind="evaluate",
        meaning="Run a script in the page and print its value.",
        places=(Place("SCRIPT", "function"), MAYBE_TARGET),
        example="eval document.title",
    ),
    Verb(
        name="find",
        kind="find",
        meaning="Find elements by role, name or text, and print their refs; exit with 1 if none matches.",
        example="find --role button --name Buy",
    ),
    Verb(
        name="extract",
        kind="extract",
        meaning="Print the readable content of the page, as Markdown or text.",
        places=(MAYBE_TARGET,),
        example="extract --main-only",
    ),
    Verb(
        name="screenshot",
        kind="screenshot",
        meaning="Write a picture of the page to FILE, or to a new file in this folder.",
        places=(_FILE, MAYBE_TARGET),
        options=_FORCE,
        example="screenshot page.png --full-page",
    ),
    Verb(
        name="pdf",
        kind="pdf",
        meaning="Write the page as PDF to FILE, or to a new file in this folder.",
        places=(_FILE,),
        options=_FORCE,
        example="pdf page.pdf",
    ),
    Verb(
        name="console",
        kind="console",
        meaning="Print the page's console messages and uncaught errors.",
        example="console --level warning",
    ),
    Verb(name="requests", kind="requests", meaning="Print the page's requests.", example="requests --failed"),
    Verb(name="back", kind="back", meaning="Go back in the page's history."),
    Verb(name="forward", kind="forward", meaning="Go forward in the page's history."),
    Verb(name="reload", kind="reload", meaning="Load the document again."),
    Verb(
        name="recover",
        kind="recover",
        meaning="Stop the script of a page that hangs. HOW is how far it may go: terminate, reload or close.",
        places=(Place("HOW", "allow", needed=False),),
    ),
    Verb(
        name="resize",
        kind="resize",
        meaning="Change the size of the page's viewport, in CSS pixels.",
        places=(Place("WIDTH", "width"), Place("HEIGHT", "height")),
        example="resize 390 844",
    ),
    Verb(name="tabs", kind="tabs", meaning="List the open pages; the current one is marked."),
    Verb(
        name="new-tab",
        kind="newTab",
        meaning="Open a page, which becomes the current one.",
        places=(Place("URL", "url", needed=False),),
    ),
    Verb(
        name="focus-tab",
        kind="focusTab",
        meaning="Make a page the current one, by its number in tabs.",
        places=(Place("TAB", "index", needed=False),),
    ),
    Verb(
        name="close-tab",
        kind="close",
        meaning="Close a page: the current one, or the one with this number in tabs.",
        places=(Place("TAB", "index", needed=False),),
    ),
    Verb(
        name="dialog",
        kind="dialog",
        meaning="Set the answer to the page's next dialog, before the action that opens it: accept or dismiss.",
        places=(Place("ANSWER", "accept"), Place("TEXT", "prompt_text", needed=False)),
        example="dialog accept",
    ),
    Verb(
        name="file-chooser",
        kind="fileChooser",
        meaning="Set the files for the page's next file chooser, before the action that opens it.",
        places=(Place("FILE", "paths", many=True),),
    ),
    Verb(
        name="download",
        kind="download",
        meaning="Click an element and wait for the download that it begins.",
        places=(MAYBE_TARGET,),
        example="download e9 --directory .",
    ),
    Verb(
        name="search",
        kind="search",
        meaning="Search the web, and print the results.",
        places=(Place("QUERY", "query"),),
    ),
    Verb(name="cookies", kind="cookies", meaning="Print the session's cookies."),
    Verb(
        name="set-cookies",
        kind="setCookies",
        meaning="Set cookies, given as a JSON list of objects with name, value and url.",
        places=(Place("COOKIES", "cookies"),),
    ),
    Verb(name="clear-cookies", kind="clearCookies", meaning="Remove the session's cookies."),
    Verb(
        name="storage", kind="storage", meaning="Print the items of the document's local or session storage."
    ),
    Verb(
        name="set-storage",
        kind="setStorage",
        meaning="Set items of the document's storage, given as a JSON object.",
        places=(Place("ITEMS", "items"),),
    ),
    Verb(
        name="clear-storage",
        kind="clearStorage",
        meaning="Remove items of the document's storage; without names, all.",
        places=(Place("KEY", "keys", needed=False, many=True),),
    ),
    Verb(
        name="command",
        kind="command",
        meaning="Send a command of the Chrome DevTools Protocol; its parameters are a JSON object.",
        places=(Place("METHOD", "method"), Place("PARAMS", "params", needed=False)),
        example="""command DOM.getDocument '{"depth": 1}'""",
    ),
    Verb(
        name="messages",
        kind="messages",
        meaning="Print the newest messages of the protocol; the log begins with the first such command.",
        places=(Place("METHOD", "method", needed=False),),
        example="messages 'Page.*'",
    ),
    Verb(
        name="start-recording",
        kind="startRecording",
        meaning="Record the browser's traffic to FILE, or to a new file in this folder.",
        places=(_FILE,),
    ),
    Verb(name="stop-recording", kind="stopRecording", meaning="End the recording."),
    Verb(
        name="response-body",
        kind="responseBody",
        meaning="Print the body of the newest response of the page whose URL matches.",
        places=(Place("URL", "url"),),
        example="response-body '*/api/*'",
    ),
    Verb(name="metrics", kind="metrics", meaning="Print the page's counters: nodes, listeners, heap, time."),
    Verb(
        name="start-measurement",
        kind="startMeasurement",
        meaning="Begin a trace, a profile or a count of unused code: trace, profile or coverage.",
        places=(Place("WHAT", "measurement"), _FILE),
        example="start-measurement trace",
    ),
    Verb(
        name="stop-measurement",
        kind="stopMeasurement",
        meaning="End a measurement, and print its result.",
        places=(Place("WHAT", "measurement"),),
        example="stop-measurement trace",
    ),
    Verb(
        name="heap-snapshot",
        kind="heapSnapshot",
        meaning="Write the heap of the page's scripts to FILE, or to a new file in this folder.",
        places=(_FILE,),
    ),
    Verb(
        name="cache-replay",
        kind="executeCached",
        meaning="Replay a scenario from the action cache; stops at an element that is not surely the same.",
        places=(Place("SCENARIO", "scenario", needed=False),),
        options=_VALUES,
        example="""cache-replay login --values login.json""",
    ),
    Verb(
        name="cache-lookup",
        kind="cacheLookup",
        meaning="Print the scenario that a sentence is about, and its entries in the action cache for this page.",
        places=(Place("SENTENCE", "goal"),),
        example='cache-lookup "log in as ada"',
    ),
    Verb(
        name="start-learning",
        kind="startLearning",
        meaning="Learn a scenario from the following actions on the page.",
        places=(Place("SCENARIO", "scenario"),),
        options=_VALUES,
        example="""start-learning login --values login.json""",
    ),
    Verb(name="stop-learning", kind="stopLearning", meaning="End learning, and store the scenario."),
    Verb(
        name="cache-list",
        kind="cacheList",
        meaning="List the entries of the action cache.",
        places=(Place("SCENARIO", "scenario", needed=False),),
    ),
    Verb(
        name="cache-scenarios", kind="scenarioList", meaning="List the scenarios that the action cache knows."
    ),
    Verb(name="cache-stats", kind="cacheStats", meaning="Print statistics of the action cache."),
    Verb(
        name="cache-clear",
        kind="cacheClear",
        meaning="Delete the entries of a scenario in the action cache, or with --all those of all scenarios.",
        places=(Place("SCENARIO", "scenario", needed=False),),
        options={"--all": "Delete the entries of all scenarios."},
    ),
    Verb(
        name="cache-delete",
        kind="cacheDelete",
        meaning="Delete an entry of the action cache with its versions.",
        places=(Place("ENTRY", "entry"),),
    ),
    Verb(
        name="cache-show",
        kind="cacheShow",
        meaning="Print an entry of the action cache, how its runs ended, and when it is not used any more.",
        places=(Place("ENTRY", "entry"),),
    ),
    Verb(
        name="cache-versions",
        kind="cacheVersions",
        meaning="List an entry of the action cache and its older versions.",
        places=(Place("ENTRY", "entry"),),
    ),
    Verb(
        name="cache-restore",
        kind="cacheRestore",
        meaning="Restore an older version of an entry.",
        places=(Place("ENTRY", "entry"), Place("VERSION", "version")),
    ),
    Verb(
        name="cache-refresh",
        kind="forceRefresh",
        meaning="Have an entry of the action cache learned again.",
        places=(Place("ENTRY", "entry"),),
    ),
    Verb(
        name="cache-report",
        kind="reportError",
        meaning="Report that an entry of the action cache did something wrong.",
        places=(Place("ENTRY", "entry"),),
    ),
    Verb(
        name="act",
        kind="",
        meaning="Perform any request, given as JSON; - reads it from standard input.",
        places=(Place("REQUEST", "request"),),
        example="""act '{"kind": "click", "ref": "e3", "doubleClick": true}'""",
    ),
    Verb(name="sessions", kind="", meaning="List the open sessions."),
    Verb(
        name="close",
        kind="",
        meaning="Close the session with all its pages; with the last one, the browser ends.",
        options={"--all": "Close all sessions."},
    ),
)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in TABLE}
"""All verbs, by name."""
