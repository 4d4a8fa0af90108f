// Returns `this` element and its ancestors, innermost first, across shadow roots. If the snapshot
// does not list the element, the action belongs to one of these ancestors.
(function () {
  "use strict";

  const MOST = 40;
  const found = [];
  for (let node = this; node && found.length < MOST; node = DOM.parentNode(node) || DOM.host(node)) {
    if (DOM.nodeType(node) === 1) found.push(node);
  }
  return found;
})
