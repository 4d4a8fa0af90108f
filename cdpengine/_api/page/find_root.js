// Returns an array with the first element that matches the CSS selector in the document, or else in its open
// shadow roots. The array is empty without a match. Runs in an isolated world. An invalid selector throws a
// SyntaxError.
(function (selector) {
  "use strict";

  // A form field or an image with the name of a property hides that property of its form or document.
  const shadowOf = (element) => Reflect.get(Element.prototype, "shadowRoot", element);
  const first = (root) =>
    root === document ? Document.prototype.querySelector.call(root, selector) : DOM.querySelector(root, selector);
  const all = (root) =>
    root === document ? Document.prototype.querySelectorAll.call(root, "*") : DOM.querySelectorAll(root, "*");

  const roots = [document];
  for (const root of roots) {
    const found = first(root);
    if (found) return [found];
    for (const element of all(root)) {
      const shadow = shadowOf(element);
      if (shadow) roots.push(shadow);
    }
  }
  return [];
})
