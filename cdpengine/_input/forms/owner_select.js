// Returns the <select> that an option belongs to, null for none. Called on a node in an isolated world.
(function () {
  "use strict";

  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  return element && element.closest("select");
})
