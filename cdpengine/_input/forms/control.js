// Gives the form control of a label; the element itself for any other. Called on a node in an isolated world.
(function () {
  "use strict";

  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  return (element && element.localName === "label" && element.control) || element;
})
