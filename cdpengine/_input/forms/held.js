// Answers whether a form control or editable element holds now what it was filled with. Called on a node in an isolated
// world, with { wanted, type, guard, masked }: the text, the type of input that it was meant for, the key guard that ends
// where it does, and whether it looks like the field of a mask; then key_guard.js, and the parts secret_field.js and
// field_values.js. Where it holds something else, `holds` is that; null for a secret field. `unchanged`: a field holds what
// it did before fill.js.
(function (request, keys, isSecret, values) {
  "use strict";

  const { wanted, type, masked } = request;
  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { taken: false, holds: null };
  if (DOM.localName(element) === "label" && element.control) element = element.control;
  const field = DOM.localName(element) === "input" || DOM.localName(element) === "textarea";
  const secret = isSecret(element);
  const held = field ? element.value : secret ? DOM.textContent(element) : DOM.innerText(element); // which is dots, where drawn so
  const bad = field && element.validity.badInput;
  const taken = (value) => values.wasTaken(wanted, value, type === "number");
  // A mask may put something in front: +7(901)234-56-78.
  const same = values.isTyped(type)
    ? taken(held) || ((masked || /^\+\d/.test(held)) && [1, 2, 3, 4, 5].some((start) => taken(held.slice(start))))
    : values.isSame(element, values.sanitized(element, wanted), held);
  if (same && !bad) {
    keys.stray(request.guard.id);
    return { taken: true, holds: null };
  }
  return { taken: false, holds: secret ? null : held, unchanged: field && keys.before === held };
})
