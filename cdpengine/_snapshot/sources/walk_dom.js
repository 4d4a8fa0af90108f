// Document readers for the parts of the walk that the page's names cannot shadow. A part of walk.js, which
// calls it once.
(function () {
  "use strict";

  // A page's names reach into this world: <input name=firstChild> is its form's firstChild here too, and <img
  // name=title> the document's title. So forms and the document are read through prototypes.
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const nextSibling = getter(Node.prototype, "nextSibling");
  const parentNode = getter(Node.prototype, "parentNode");
  const localName = getter(Element.prototype, "localName");
  const assignedSlot = getter(Element.prototype, "assignedSlot");
  const getAttribute = Element.prototype.getAttribute;
  const getRootNode = Node.prototype.getRootNode;
  const contains = Node.prototype.contains;
  const isEditable = getter(HTMLElement.prototype, "isContentEditable");
  const closedRoots = new WeakMap(); // host -> root, for the known closed roots

  // HTML elements to which a page can attach a shadow root (DOM standard, attachShadow). Custom elements can
  // have one too.
  const HOSTS = new Set([
    "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
    "nav", "p", "section", "span",
  ]);
  const mayHost = (tag) => HOSTS.has(tag) || tag.includes("-");

  function flatParent(element) {
    const slot = assignedSlot.call(element);
    if (slot !== null) return slot;
    const parent = parentNode.call(element);
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  }

  function read(node, prototype, key) {
    const value = Reflect.get(prototype, key, node);
    return typeof value === "function" ? value.bind(node) : value;
  }

  const ofRoot = (root, key) => (root instanceof ShadowRoot ? root[key] : read(root, Document.prototype, key));
  const ofDocument = (key) => read(document, Document.prototype, key);

  function byId(root, id) {
    if (id === "" || !(root instanceof DocumentFragment || root instanceof Document)) return null;
    return root instanceof Document ? ofDocument("getElementById")(id) : root.getElementById(id);
  }

  function query(root, selector) {
    return root instanceof Document ? ofDocument("querySelectorAll")(selector) : root.querySelectorAll(selector);
  }

  function isEditingHost(at) {
    const above = flatParent(at);
    return (at instanceof HTMLElement ? isEditable.call(at) : false) && !(above instanceof HTMLElement && isEditable.call(above));
  }

  // The focused element, through shadow trees; null if no particular element has the focus.
  function deepFocus() {
    let at = ofDocument("activeElement");
    if (at === ofDocument("body") && !ofDocument("hasFocus")()) return null;
    while (at !== null) {
      const root = at instanceof HTMLFormElement ? null : at.shadowRoot || closedRoots.get(at);
      if (!root || !root.activeElement) break;
      at = root.activeElement;
    }
    return at;
  }

  function topModal() {
    const found = query(document, ":modal");
    if (found.length < 2) return found.length ? found[0] : null;
    const hit = ofDocument("elementFromPoint")(1, 1);
    return (hit && Element.prototype.closest.call(hit, ":modal")) || found[found.length - 1];
  }

  let styles = new Map(); // element -> its computed style, during a walk
  let textStyles = new Map();

  // The live computed style of an element. Making it takes as long as reading several properties.
  function styleOf(element) {
    let style = styles.get(element);
    if (style === undefined) styles.set(element, (style = getComputedStyle(element)));
    return style;
  }

  // The properties that decide how the text of an element is drawn.
  function textStyleOf(element) {
    let found = textStyles.get(element);
    if (found === undefined) {
      const { textTransform, whiteSpaceCollapse, webkitTextSecurity, contentVisibility } = styleOf(element);
      found = { transform: textTransform, spaces: whiteSpaceCollapse, veiled: webkitTextSecurity !== "none", contentVisibility };
      textStyles.set(element, found);
    }
    return found;
  }

  // Drops the cached styles, so that none is kept between walks.
  function forgetStyles() {
    styles = new Map();
    textStyles = new Map();
  }

  const closedRootOf = (element) => closedRoots.get(element);

  return {
    flatParent, read, byId, query, ofRoot, ofDocument, getAttribute, isEditingHost, closedRoots, closedRootOf, nextSibling, localName,
    getRootNode, contains, deepFocus, topModal, getter, styleOf, textStyleOf, forgetStyles, mayHost,
  };
})
