"""The words of each client: its names of requests, fields and values in errors. Pure.

Rule: the engine's errors are written for programs and name Python methods and arguments. Responses do not:
`in_requests` translates the advice. There, requests are called "a KIND request" and fields by their names in
JSON, which suits HTTP and `dispatch`. Clients with other words, such as MCP, translate these with a `Words`.
Text in double quotes belongs to the page and stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from cdpengine import _json

_QUOTED = r'"(?:[^"\\\n]|\\.)*"'

_ADVICE: Sequence[tuple[str, str]] = (
    (
        r'page\.recover\(\) stops its script, page\.recover\(allow="reload"\) .*? closes it',
        'A recover request stops its script; with allow "reload" it also reloads the page if needed',
    ),
    (
        r'page\.goto\(\), or page\.recover\(allow="reload"\), stops that navigation',
        "A navigate request stops that navigation",
    ),
    (r'use allow="reload" or "close"', 'send a recover request with allow "reload"'),
    (
        r"Use more specific criteria, or pass nth= \(from 0\)",
        "Give the ref of one of them, or a more precise selector",
    ),
    (r"(\.\.\. \d+ more) in \.\w+", r"\1"),
    (r", and is in \.took \(\d+ characters\)", ""),
    (r"Set TMPDIR \(env=\)", "Set TMPDIR"),
    (r'; pass headers=\{"Authorization": \.\.\.\} instead', ""),
    (
        r"For keys without a field, use press\(\)",
        "For keys without a field, use a press request without a ref",
    ),
    (r"use expect_file_chooser\(\) around a click", "use a fileChooser request before a click request"),
    (r": use page\.expect_download\(\)", ": use a download request"),
    (r" \(evaluate_enabled=False\)", ""),
    (
        r"For a CSS selector, pass the result of await page\.find\(.*?\); page\.find also .*? and text=",
        "To get refs, use a find request or a snapshot request",
    ),
    (
        rf"In cdpengine: page\.locate\((?:role={_QUOTED}, )?(name|text|role)=({_QUOTED})\)",
        r"Use a find request with \1 \2",
    ),
    (rf"In cdpengine: page\.locate\(css=({_QUOTED})\)", r"Use the selector \1"),
    (r"In cdpengine: page\.locate\(css=\.\.\.\), not an XPath", "Use a CSS selector, not an XPath"),
    (rf"In cdpengine: page\.wait_for\(text=({_QUOTED})\)", r"Use a wait request with text \1"),
    (rf"In cdpengine: page\.wait_for\(text_gone=({_QUOTED})\)", r"Use a wait request with textGone \1"),
    (
        r"cannot read page\.activity\.([\w ]+): it is not collected\. Call `await .*? with `activity=True`",
        r"\1: nothing was collected before",
    ),
    (r"\. To keep bodies after their page changes, collect with bodies=KeepBodies\(\.\.\.\)", ""),
    (r"; the next request is in `redirected_to`", ""),
    (r"\. Receive faster, subscribe to less, or pass a larger buffer=", ""),
    (r"; the raw JSON is in \.raw", ""),
    (r"a smaller `scale`, or a smaller `clip`", "or a picture of one element"),
    (r"; pass `retries` if it is safe to repeat", ""),
    (r"pass another user_data_dir", "use another profile"),
    (r"and pass its path as executable", "and start it with --browser PATH"),
    (r"pass args=\['--no-sandbox'\]", "start the browser yourself and use its --endpoint"),
    (r"Pass headless=True, or give it a display", "Start it without --headful, or give it a display"),
    (r"\.? ?All its last lines are in \.output", ""),
    (r"query, or pass headers=", "query, or use another endpoint"),
    (r", or frame=None", ""),
    (r"Use text_content\(\) or inner_text\(\)", 'Use a get request with what "text"'),
    (r"a str, and accept=True", "a text, and accept true"),
    (r"True or False for", "true or false for"),
    (r"Set it aside with cdpengine\.cache\.set_aside, and", "Move the file away, and"),
    (r"or a browser launched with computed_accessibility=True", "or another browser"),
)
"""Patterns of the engine's advice, and their replacements for clients that send requests."""

