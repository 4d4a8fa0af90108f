"""Roles: their names in snapshots, and how a snapshot treats each of them.

Rule: snapshots use the role names of WAI-ARIA. Chrome's internal roles (ax_enums.mojom, with capitals) are mapped
to the nearest ARIA role, or to their lower-case name if none is near. A role that is in no table is shown if it
has a name or is interactive, and folded otherwise. A role has one name, whatever the source of a node. Every
search accepts that name and Chrome's own, which the modes aria and webarena show. Unknown roles raise
InvalidArgumentError.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from cdpengine._checks import invalid
from cdpengine._snapshot.node import Kind
from cdpengine._snapshot.text import is_token

INTERACTIVE_ROLES = frozenset(
    {
        "button", "checkbox", "color", "combobox", "date", "datetime", "link", "listbox", "menuitem",
        "menuitemcheckbox", "menuitemradio", "option", "radio", "scrollbar", "searchbox", "slider",
        "spinbutton", "switch", "tab", "textbox", "time-input", "treeitem",
        # The content of these roles is interactive, although the tree does not show it.
        "audio", "canvas", "iframe", "object", "video",
    }
)  # fmt: skip
"""Roles of interactive elements. Each gets a ref, named or not."""

CONTENT_ROLES = frozenset(
    {
        "alert", "alertdialog", "application", "article", "banner", "blockquote", "cell", "columnheader",
        "complementary", "contentinfo", "definition", "dialog", "document", "feed", "figure", "form", "grid",
        "gridcell", "group", "heading", "image", "listitem", "log", "main", "marquee", "math", "menu", "menubar",
        "meter", "navigation", "note", "progressbar", "radiogroup", "region", "row", "rowheader", "search",
        "status", "table", "tablist", "tabpanel", "term", "timer", "toolbar", "tooltip", "tree", "treegrid",
    }
)  # fmt: skip
"""Roles of content for reading and orientation. A node with a name gets a ref."""

STRUCTURAL_ROLES = frozenset(
    {
        "article", "blockquote", "descriptionlist", "feed", "figure", "group", "list", "listitem", "paragraph",
        "row", "table",
    }
)  # fmt: skip
"""Roles of groups whose unnamed line shows only the structure; `compact` may fold it."""

LAYOUT_ROLES = frozenset({"LayoutTable", "LayoutTableCell", "LayoutTableRow", "none", "presentation"})
"""Roles of pure layout: folded whatever their name, unless they are focusable."""

INTERNAL_ROLES = {
    "Abbr": "abbreviation",
    "Audio": "audio",
    "Canvas": "canvas",
    "ColorWell": "color",
    "ComboBoxGrouping": "combobox",
    "ComboBoxMenuButton": "combobox",
    "ComboBoxSelect": "combobox",
    "Date": "date",
    "DateTime": "datetime",
    "Details": "group",
    "DisclosureTriangle": "button",
    "DisclosureTriangleGrouped": "button",
    "EmbeddedObject": "object",
    "Iframe": "iframe",
    "IframePresentational": "iframe",
    "InputTime": "time-input",
    "ListBoxOption": "option",
    "MathMLMath": "math",
    "MenuListOption": "option",
    "PdfRoot": "document",
    "PluginObject": "object",
    "PopUpButton": "button",
    "RootWebArea": "document",
    "SvgRoot": "image",
    "TextFieldWithComboBox": "combobox",
    "ToggleButton": "button",
    "Video": "video",
    "WebArea": "document",
    "img": "image",
    "graphics-document": "image",
    "graphics-symbol": "image",
}
"""Chrome's internal roles, and their names in snapshots."""

TEXT_ROLES = frozenset({"StaticText"})
DROPPED_ROLES = frozenset({"InlineTextBox", "ListMarker"})
"""Roles removed with all their content: pieces of a StaticText, and bullets that Chrome made."""

MARKER_TEXTS = frozenset({"\u2022", "\u25e6", "\u25aa"})
"""Bullets of list items with another role: text that belongs to no node of the page."""

BREAK_ROLES = frozenset({"LineBreak"})

INLINE_ROLES = frozenset(
    {
        "abbreviation", "code", "emphasis", "mark", "Ruby", "RubyAnnotation", "ruby", "strong", "subscript",
        "superscript", "time", "MathMLIdentifier", "MathMLOperator", "MathMLNumber", "MathMLRow", "MathMLText",
    }
)  # fmt: skip
"""Roles that are always folded: their text continues the surrounding sentence."""

