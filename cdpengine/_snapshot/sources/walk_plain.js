// Computes Chrome's roles and names of plain documents without its accessibility tree, which takes longer to
// build than the rest of a first walk. A part of walk.js, which calls it once with `dom`, its document
// readers, and `styles`. If Chrome's result might differ from the page's source, it throws `NOT_PLAIN`, and
// the whole document is read with Chrome's own roles and names. So each rule here has no exceptions:
//
// - Only elements of PLAIN_TAGS in HTML's namespace count, without shadow trees, with PLAIN_ATTRIBUTES only,
//   and with no style that makes list items or tables of them.
// - A name is text as in the source: no styles change it, nothing is generated before or after it, and it
//   has no characters that Chrome may treat specially.
// - Labels hold text and their control, and a control has at most one label.
(function (dom, styles) {
  "use strict";

  const NOT_PLAIN = {};

  const ROLES = {
    article: "article", b: "generic", blockquote: "blockquote", body: "generic", br: "", button: "button",
    code: "code", div: "generic", em: "emphasis", form: "form", h1: "heading", h2: "heading", h3: "heading",
    h4: "heading", h5: "heading", h6: "heading", hr: "separator", html: "generic", i: "generic", label: "",
    main: "main", nav: "navigation", ol: "list", option: "option", p: "paragraph", pre: "generic", small: "generic",
    span: "generic", strong: "strong", textarea: "textbox", u: "generic", ul: "list", wbr: "",
  };
  const ROLES_OF_INPUTS = {
    checkbox: "checkbox", email: "textbox", password: "textbox", radio: "radio", search: "searchbox", tel: "textbox",
    text: "textbox", url: "textbox",
  };
  const BY_TEXT = new Set(["a", "button", "h1", "h2", "h3", "h4", "h5", "h6"]);
  const WITHOUT_NAME = new Set(["article", "blockquote", "br", "form", "hr", "main", "nav", "ol", "ul", "wbr"]);
  const HIDDEN_TAGS = ["head", "head *", "script", "style", "template", "noscript", "link", "meta"];
  const PLAIN_TAGS = [...Object.keys(ROLES), "a", "input", "li", "select", ...HIDDEN_TAGS];
  const OTHERS = `:not(${PLAIN_TAGS.join(",")})`;
  const NOT_PLAIN_ANYWHERE = "[aria-owns],[aria-modal],[inert],[popover],[contenteditable],[is],[slot],:modal";
  const PLAIN_ATTRIBUTES =
    /^(?:accept-charset|action|autocomplete|autofocus|checked|class|data-.*|disabled|enctype|for|href|hreflang|id|lang|max|maxlength|method|min|minlength|multiple|name|novalidate|on[a-z]+|pattern|placeholder|readonly|rel|required|rows|cols|selected|size|spellcheck|start|step|style|tabindex|target|type|value|wrap)$/;
  const PLAIN_INSIDE = new Set(["b", "code", "em", "i", "small", "span", "strong", "u"]);
  const DISPLAYS = new Set(["block", "flex", "grid", "inline", "inline-block", "inline-flex", "inline-grid"]);
  // Latin, Greek, Cyrillic, Japanese, Chinese and Korean letters with their punctuation.
  const PLAIN_TEXT =
    /^[\t\n\r\x20-\x7e\xa1-\xac\xae-\u0233\u0386-\u03ce\u0400-\u0481\u048a-\u0527\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac\u2190-\u2193\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]*$/;
  const LONGEST = 1000;
  const MOST = 10; // nodes inside a name
  const FEW = 50; // controls that look up their labels separately, before all labels are collected
  const MOST_NAMES = 1000; // attribute names that are cached

  const { getter, query, ofDocument, read, closedRootOf, styleOf, textStyleOf } = dom;
  const localName = getter(Element.prototype, "localName");
  const namespaceURI = getter(Element.prototype, "namespaceURI");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const parentNode = getter(Node.prototype, "parentNode");
  const { getAttributeNames, hasAttribute, getAttribute, checkVisibility } = Element.prototype;
  const HTML = "http://www.w3.org/1999/xhtml";
  const VISIBLE = { contentVisibilityAuto: true, visibilityProperty: true };

  const hasTree = (at) => shadowRoot.call(at) !== null || closedRootOf(at) !== undefined;

  function giveUp() {
    throw NOT_PLAIN;
  }

  let labelsOf = null; // control -> its labels; `control.labels` makes Chrome search the whole document
  let askedFor = 0; // controls whose labels were looked up before `labelsOf` was filled

  function end() {
    labelsOf = null;
    askedFor = 0;
    checked = null;
  }

  // Begins a walk. Throws if the document as a whole is not plain. `known`: its structure equals that of a
  // plain one.
  function begin(known) {
    if (ofDocument("contentType") !== "text/html" || ofDocument("designMode") !== "off") giveUp();
    if (!known && read(document, Document.prototype, "querySelector")(`${NOT_PLAIN_ANYWHERE},${OTHERS}`) !== null) giveUp();
    if (styles.sheetsDecorate(document, /:first-l/i)) giveUp();
    labelsOf = null;
    askedFor = 0;
  }

  function findLabels() {
    const found = new WeakMap();
    for (const label of query(document, "label")) {
      const { control } = label;
      if (control !== null) found.set(control, [...(found.get(control) || []), label]);
    }
    return found;
  }

  // A control without an id can have a label only around it.
  function labelsAround(at) {
    let labels;
    for (let above = parentNode.call(at); above instanceof Element; above = parentNode.call(above)) {
      if (above instanceof HTMLLabelElement && above.control === at) (labels ??= []).push(above);
    }
    return labels;
  }

  function labelsFor(at) {
    if (labelsOf === null && ++askedFor < FEW && !hasAttribute.call(at, "id")) return labelsAround(at);
    if (labelsOf === null) labelsOf = findLabels();
    return labelsOf.get(at);
  }

  const plainNames = new Set(); // attributes that were found to be plain; a document has few different ones

  function checkAttributes(at) {
    const names = getAttributeNames.call(at);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (plainNames.has(name)) continue;
      if (!PLAIN_ATTRIBUTES.test(name)) giveUp();
      if (plainNames.size < MOST_NAMES) plainNames.add(name);
    }
  }

  let checked = null; // the element whose role was requested last

  function roleOf(at) {
    checked = at;
    const tag = localName.call(at);
    if (namespaceURI.call(at) !== HTML || hasTree(at)) giveUp();
    checkAttributes(at);
    const { display } = styleOf(at);
    if (!DISPLAYS.has(display) && !(display === "list-item" && tag === "li") && tag !== "option") giveUp();
    if (tag === "a") return hasAttribute.call(at, "href") ? "link" : giveUp();
    if (tag === "input") return ROLES_OF_INPUTS[at.type] || giveUp();
    if (tag === "select") {
      return at.multiple || at.size > 1 || at.childElementCount !== at.length ? giveUp() : "combobox";
    }
    if (tag === "li") {
      const parent = parentNode.call(at);
      const list = parent instanceof HTMLUListElement || parent instanceof HTMLOListElement;
      return list && !hasAttribute.call(parent, "role") ? "listitem" : giveUp();
    }
    return ROLES[tag] === undefined ? giveUp() : ROLES[tag];
  }

  // Whether the text of a visible element is drawn unchanged.
  function isDrawnPlainly(at, decorated) {
    const { transform, spaces, veiled, contentVisibility } = textStyleOf(at);
    if (transform !== "none" || spaces !== "collapse" || veiled || contentVisibility !== "visible") return false;
    const { content, display } = styleOf(at);
    if (content !== "normal" || !DISPLAYS.has(display)) return false;
    return !decorated || (!styles.decoration(at, "::before") && !styles.decoration(at, "::after"));
  }

  // The text of an element that holds only text, inline elements, and `control`, which "\0" represents.
  function textOf(at, decorated, control) {
    if (!isDrawnPlainly(at, decorated)) giveUp();
    let text = "";
    let count = 0;
    for (let child = firstChild.call(at); child !== null; child = nextSibling.call(child)) {
      if (++count > MOST) giveUp();
      if (child.nodeType === 3) text += child.data;
      else if (child === control) text += "\0";
      else if (child.nodeType === 1) text += textInside(child, decorated);
      else if (child.nodeType !== 8) giveUp();
    }
    if (text.length > LONGEST) giveUp();
    return text;
  }

  function textInside(at, decorated) {
    if (!PLAIN_INSIDE.has(localName.call(at)) || namespaceURI.call(at) !== HTML || hasTree(at)) giveUp();
    for (const name of getAttributeNames.call(at)) if (!/^(?:class|style|data-.*)$/.test(name)) giveUp();
    if (styleOf(at).display !== "inline" || !checkVisibility.call(at, VISIBLE)) giveUp();
    return textOf(at, decorated, null);
  }

  function tidy(text) {
    if (!PLAIN_TEXT.test(text)) giveUp();
    return text.replace(/[ \t\n\r]+/g, " ").replace(/^ | $/g, "");
  }

  function nameFromText(at, decorated) {
    return tidy(textOf(at, decorated, null)) || giveUp();
  }

  // The text of the control's label; "" if it has none.
  function nameFromLabel(at, decorated) {
    const labels = labelsFor(at);
    if (labels === undefined) return "";
    if (labels.length > 1) giveUp();
    const label = labels[0];
    checkAttributes(label);
    if (hasTree(label) || !checkVisibility.call(label, VISIBLE)) giveUp();
    for (let above = parentNode.call(label); above instanceof Element; above = parentNode.call(above)) {
      if (hasAttribute.call(above, "aria-hidden")) giveUp();
    }
    const said = textOf(label, decorated, at).split("\0").map(tidy).filter((text) => text !== "");
    return said.length === 1 ? said[0] : giveUp();
  }

  function nameOf(at, decorated) {
    const tag = localName.call(at);
    if (at !== checked) roleOf(at);
    if (BY_TEXT.has(tag)) return labelsFor(at) !== undefined ? giveUp() : nameFromText(at, decorated);
    if (tag === "option") {
      const text = tidy(at.text);
      return text === at.label && firstChild.call(at) !== null && text !== "" ? text : giveUp();
    }
    if (tag === "input" || tag === "select" || tag === "textarea") {
      const name = nameFromLabel(at, decorated);
      if (name !== "" || tag === "select" || at.type === "checkbox" || at.type === "radio") return name;
      return hasAttribute.call(at, "placeholder") ? tidy(getAttribute.call(at, "placeholder")) : "";
    }
    if (WITHOUT_NAME.has(tag) && !hasAttribute.call(at, "tabindex")) return "";
    return giveUp();
  }

  // Checks a form, whose properties the page may shadow.
  function checkForm(at) {
    if (hasTree(at)) giveUp();
    checkAttributes(at);
  }

  return { NOT_PLAIN, giveUp, begin, end, roleOf, nameOf, checkForm };
})
