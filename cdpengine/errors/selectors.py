"""Strings that callers pass as CSS selectors although they are none: selectors of other libraries, and names.

Rule: a selector that matches is used. Only errors use these guesses, and the decision not to wait for a match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cdpengine import _json

ELEMENTS = frozenset(
    {
        "a", "abbr", "acronym", "address", "animate", "animatemotion", "animatetransform", "annotation",
        "applet", "area", "article", "aside", "audio", "b", "base", "basefont", "bdi", "bdo", "bgsound",
        "big", "blink", "blockquote", "body", "br", "button", "canvas", "caption", "center", "circle",
        "cite", "clippath", "code", "col", "colgroup", "data", "datalist", "dd", "defs", "del", "desc",
        "details", "dfn", "dialog", "dir", "div", "dl", "dt", "ellipse", "em", "embed", "feblend",
        "fecolormatrix", "fecomponenttransfer", "fecomposite", "feconvolvematrix", "fediffuselighting",
        "fedisplacementmap", "fedistantlight", "fedropshadow", "feflood", "fefunca", "fefuncb", "fefuncg",
        "fefuncr", "fegaussianblur", "feimage", "femerge", "femergenode", "femorphology", "fencedframe",
        "feoffset", "fepointlight", "fespecularlighting", "fespotlight", "fetile", "feturbulence",
        "fieldset", "figcaption", "figure", "filter", "font", "footer", "foreignobject", "form", "frame",
        "frameset", "g", "geolocation", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup",
        "hr", "html", "i", "iframe", "image", "img", "input", "ins", "isindex", "kbd", "keygen", "label",
        "layer", "legend", "li", "line", "lineargradient", "link", "listing", "maction", "main", "map",
        "mark", "marker", "marquee", "mask", "math", "menclose", "menu", "menuitem", "merror", "meta",
        "metadata", "meter", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded",
        "mpath", "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub",
        "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "nav", "nobr",
        "noembed", "noframes", "none", "noscript", "object", "ol", "optgroup", "option", "output", "p",
        "param", "path", "pattern", "permission", "picture", "plaintext", "polygon", "polyline", "portal",
        "pre", "progress", "q", "radialgradient", "rb", "rect", "rp", "rt", "rtc", "ruby", "s", "samp",
        "script", "search", "section", "select", "selectedcontent", "semantics", "set", "slot", "small",
        "source", "spacer", "span", "stop", "strike", "strong", "style", "sub", "summary", "sup", "svg",
        "switch", "symbol", "table", "tbody", "td", "template", "text", "textarea", "textpath", "tfoot",
        "th", "thead", "time", "title", "tr", "track", "tspan", "tt", "u", "ul", "use", "var", "video",
        "view", "wbr", "xmp",
    }
)  # fmt: skip
"""Names of the elements of HTML (obsolete ones included), SVG and MathML, in lower case.

Names of custom elements have a hyphen.
"""

_PLAIN = re.compile(r"[\w\s.,>+~&-]+")
_TYPES = re.compile(r"(?<![\w.-])[^\W\d][\w-]*")


def may_be_name(selector: str) -> bool:
    """Return whether a selector may be a name, such as "login": a part of it names no standard element."""
    return _PLAIN.fullmatch(selector) is not None and any(map(_is_strange, _TYPES.findall(selector)))


def is_name(selector: str) -> bool:
    """Return whether a selector is probably a name, such as "Sign in" or "Search".

    A single word in lower case can be an element that the page invented.
    """
    return may_be_name(selector) and (len(selector.split()) > 1 or selector != selector.lower())


def _is_strange(name: str) -> bool:
    """Return whether selectors contain no such name of an element: an unknown one, or "Search" for "search"."""
    if "-" in name:
        return False
    return name.lower() not in ELEMENTS or (name[0].isupper() and name[1:].islower())


_QUOTED = r"""((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^'"\])]+))"""
_FOREIGN: Sequence[tuple[re.Pattern[str], Mapping[str, str]]] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), criteria)
    for pattern, criteria in (
        (r"(?:.*>>)?\s*(?:internal:)?text\s*=(.+)", {"text": "{0}"}),
        (r"(?:::-p-)?text[/(](.+?)\)?", {"text": "{0}"}),
        (r"(?:::-p-)?aria[/(](.+?)\)?", {"name": "{0}"}),
        (
            rf"(?:.*>>)?\s*(?:internal:)?role=([a-z]+)\[name={_QUOTED}\s*[is]?\]",
            {"role": "{0}", "name": "{1}"},
        ),
        (r"(?:.*>>)?\s*(?:internal:)?role=([a-z]+)", {"role": "{0}"}),
        (rf".*get_?by_?text\({_QUOTED}.*", {"text": "{0}"}),
        (rf".*get_?by_?role\({_QUOTED},.*name\s*[:=]\s*{_QUOTED}.*", {"role": "{0}", "name": "{1}"}),
        (rf".*get_?by_?role\({_QUOTED}.*", {"role": "{0}"}),
        (rf".*get_?by_?(?:label|alt_?text|title)\({_QUOTED}.*", {"name": "{0}"}),
        (r"(?:internal:)?label\s*=(.+)", {"name": "{0}"}),
        (rf"([\w\s.#-]+):(?:has-text|contains)\({_QUOTED}\)", {"css": "{0}", "text": "{1}"}),
        (rf".*:(?:has-text|text|text-is|contains)\({_QUOTED}\).*", {"text": "{0}"}),
        (r"id\s*=([\w-]+)", {"css": "#{0}"}),
        (r"(name|data-test[\w-]*|placeholder)\s*=\s*([\w-]+)", {"css": "[{0}={1}]"}),
        (r"(?:css|pierce)[=/](.+)", {"css": "{0}"}),
        (r"([\w\s.#-]+)>>([\w\s.#-]+)", {"css": "{0} {1}"}),
    )
)
"""Selectors of Playwright, Puppeteer and Selenium, with the engine's search criteria."""

_LONGEST = 300
"""Maximum length of a string in which selectors of other libraries are recognized, in characters."""

_XPATH = ("/", "(/", "./", "..", "xpath=")


def criteria_of(selector: str) -> Mapping[str, str]:
    """Return the search criteria that the author of a string probably meant, or {} if it may be a CSS selector."""
    written = selector.strip()
    for pattern, criteria in _FOREIGN if len(written) <= _LONGEST else ():
        if found := pattern.fullmatch(written):
            values = [_unquoted(each) for each in found.groups()]
            return {name: form.format(*values) for name, form in criteria.items()}
    return {"name": written} if may_be_name(written) else {}


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def advise(selector: str) -> str:
    """Return the sentence with the call that finds the meant element, or "" if the string may be a selector."""
    if selector.strip().startswith(_XPATH):
        return "In cdpengine: page.locate(css=...), not an XPath"
    criteria = criteria_of(selector)
    if not criteria:
        return ""
    written = ", ".join(f"{name}={_json.encode_text(value[:80])}" for name, value in criteria.items())
    return f"In cdpengine: page.locate({written})"


def advise_waiting(selector: str, *, gone: bool) -> str:
    """Return the sentence with the call that waits for the meant text, or "" for a string that may be a selector.

    `gone`: the caller waits until it disappears.
    """
    criteria = criteria_of(selector) if is_name(selector) or not may_be_name(selector) else {}
    text = criteria.get("text") or criteria.get("name")
    name = "text_gone" if gone else "text"
    return f"In cdpengine: page.wait_for({name}={_json.encode_text(text[:80])})" if text else ""
