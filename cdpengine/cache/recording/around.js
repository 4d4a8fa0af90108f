// Returns `this` element and its ancestors, innermost first, across shadow roots. An element without a line of its
// own in the snapshot belongs to one of its ancestors.
(function () {
  "use strict";

  const MOST = 40;
  const found = [];
  for (let node = this; node && found.length < MOST; node = DOM.parentNode(node) || DOM.host(node)) {
    if (DOM.nodeType(node) === 1) found.push(node);
  }
  return found;
})
