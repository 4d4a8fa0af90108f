// Returns the element of this document with keyboard focus, also inside open shadow roots. Returns null if no element
// has the focus or if a child frame has it.
(function () {
  "use strict";

  if (!DOM.hasFocus(document)) return null;
  let found = DOM.activeElement(document);
  while (found && DOM.shadowRoot(found) && DOM.activeElement(DOM.shadowRoot(found))) found = DOM.activeElement(DOM.shadowRoot(found));
  if (!found || found === DOM.body(document) || found === DOM.documentElement(document)) return null;
  return ["iframe", "frame", "object", "embed"].includes(DOM.localName(found)) ? null : found;
})