FOLDED_ROLES = frozenset(
    {
        "", "caption", "Caption", "Figcaption", "figcaption", "generic", "GenericContainer", "LabelText",
        "LayoutTable", "LayoutTableCell", "LayoutTableRow", "Legend", "MenuListPopup", "none", "Pre",
        "presentation", "rowgroup", "Section", "sectionfooter", "sectionheader", "separator", "Unknown",
    }
)  # fmt: skip
"""Roles that are folded unless they have a name or are focusable; their text is separate."""

ROOT_ROLES = frozenset({"RootWebArea", "WebArea", "PdfRoot"})
"""Roles that are never shown: the snapshot is the document."""

CAPTION_ROLES = frozenset({"LabelText", "Legend", "caption", "Caption", "Figcaption", "figcaption"})
"""Roles whose text is left out if it is the name of the element that they label."""

NAMED_BY_CONTENT = frozenset(
    {
        "button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem",
        "menuitemcheckbox", "menuitemradio", "option", "radio", "rowheader", "switch", "tab", "term", "tooltip",
        "treeitem",
    }
)  # fmt: skip
"""Roles named by their content (WAI-ARIA 1.2, 5.2.8.4): text that repeats the name is left out."""

CELL_ROLES = frozenset(
    {"cell", "columnheader", "gridcell", "generic", "listitem", "row", "rowheader", "term"}
)
"""Roles whose name is left out if the lines inside already contain all of it."""

NAMING_ROLES = frozenset({"columnheader", "rowheader"})
"""Roles whose name always stays, because it names the cells of a column or a row."""

ALWAYS_LISTED = frozenset({"meter", "progressbar"}) | INTERACTIVE_ROLES

VALUE_ROLES = frozenset(
    {"combobox", "meter", "progressbar", "scrollbar", "searchbox", "slider", "spinbutton", "textbox"}
)
"""Roles whose text is their value, which is already shown."""

RANGE_ROLES = frozenset({"meter", "progressbar", "scrollbar", "slider", "spinbutton"})
"""Roles whose value may be a default: text inside is left out only if it equals the value."""

CLOSED_ROLES = frozenset({"audio", "color", "date", "datetime", "time-input", "video"})
"""Roles that are one control for the user, though Chrome builds them from several: their content is left out."""

PLACEHOLDER_ROLES = frozenset({"combobox", "searchbox", "spinbutton", "textbox"})

MASKS = frozenset("\u2022\u25cf\u25e6\u25a0")
"""Chrome's mask characters for password fields, and for fields with `-webkit-text-security`."""

FLAG_STATES = frozenset(
    {
        "busy",
        "disabled",
        "editable",
        "focused",
        "modal",
        "multiselectable",
        "readonly",
        "required",
        "selected",
    }
)
"""Shown as `[state]` if true, omitted if false. Keys are the protocol's property names."""

TOKEN_STATES = {"checked": "checked", "invalid": "invalid", "pressed": "pressed", "hasPopup": "haspopup"}
"""Shown as `[state]` if true, `[state=token]` for another token (mixed, spelling), omitted if false."""

NUMBER_STATES = {"level": "level", "valuemin": "min", "valuemax": "max"}
"""Shown as `[state=number]`."""

STATES = FLAG_STATES.union(
    TOKEN_STATES.values(), NUMBER_STATES.values(), ("collapsed", "count", "expanded", "value")
)
"""All states, as shown."""

STATE_ROLES = {
    "editable": frozenset({"generic", "paragraph", "group"}),
    "hasPopup": frozenset({"button", "link", "menuitem"}),
    "level": frozenset({"heading", "treeitem"}),
    "multiselectable": frozenset({"grid", "listbox", "tree", "treegrid"}),
    "readonly": frozenset(
        {
            "checkbox",
            "combobox",
            "date",
            "datetime",
            "listbox",
            "searchbox",
            "slider",
            "spinbutton",
            "textbox",
        }
    ),
    "valuemin": frozenset({"slider", "spinbutton"}),
    "valuemax": frozenset({"slider", "spinbutton"}),
}
"""States that are shown only for these roles; other states are shown for any role."""

