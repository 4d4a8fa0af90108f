// What an element is by itself, as far as Chrome need not be asked, or would not tell: its role, whether it can take
// the focus, has a box, begins a line. A part of walk.js, which calls it once with its ways to read the document, `dom`.
(function (dom) {
  "use strict";

  // Nothing below these is shown; of the first ones, not even they are.
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
  // Without a role attribute their role is always the same one, which Chrome need not be asked for.
  const SURE = {
    span: "generic", div: "generic", b: "generic", i: "generic", u: "generic", label: "LabelText", p: "paragraph",
    h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  };
  const SHADOWABLE = new Set(["article", "aside", "footer", "header", "main", "nav", "p", "section", "span"]);
  const HTML = "http://www.w3.org/1999/xhtml";

  const { flatParent, isEditingHost, styleOf } = dom;

  // A closed shadow root cannot be seen from scripts: an element that may have one gets a number, and with its id comes
  // what it has. Asked once: a root that is attached later is not found.
  function mayHideShadow(element) {
    const tag = element.localName;
    return tag === "div" || tag.includes("-") || (element.firstChild === null && SHADOWABLE.has(tag));
  }

  // The role that an element of this kind always has; undefined where Chrome has to be asked.
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

  // Off the list of boxes, but not hidden: display: contents, what a canvas falls back to, options.
  function shownWithoutBox(at, tag) {
    if (!at.isConnected) return false;
    if (tag === "option" || tag === "optgroup") return at.closest("select") !== null && !at.hidden;
    if (at.closest("canvas") !== null) return true;
    return getComputedStyle(at).display === "contents" && !isLocked(at);
  }

  // Whether an element of display: contents is in one that draws none of its contents (content-visibility: hidden).
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

  function saysJust(at, name) {
    const only = at.firstChild;
    return only !== null && only.nodeType === 3 && only.nextSibling === null && only.data === name && !at.shadowRoot;
  }

  function isFocusable(at, attributed) {
    if (at.tabIndex >= 0 && (at.localName !== "a" || at.hasAttribute("href"))) return !at.matches(":disabled");
    if (at.localName === "dialog") return true;
    if (at.localName === "body" && at.isContentEditable) return true; // also by designMode
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

  // What Chrome calls an element that it gives no role to.
  function namelessRole(at, tag) {
    return (tag === "input" ? ROLE_OF_INPUT[at.type] : ROLE_OF_TAG[tag]) || "generic";
  }

  const picksDate = (at, tag) => tag === "input" && ROLE_OF_INPUT[at.type] !== undefined;

  return {
    UNSEEN, EMPTY, sureRole, namelessRole, picksDate, mayHideShadow, shownWithoutBox, isBlock, saysJust, isFocusable,
    hasNameAttribute, isPointer,
  };
})
