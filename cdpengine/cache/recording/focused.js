// Returns the element of this document that has the keyboard's focus, in open shadow roots too; null for none, and where
// it is in a frame of the document.
(function () {
  "use strict";

  if (!document.hasFocus()) return null;
  let found = document.activeElement;
  while (found && found.shadowRoot && found.shadowRoot.activeElement) found = found.shadowRoot.activeElement;
  if (!found || found === document.body || found === document.documentElement) return null;
  return ["iframe", "frame", "object", "embed"].includes(found.localName) ? null : found;
})