ARIA_ROLES = frozenset(
    {
        "alert", "alertdialog", "application", "article", "banner", "blockquote", "button", "caption", "cell",
        "checkbox", "code", "columnheader", "combobox", "comment", "complementary", "contentinfo", "definition",
        "deletion", "dialog", "document", "emphasis", "feed", "figure", "form", "generic", "grid", "gridcell",
        "group", "heading", "image", "insertion", "link", "list", "listbox", "listitem", "log", "main", "mark",
        "marquee", "math", "menu", "menubar", "menuitem", "menuitemcheckbox", "menuitemradio", "meter",
        "navigation", "note", "option", "paragraph", "progressbar", "radio", "radiogroup", "region", "row",
        "rowgroup", "rowheader", "scrollbar", "search", "searchbox", "sectionfooter", "sectionheader",
        "separator", "slider", "spinbutton", "status", "strong", "subscript", "suggestion", "superscript",
        "switch", "tab", "table", "tablist", "tabpanel", "term", "textbox", "time", "timer", "toolbar",
        "tooltip", "tree", "treegrid", "treeitem", "graphics-document", "graphics-object", "graphics-symbol",
        "doc-abstract", "doc-acknowledgments", "doc-afterword", "doc-appendix", "doc-backlink",
        "doc-biblioentry", "doc-bibliography", "doc-biblioref", "doc-chapter", "doc-colophon", "doc-conclusion",
        "doc-cover", "doc-credit", "doc-credits", "doc-dedication", "doc-endnote", "doc-endnotes",
        "doc-epigraph", "doc-epilogue", "doc-errata", "doc-example", "doc-footnote", "doc-foreword",
        "doc-glossary", "doc-glossref", "doc-index", "doc-introduction", "doc-noteref", "doc-notice",
        "doc-pagebreak", "doc-pagefooter", "doc-pageheader", "doc-pagelist", "doc-part", "doc-preface",
        "doc-prologue", "doc-pullquote", "doc-qna", "doc-subtitle", "doc-tip", "doc-toc",
    }
)  # fmt: skip
"""Roles of WAI-ARIA 1.3, Graphics-ARIA and DPUB-ARIA, by Chrome's names."""

CHROME_ROLES = frozenset(
    {
        "Abbr", "Audio", "Canvas", "ColorWell", "Date", "DateTime", "DescriptionList", "Details",
        "DisclosureTriangle", "DisclosureTriangleGrouped", "EmbeddedObject", "Figcaption", "Iframe",
        "IframePresentational", "ImageMap", "InputTime", "LabelText", "LayoutTable", "LayoutTableCell",
        "LayoutTableRow", "Legend", "MathMLFraction", "MathMLIdentifier", "MathMLMath", "MathMLMultiscripts",
        "MathMLNoneScript", "MathMLNumber", "MathMLOperator", "MathMLOver", "MathMLPrescriptDelimiter",
        "MathMLRoot", "MathMLRow", "MathMLSquareRoot", "MathMLStringLiteral", "MathMLSub", "MathMLSubSup",
        "MathMLSup", "MathMLTable", "MathMLTableCell", "MathMLTableRow", "MathMLText", "MathMLUnder",
        "MathMLUnderOver", "MenuListPopup", "PluginObject", "Pre", "Ruby", "RubyAnnotation", "Section",
        "SvgRoot", "Video",
    }
)  # fmt: skip
"""Internal roles that current Chrome reports; older browsers report the other ones of `INTERNAL_ROLES`."""

ELEMENTS = {
    "Details": "details",
    "DisclosureTriangle": "summary",
    "DisclosureTriangleGrouped": "details[name] summary",
    "EmbeddedObject": "embed",
    "IframePresentational": "iframe[role]",
    "MathMLMath": "math",
    "PluginObject": "object",
    "SvgRoot": "svg",
    "graphics-document": "[role*=graphics i]",
    "graphics-symbol": "svg, [role*=graphics i]",
}
"""CSS selectors of elements whose role has the same snapshot name as another role."""

OMITTED_UNNAMED = {"canvas": "canvas:not([role], [aria-label], [aria-labelledby], [title])"}
"""CSS selectors of interactive elements, by role, that Chrome's tree leaves out if they have no name."""

