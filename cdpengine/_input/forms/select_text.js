// Selects the text of a field, or the content of another element. Of a label, its field is selected. Called on a node
// in an isolated world. Returns true.
(function () {
  "use strict";

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  const field = (DOM.localName(element) === "label" && element.control) || element;
  if (["input", "textarea"].includes(DOM.localName(field))) {
    DOM.focus(field);
    field.select();
    return true;
  }
  if (DOM.isContentEditable(element)) DOM.focus(element);
  getSelection().setBaseAndExtent(element, 0, element, DOM.childNodes(element).length);
  return true;
})
