// Facts about an element that need no query to Chrome, or that Chrome does not provide: its role, whether it
// is focusable, has a box, or begins a line. A part of walk.js, which calls it once with `dom`, its document
// readers.
(function (dom) {
  "use strict";

  // Elements whose descendants are never shown.
  const UNSEEN = new Set([
    "head", "script", "style", "template", "noscript", "link", "meta", "datalist", "title", "rt", "rp",
  ]);
  const EMPTY = new Set([
    "input", "textarea", "iframe", "frame", "video", "audio", "option", "meter", "progress", "img", "embed", "br",
  ]);

  const SURE_OF_INPUT = { checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton" };
  const ROLE_OF_TAG = {
    abbr: "Abbr", audio: "Audio", br: "LineBreak", canvas: "Canvas", details: "Details", dl: "DescriptionList",
    embed: "EmbeddedObject", figcaption: "Figcaption", iframe: "Iframe", frame: "Iframe", label: "LabelText",
    legend: "Legend", math: "MathMLMath", mi: "MathMLIdentifier", mn: "MathMLNumber", mo: "MathMLOperator",
    mrow: "MathMLRow", mtext: "MathMLText", mfrac: "MathMLFraction", msup: "MathMLSup", msub: "MathMLSub",
    msubsup: "MathMLSubSup", msqrt: "MathMLSquareRoot", mroot: "MathMLRoot", mover: "MathMLOver",
    munder: "MathMLUnder", munderover: "MathMLUnderOver", mtable: "MathMLTable", mtr: "MathMLTableRow",
    mtd: "MathMLTableCell", mmultiscripts: "MathMLMultiscripts",
    object: "PluginObject", pre: "Pre", rt: "RubyAnnotation", ruby: "Ruby",
    summary: "DisclosureTriangle", svg: "SvgRoot", table: "LayoutTable", td: "LayoutTableCell", th: "LayoutTableCell",
    tr: "LayoutTableRow", video: "Video", wbr: "LineBreak",
  };
  const ROLE_OF_INPUT = {
    color: "ColorWell", date: "Date", "datetime-local": "DateTime", month: "DateTime", time: "InputTime",
    week: "DateTime",
  };
  // Roles that are fixed unless the element has a role attribute. Chrome is not asked for them.
  const SURE = {
    span: "generic", div: "generic", b: "generic", i: "generic", u: "generic", label: "LabelText", p: "paragraph",
    h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  };
  const SHADOWABLE = new Set(["article", "aside", "footer", "header", "main", "nav", "p", "section", "span"]);
  const HTML = "http://www.w3.org/1999/xhtml";

  const { flatParent, isEditingHost, styleOf } = dom;

  // Scripts cannot see closed shadow roots. An element that may have one gets a number, and the reply with
  // its id includes its shadow root. Each element is asked for once: a root that is attached later is not
  // found.
  function mayHideShadow(element) {
    const tag = element.localName;
    return tag === "div" || tag.includes("-") || (element.firstChild === null && SHADOWABLE.has(tag));
  }

  // The fixed role of this kind of element; undefined if Chrome must be asked.
  function sureRole(at, tag, attributed) {
    if (!attributed) return tag === "li" ? itemRole(at) : SURE[tag];
    if (at.hasAttribute("role") || at.hasAttribute("popover")) return undefined;
    if (tag === "a") return at.namespaceURI === HTML && at.hasAttribute("href") ? "link" : undefined;
    if (tag === "input" && !at.hasAttribute("switch")) return SURE_OF_INPUT[at.type];
    return SURE[tag];
  }

  function itemRole(at) {
    const parent = at.parentNode;
    const list = parent instanceof HTMLUListElement || parent instanceof HTMLOListElement;
    return list && !parent.hasAttribute("role") ? "listitem" : undefined;
  }

  // Whether an element without a box is shown: display: contents, fallback content of a canvas, options.
  function shownWithoutBox(at, tag) {
    if (!at.isConnected) return false;
    if (tag === "option" || tag === "optgroup") return at.closest("select") !== null && !at.hidden;
    if (at.closest("canvas") !== null) return true;
    return getComputedStyle(at).display === "contents" && !isLocked(at);
  }

  // Whether an element of display: contents is in an ancestor that draws no contents (content-visibility:
  // hidden).
  function isLocked(at) {
    for (let above = flatParent(at); above !== null; above = flatParent(above)) {
      const { contentVisibility, display } = getComputedStyle(above);
      if (display === "contents") continue;
      return (contentVisibility === "hidden" && display !== "inline") || !above.checkVisibility();
    }
    return false;
  }

  function isBlock(at, tag) {
    const { display } = styleOf(at);
    return display !== "inline" && display !== "contents";
  }

  function repeatsName(at, name) {
    const only = at.firstChild;
    return only !== null && only.nodeType === 3 && only.nextSibling === null && only.data === name && !at.shadowRoot;
  }

  function isFocusable(at, attributed) {
    if (at.tabIndex >= 0 && (at.localName !== "a" || at.hasAttribute("href"))) return !at.matches(":disabled");
    if (at.localName === "dialog") return true;
    if (at.localName === "body" && at.isContentEditable) return true; // also because of designMode
    if (!attributed) return false;
    if (at.hasAttribute("contenteditable") && isEditingHost(at)) return true;
    return at.hasAttribute("tabindex") && !Number.isNaN(parseInt(at.getAttribute("tabindex"), 10));
  }

  function hasNameAttribute(at) {
    return at.hasAttribute("aria-label") || at.hasAttribute("aria-labelledby") || at.hasAttribute("title");
  }

  function isPointer(at) {
    if (getComputedStyle(at).cursor !== "pointer") return false;
    const above = flatParent(at);
    return above === null || getComputedStyle(above).cursor !== "pointer";
  }

  // Chrome's internal role for an element without an ARIA role.
  function namelessRole(at, tag) {
    return (tag === "input" ? ROLE_OF_INPUT[at.type] : ROLE_OF_TAG[tag]) || "generic";
  }

  const picksDate = (at, tag) => tag === "input" && ROLE_OF_INPUT[at.type] !== undefined;

  return {
    UNSEEN, EMPTY, sureRole, namelessRole, picksDate, mayHideShadow, shownWithoutBox, isBlock, repeatsName, isFocusable,
    hasNameAttribute, isPointer,
  };
})
