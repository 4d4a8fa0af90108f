// Makes `DOM`: the properties and methods of nodes as functions of the node, for the engine's scripts in an isolated world.
// The names that a page gives to form controls and images hide properties of the form and of the document in every world:
// <input name=parentNode> makes `form.parentNode` the input, <img name=body> makes `document.body` the image. So forms
// and documents are read through their prototypes. All other nodes are read as usual, which is faster.
// Made once in each world, and kept there.
(() => {
  "use strict";

  const KEPT = "cdpengineDOM";
  // An own property: a page's element of that name would be found as an inherited one.
  if (Object.hasOwn(globalThis, KEPT)) return globalThis[KEPT];

  // Of every node, whatever it is: read through Node.prototype, which is faster.
  const OF_NODES = "childNodes isConnected nodeName nodeType ownerDocument parentElement parentNode textContent";
  const READ =
    "activeElement adoptedStyleSheets ariaErrorMessageElements ariaLabelledByElements assignedSlot baseURI body children " +
    "classList clientLeft clientTop designMode doctype documentElement host implementation inert innerHTML innerText isContentEditable labels localName " +
    "multiple namespaceURI offsetWidth outerHTML readyState scripts scrollLeft scrollTop shadowRoot styleSheets title value";
  const CALLED =
    "addEventListener blur checkVisibility close closest contains createRange createTreeWalker dispatchEvent " +
    "elementFromPoint elementsFromPoint focus getAnimations getAttribute getBoundingClientRect getClientRects " +
    "getElementById getRootNode hasAttribute hasFocus matches open querySelector querySelectorAll " +
    "removeEventListener scrollIntoView setAttribute write";

  const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const { get, apply } = Reflect;

  // The prototype to read a node through; null where its own properties cannot be hidden.
  const prototypeFor = (node) =>
    node instanceof HTMLFormElement ? HTMLFormElement.prototype : node instanceof Document ? Document.prototype : null;

  function read(node, name) {
    const prototype = prototypeFor(node);
    return prototype === null ? node[name] : get(prototype, name, node);
  }

  const DOM = { __proto__: null };
  for (const name of OF_NODES.split(" ")) {
    const own = getter(Node.prototype, name);
    DOM[name] = (node) => own.call(node);
  }
  for (const name of READ.split(" ")) DOM[name] = (node) => read(node, name);
  for (const name of CALLED.split(" ")) {
    DOM[name] = (node, ...values) => apply((prototypeFor(node) ?? node)[name], node, values);
  }

  // Properties read for each element of a document. Each has a separate function, which V8 makes faster.
  const nodeType = getter(Node.prototype, "nodeType");
  const parentElement = getter(Node.prototype, "parentElement");
  const childNodes = getter(Node.prototype, "childNodes");
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const { checkVisibility, getAttribute, matches } = Element.prototype;
  DOM.nodeType = (node) => nodeType.call(node);
  DOM.parentElement = (node) => parentElement.call(node);
  DOM.childNodes = (node) => childNodes.call(node);
  DOM.localName = (node) => (node instanceof Element ? localName.call(node) : read(node, "localName"));
  DOM.shadowRoot = (node) => (node instanceof Element ? shadowRoot.call(node) : read(node, "shadowRoot"));
  DOM.checkVisibility = (element, options) => checkVisibility.call(element, options);
  DOM.getAttribute = (element, name) => getAttribute.call(element, name);
  DOM.matches = (element, selector) => matches.call(element, selector);
  Object.defineProperty(globalThis, KEPT, { value: Object.freeze(DOM) });
  return DOM;
})()
