// The ways in which the walk's parts read a document, so that no name of the page's is in the way. A part of walk.js,
// which calls it once.
(function () {
  "use strict";

  // A page's names reach into this world: <input name=firstChild> is its form's firstChild here as well, and
  // <img name=title> the document's title. So what may be a form or the document is read through prototypes.
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const nextSibling = getter(Node.prototype, "nextSibling");
  const parentNode = getter(Node.prototype, "parentNode");
  const assignedSlot = getter(Element.prototype, "assignedSlot");
  const getAttribute = Element.prototype.getAttribute;
  const getRootNode = Node.prototype.getRootNode;
  const contains = Node.prototype.contains;
  const isEditable = getter(HTMLElement.prototype, "isContentEditable");
  const closedRoots = new WeakMap(); // host -> root, as far as they were told

  // What the page can give a shadow root, of HTML's own (DOM standard, attachShadow), beside custom elements.
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
    return at.isContentEditable && !(above instanceof HTMLElement && isEditable.call(above));
  }

  // What has the focus, shadow trees included; null where it is nowhere in particular.
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

  let styled = null;
  let style = null;

  // The computed style of an element: what is asked one after the other is mostly of the same one.
  function styleOf(element) {
    if (element !== styled) {
      style = getComputedStyle(element);
      styled = element;
    }
    return style;
  }

  // No element is kept for it between walks.
  function forgetStyle() {
    styled = style = null;
  }

  const closedRootOf = (element) => closedRoots.get(element);

  return {
    flatParent, read, byId, query, ofRoot, ofDocument, getAttribute, isEditingHost, closedRoots, closedRootOf, nextSibling,
    getRootNode, contains, deepFocus, topModal, getter, styleOf, forgetStyle, mayHost,
  };
})
