// Removes the keyboard focus from a node and returns whether the node lost it. Called in an isolated world.
(function () {
  "use strict";

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element || !DOM.isConnected(element)) return { connected: false, blurred: false };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  function active() {
    let at = DOM.activeElement(DOM.getRootNode(element));
    while (at && DOM.shadowRoot(at) && DOM.activeElement(DOM.shadowRoot(at))) at = DOM.activeElement(DOM.shadowRoot(at));
    return at;
  }

  function within(at) {
    for (; at; at = DOM.parentNode(at) || DOM.host(at)) if (at === element) return true;
    return false;
  }

  const holder = active();
  if (within(holder)) DOM.blur(holder);
  return { connected: true, blurred: !within(active()) };
})
