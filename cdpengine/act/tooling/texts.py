"""Results of tools as text: a response in few words for a model, and errors that name tools.

Rule: a result has a token limit. A longer result is cut at the end of a line.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from cdpengine import _json, errors
from cdpengine._json_values import to_plain
from cdpengine._snapshot.render.render import estimate_tokens
from cdpengine.act.notations import Capability
from cdpengine.act.response import ActResponse, describe_cached, describe_effects, shorten_diff
from cdpengine.act.tooling.table import VERB_TOOLS
from cdpengine.act.verbs import KINDS
from cdpengine.act.verbs.elements import Get
from cdpengine.act.words.advice import ADVICE, NOT_INSTALLED
from cdpengine.act.words.wording import Words

LONGEST_SIDE = 1568
"""Maximum length of a picture's longer side, in pixels. Models scale larger ones down, or refuse them (8,000)."""

LARGEST_PICTURE = 1_000_000
"""Maximum size of a PNG in a result, in bytes. A larger picture is sent as a JPEG."""


def describe(response: ActResponse) -> str:
    """Return a response in few words: the action's effects, the result, the page's changes."""
    lines = describe_effects(response.effects)
    result = to_plain(response.result)
    match result:
        case None:
            lines += ["null"] if response.kind == Get.kind else []
        case {"snapshot": str(text)}:
            lines.append(f"{response.url}\n{text}")
        case {"title": _, "diff": str(text)}:
            lines.append(shorten_diff(text))
        case {"url": str(), "status": _} if result.keys() <= _NAVIGATION_FIELDS:
            lines.append(describe_navigation(result))
        case {"responsive": _, "report": str(text)}:
            lines.append(text)
        case str():
            lines.append(result)
        case _:
            lines.append(_json.encode_text(result, compact=True))
    if response.diff is not None:
        lines.append(shorten_diff(response.diff))
    lines += describe_cached(response.cached)
    return "\n".join(lines) or "done"


_NAVIGATION_FIELDS = {"url", "status", "redirects", "sameDocument"}


def describe_navigation(navigation: Mapping[str, Any]) -> str:
    """Return the URL of a navigation, with its status and its redirects."""
    status = "no status" if navigation["status"] is None else f"status {navigation['status']}"
    kind = "the same document" if navigation.get("sameDocument") else status
    redirected = [f"redirected from {each}" for each in navigation.get("redirects", ())]
    return "\n".join([f"{navigation['url']} ({kind})", *redirected])


def describe_failure(response: ActResponse) -> str:
    """Return the error, the covering element, and the hint."""
    error = response.error
    assert error is not None
    covering = f" ({error.covered_by_ref})" if error.covered_by_ref else ""
    covered = f"\nit is covered by {error.covered_by}{covering}" if error.covered_by else ""
    suggestions = f"\nperhaps meant: {', '.join(error.alternatives)}" if error.alternatives else ""
    effects = "".join(f"\n{line}" for line in describe_effects(response.effects))
    return f"{error.kind}: {error.message}{covered}{suggestions}\n{error.hint}{effects}"


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` estimated tokens, up to the end of a line.

    If the first line is longer, return its beginning.
    """
    if estimate_tokens(text) <= most:
        return text
    lines: list[str] = []
    left = most
    for line in text.splitlines():
        needed = estimate_tokens(line) + 1
        if needed > left:
            if not lines:
                lines.append(_cut_line(line, left))
            break
        left -= needed
        lines.append(line)
    return "\n".join(lines)


def _cut_line(line: str, most: int) -> str:
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(line[:middle]) <= most else (low, middle - 1)
    return line[:low]


# --- the words of errors ------------------------------------------------------------------------------------

_TOOLS: Mapping[str, tuple[str, str]] = {
    kind: (tool.name, "" if place == 0 else action)
    for tool in VERB_TOOLS
    for place, (action, kind) in enumerate(tool.kinds.items())
}
"""Names by kind of request: the tool, and its action if that is not the default."""


def _name_request(kind: str, field: str, value: str) -> str:
    name, action = _TOOLS[kind]
    details = [f'action "{action}"'] if action else []
    details += [f"{field} {_json.encode_text(value)}"] if field else []
    return f"the tool {name}{' with ' if details else ''}{' and '.join(details)}"


def _name_place(kind: str, field: str) -> str:
    name, _ = _TOOLS[kind]
    return f"{name}.{field}" if field else name


WORDS = Words(
    kinds=tuple(KINDS),
    name_request=_name_request,
    name_place=_name_place,
    name_field=str,
    hints={
        ADVICE[errors.InvalidArgumentError].hint: "Correct the arguments as the message says.",
        ADVICE[errors.ConnectionLostError].hint: "The browser has ended. The tool navigate starts a new one.",
        ADVICE[errors.LaunchFailedError].hint: "Ask the user to run cdpengine doctor to find the fault.",
        NOT_INSTALLED.hint: "Ask the user to install Chrome or Chromium.",
        ADVICE[
            errors.PackageMissingError
        ].hint: "Ask the user to install the package that the message names.",
    },
)
"""The words of errors and hints for models: they name tools instead of requests."""


def find_near(name: str) -> tuple[str, str]:
    """Return the tool that a model probably meant by an unknown name ("": none), and the words for it."""
    plain = name.removeprefix("browser_").replace("-", "_").lower()[:40]
    kind = {each.lower(): each for each in _TOOLS}.get(plain.replace("_", ""))
    if kind is not None:
        return _TOOLS[kind][0], _name_request(kind, "", "")
    near = next(iter(difflib.get_close_matches(plain, [tool.name for tool in VERB_TOOLS], 1, 0.7)), "")
    return near, f"the tool {near}"


def explain_unknown(name: str, offered: Collection[str], remedy: Callable[[Capability], str]) -> str:
    """Return why no tool `name` is `offered`: it needs a capability, or has another name.

    `remedy` returns how the user enables a capability.
    """
    missing = f"no tool {name[:40]!r}"
    near, words = find_near(name)
    if near in offered:
        return f"{missing}; did you mean {words}? The tools are {', '.join(offered)}"
    if near:
        needed = next(tool.capability for tool in VERB_TOOLS if tool.name == near)
        return f"{missing} here: the tool {near} needs the capability {needed!r}. {remedy(needed)}"
    return f"{missing}; the tools are {', '.join(offered)}"
