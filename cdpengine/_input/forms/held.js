// Answers whether a form control or editable element holds now what it was filled with. Called on a node in an isolated
// world, with { wanted, type, guard }: the text, the type of input that it was meant for, and the key guard that ends
// where it does; then key_guard.js, and the parts secret_field.js and field_values.js. Where it holds something else, `holds` is that; null for a secret field.
(function (request, keys, isSecret, values) {
  "use strict";

  const { wanted, type } = request;
  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { taken: false, holds: null };
  if (DOM.localName(element) === "label" && element.control) element = element.control;
  const field = DOM.localName(element) === "input" || DOM.localName(element) === "textarea";
  const secret = isSecret(element);
  const held = field ? element.value : secret ? DOM.textContent(element) : DOM.innerText(element); // which is dots, where drawn so
  const bad = field && element.validity.badInput;
  const same = values.isTyped(type)
    ? values.wasTaken(wanted, held, type === "number")
    : values.isSame(element, values.sanitized(element, wanted), held);
  if (same && !bad) {
    keys.stray(request.guard);
    return { taken: true, holds: null };
  }
  return { taken: false, holds: secret ? null : held };
})