_METHODS = {
    "check": "check", "click": "click", "drag": "drag", "evaluate": "evaluate", "fill": "fill", "find": "find",
    "goto": "navigate", "hover": "hover", "press": "press", "reload": "reload", "scroll": "scroll",
    "select": "select", "snapshot": "snapshot", "type": "type", "uncheck": "check", "upload": "upload",
    "wait_for": "wait",
}  # fmt: skip
"""Methods of pages, and the kinds of requests that do the same."""

_METHOD = re.compile(rf"(?<![\w.])(?:page\.)?({'|'.join(_METHODS)})\(\)")

_TRANSLATED = tuple((re.compile(pattern), text) for pattern, text in _ADVICE)

_FIELDS = (
    "targetId", "timeoutMs", "timeMs", "textGone", "loadState", "waitUntil", "maxChars", "maxTokens", "maxSide",
    "maxDepth", "fullPage", "promptText", "startRef", "endRef", "startSelector", "endSelector", "doubleClick",
    "mainOnly", "omitBackground",
)  # fmt: skip
"""Fields that occur inside messages; other field names are also English words."""


def in_requests(message: str) -> str:
    """Return an engine error's message in the words of requests."""
    for pattern, text in _TRANSLATED:
        message = pattern.sub(text, message)
    return _METHOD.sub(_name_method, message)


def _name_method(found: re.Match[str]) -> str:
    kind = _METHODS[found[1]]
    return f"a{'n' if kind[0] in 'aeiou' else ''} {kind} request"


@attrs.frozen(kw_only=True)
class Words:
    """The words of one client.

    `name_request` returns the client's name of a kind of request. Its arguments are the kind, a field and the
    field's value; without a field, both are "". `name_place` returns the name of an argument: of a kind, and a
    field of it or "". `name_field` returns the name of a field of any kind. `hints` are the client's replacements
    for hints of `ADVICE`.
    """

    kinds: Sequence[str]
    name_request: Callable[[str, str, str], str]
    name_place: Callable[[str, str], str]
    name_field: Callable[[str], str]
    hints: Mapping[str, str] = attrs.field(factory=dict)
    _phrase: re.Pattern[str] = attrs.field(init=False)
    _place: re.Pattern[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        kinds, fields = "|".join(self.kinds), "|".join(_FIELDS)
        phrase = (
            rf"\b(?P<article>[Aa]n?) (?P<kind>{kinds}) request\b(?: with (?P<with>\w+) (?P<value>{_QUOTED}))?"
            rf"|(?P<quoted>{_QUOTED})|\b(?P<field>{fields})\b"
        )
        object.__setattr__(self, "_phrase", re.compile(phrase))
        place = re.compile(rf"(?P<of>a field of )?\b(?P<kind>{kinds})(?:\.(?P<field>\w+))?(?=[:\[. ])")
        object.__setattr__(self, "_place", place)

    def advise(self, hint: str) -> str:
        """Return a hint with the client's replacements, and in its words."""
        for hint_of_requests, replacement in self.hints.items():
            hint = hint.replace(hint_of_requests, replacement)
        return self.translate(hint)

    def translate(self, text: str) -> str:
        """Return a message with the client's names of requests and fields."""
        return self._phrase.sub(self._rename, text)

    def translate_refusal(self, message: str) -> str:
        """Translate the message of an invalid argument, whose first words are the place of the argument."""
        found = self._place.match(message)
        if found is None:
            return self.translate(message)
        place = self.name_place(found["kind"], found["field"] or "")
        return f"{found['of'] or ''}{place}{self.translate(message[found.end() :])}"

    def _rename(self, found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        if found["field"]:
            return self.name_field(found["field"])
        value = _json.decode_leniently(found["value"]) if found["value"] else ""
        name = self.name_request(found["kind"], found["with"] or "", value)
        return f"The{name[3:]}" if found["article"][0] == "A" and name.startswith("the ") else name
