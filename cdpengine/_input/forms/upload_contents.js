// Sets the files of an input to files created from bytes, or to none. Called on a node in an isolated world,
// with a request:
//   files     [{ name, type, data }], with base64 data
// The page receives untrusted input and change events. Returns the names that the input held before these
// events.
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