NEVER_FOUND = DROPPED_ROLES | TEXT_ROLES | BREAK_ROLES | ROOT_ROLES
"""Roles without a ref in any mode: pieces of text, and the document itself."""


_WORDS = {
    "a": "link", "anchor": "link", "check": "checkbox", "dropdown": "combobox", "edit": "textbox",
    "field": "textbox", "frame": "iframe", "h1": "heading", "h2": "heading", "h3": "heading",
    "icon": "image", "input": "textbox",
    "item": "listitem", "li": "listitem", "modal": "dialog", "nav": "navigation", "number": "spinbutton",
    "password": "textbox", "picture": "image", "popup": "dialog", "range": "slider", "select": "combobox",
    "summary": "button", "td": "cell", "textarea": "textbox", "th": "columnheader", "title": "heading",
    "toggle": "switch", "tr": "row", "ul": "list",
}  # fmt: skip
"""Common words for roles, and the role that is meant most often."""

_MOST_OBSERVED = 1000

_observed: dict[str, set[str]] = {}
"""Roles that Chrome reported and no table has, by their snapshot names."""


def role_and_kind(chrome_role: str) -> tuple[str, Kind]:
    """Return the snapshot name of one of Chrome's roles, and its kind."""
    role = role_name(chrome_role)
    if chrome_role not in _table().get(role, ()) and sum(map(len, _observed.values())) < _MOST_OBSERVED:
        _observed.setdefault(role, set()).add(chrome_role)
    return role, kind_of(role)


def role_name(chrome_role: str) -> str:
    """Return the snapshot name of one of Chrome's roles; `generic` if it is not a token."""
    role = INTERNAL_ROLES.get(chrome_role) or chrome_role.lower()
    return role if is_token(role) else "generic"


def kind_of(role: str) -> Kind:
    """Return the kind of a role, given by its snapshot name."""
    if role in INTERACTIVE_ROLES:
        return "interactive"
    return "content" if role in CONTENT_ROLES else "structural"


def known_roles() -> frozenset[str]:
    """Return the snapshot names of all roles in the tables; newer browsers may have others."""
    return frozenset(_table())


def check_role(role: object) -> str:
    """Return the snapshot name of a role, which may be given by Chrome's own name.

    Raises InvalidArgumentError, with the nearest names, for an unknown role.
    """
    if isinstance(role, str):
        if role in _table() or role in _observed:
            return role
        is_chrome_role = (
            role in INTERNAL_ROLES
            or role in CHROME_ROLES
            or (is_token(role.lower()) and role in _observed.get(role_name(role), ()))
        )
        if is_chrome_role and role not in NEVER_FOUND:
            return role_name(role)
    raise invalid("role", role, _nearest(role))


def chrome_roles(role: str) -> frozenset[str]:
    """Return Chrome's roles that have this snapshot name."""
    return _table().get(role, frozenset()) | _observed.get(role, set())


@cache
def _table() -> dict[str, frozenset[str]]:
    """Return Chrome's roles by their snapshot names."""
    table: dict[str, set[str]] = {}
    for chrome_role in ARIA_ROLES | CHROME_ROLES:
        table.setdefault(role_name(chrome_role), set()).add(chrome_role)
    return {role: frozenset(names) for role, names in table.items()}


def _nearest(role: object) -> str:
    """Return the description of valid roles for the error, with the nearest names."""
    if not isinstance(role, str):
        return "the name of a role, such as 'button'"
    if role.lower() == "text" or role in TEXT_ROLES:
        return "a role; runs of text have no ref, text= finds their elements"
    if role in ROOT_ROLES:
        return "a role; the document itself has no ref"
    if role in ("none", "presentation"):
        return "a role; presentational elements have no line"
    plain = role.strip().lower().replace("_", "").replace(" ", "")
    names = sorted({*known_roles(), *_observed})
    near = [name for name in names if name.replace("-", "") == plain]
    near += [_WORDS[plain]] if plain in _WORDS else []
    near += get_close_matches(plain, names, n=3, cutoff=0.6)
    if len(plain) > 2:
        near += [name for name in names if plain in name or (len(name) > 3 and name in plain)]
    near = list(dict.fromkeys(near))[:3] or ["button", "link", "textbox"]
    return "a role, such as " + ", ".join(map(repr, near)) + " (docs/snapshot-format.md lists all)"
