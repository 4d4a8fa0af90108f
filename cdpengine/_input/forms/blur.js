// Takes the keyboard focus away from a node, and answers whether it is without it now. Called in an isolated world.
(function () {
  "use strict";

  let element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!element || !element.isConnected) return { connected: false, blurred: false };
  if (element.localName === "label" && element.control) element = element.control;

  function active() {
    let at = element.getRootNode().activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    return at;
  }

  function within(at) {
    for (; at; at = at.parentNode || at.host) if (at === element) return true;
    return false;
  }

  const holder = active();
  if (within(holder)) holder.blur();
  return { connected: true, blurred: !within(active()) };
})
