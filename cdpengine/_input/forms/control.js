// Returns the form control of a label, or the element itself. Called on a node in an isolated world.
(function () {
  "use strict";

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  return (element && DOM.localName(element) === "label" && element.control) || element;
})
