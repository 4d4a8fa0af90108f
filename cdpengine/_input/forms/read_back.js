// Returns whether a form control or editable element holds the value that it was filled with. Called on a node
// in an isolated world, with { entered, type, guard, masked }: the string, the input type that it was made for, the
// key guard to end on success, and whether the field looks masked; then with the key guards, and the parts
// secret_field.js and field_values.js. Returns { taken, holds, unchanged }. `holds` is the other value that it
// holds, null for a secret field. `unchanged`: the field's value is still that before fill.js.
(function (request, keys, isSecret, values) {
  "use strict";

  const { entered, type, masked } = request;
  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { taken: false, holds: null };
  if (DOM.localName(element) === "label" && element.control) element = element.control;
  const field = DOM.localName(element) === "input" || DOM.localName(element) === "textarea";
  const secret = isSecret(element);
  // The innerText of a secret field may be dots.
  const held = field ? element.value : secret ? DOM.textContent(element) : DOM.innerText(element);
  const bad = field && element.validity.badInput;
  // A section of a date may show "2" for "02".
  const isNumber = type === "number" || (!field && DOM.getAttribute(element, "role") === "spinbutton");
  const taken = (value) => values.wasTaken(entered, value, isNumber);
  // A mask may insert a prefix: +7(901)234-56-78.
  const same = values.isTyped(type)
    ? taken(held) || ((masked || /^\+\d/.test(held)) && [1, 2, 3, 4, 5].some((start) => taken(held.slice(start))))
    : values.isSame(element, values.sanitized(element, entered), held);
  if (same && !bad) {
    keys.stray(request.guard.id);
    return { taken: true, holds: null };
  }
  return { taken: false, holds: secret ? null : held, unchanged: field && keys.before === held };
})
