// Returns the <select> of an option, or null. Called on a node in an isolated world.
(function () {
  "use strict";

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  return element && DOM.closest(element, "select");
})
