// Returns the element of this document that has the keyboard's focus, in open shadow roots too; null for none, and where
// it is in a frame of the document.
(function () {
  "use strict";

  if (!DOM.hasFocus(document)) return null;
  let found = DOM.activeElement(document);
  while (found && DOM.shadowRoot(found) && DOM.activeElement(DOM.shadowRoot(found))) found = DOM.activeElement(DOM.shadowRoot(found));
  if (!found || found === DOM.body(document) || found === DOM.documentElement(document)) return null;
  return ["iframe", "frame", "object", "embed"].includes(DOM.localName(found)) ? null : found;
})
