// Answers what a form control or editable element holds now; null for a password, of which only `length` is told.
// Called on a node in an isolated world.
(function () {
  "use strict";

  let element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!element) return { connected: false, holds: null, length: 0 };
  if (element.localName === "label" && element.control) element = element.control;
  const field = element.localName === "input" || element.localName === "textarea";
  const text = field ? element.value : element.innerText;
  const secret = element.localName === "input" && element.type === "password";
  const bad = field && element.validity ? element.validity.badInput : false;
  return { connected: element.isConnected, holds: secret ? null : text, length: text.length, bad };
})
