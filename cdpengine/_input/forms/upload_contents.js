// Gives an input of files those that are made here of bytes, or none. Called on a node in an isolated world, with one
// request:
//   files     [{ name, type, data }]: the data as base64
// The page gets input and change events, which are not trusted. Answers the names that the input held just before
// them.
(function (request) {
  "use strict";

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  const transfer = new DataTransfer();
  for (const { name, type, data } of request.files) {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    transfer.items.add(new File([bytes], name, { type }));
  }
  element.files = transfer.files;
  const names = Array.from(element.files, (file) => file.name);
  DOM.dispatchEvent(element, new Event("input", { bubbles: true, composed: true }));
  DOM.dispatchEvent(element, new Event("change", { bubbles: true }));
  return names;
})
