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
    "activeElement ariaLabelledByElements assignedSlot baseURI body children classList clientLeft clientTop " +
    "designMode doctype documentElement host implementation inert innerText isContentEditable labels localName " +
    "multiple namespaceURI offsetWidth outerHTML readyState scripts scrollLeft scrollTop shadowRoot title value";
  const CALLED =
    "addEventListener blur checkVisibility close closest contains createRange createTreeWalker dispatchEvent " +
    "elementFromPoint elementsFromPoint focus getAnimations getAttribute getBoundingClientRect getClientRects " +
    "getElementById getRootNode hasAttribute hasFocus matches open querySelector querySelectorAll " +
    "removeEventListener scrollIntoView setAttribute write";

  const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const nodeType = getter(Node.prototype, "nodeType");
  const localName = getter(Element.prototype, "localName");
  const namespaceURI = getter(Element.prototype, "namespaceURI");
  const { get, apply } = Reflect;

  // The prototype to read a node through; null where its own properties cannot be hidden.
  function prototypeFor(node) {
    const type = nodeType.call(node);
    if (type === 9) return Document.prototype;
    const isForm = type === 1 && localName.call(node) === "form" && namespaceURI.call(node) === "http://www.w3.org/1999/xhtml";
    return isForm ? HTMLFormElement.prototype : null;
  }

  const DOM = { __proto__: null };
  for (const name of OF_NODES.split(" ")) {
    const read = getter(Node.prototype, name);
    DOM[name] = (node) => read.call(node);
  }
  // A node of the protocol can be a CSSPseudoElement here, the marker of a carousel for one, which is no Node.
  const isNode = (node) => node instanceof Node;
  DOM.nodeType = (node) => (isNode(node) ? nodeType.call(node) : 0);
  const parentElement = DOM.parentElement;
  DOM.parentElement = (node) => (isNode(node) ? parentElement(node) : node.element ?? null);
  for (const name of READ.split(" ")) {
    DOM[name] = (node) => {
      const prototype = prototypeFor(node);
      return prototype === null ? node[name] : get(prototype, name, node);
    };
  }
  for (const name of CALLED.split(" ")) {
    DOM[name] = (node, ...values) => apply((prototypeFor(node) ?? node)[name], node, values);
  }
  Object.defineProperty(globalThis, KEPT, { value: Object.freeze(DOM) });
  return DOM;
})()
