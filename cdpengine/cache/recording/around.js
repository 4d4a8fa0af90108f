// Returns the element that it is called on and the elements around it, innermost first, across shadow roots: what is
// not shown by itself is a part of one of these.
(function () {
  "use strict";

  const MOST = 40;
  const found = [];
  for (let node = this; node && found.length < MOST; node = DOM.parentNode(node) || DOM.host(node)) {
    if (DOM.nodeType(node) === 1) found.push(node);
  }
  return found;
})
