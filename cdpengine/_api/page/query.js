// Returns an array of the first element that matches the CSS selector: in the document, or else in its open shadow
// roots. Runs in an isolated world; the array is empty where nothing matches. An invalid selector throws a SyntaxError.
(function (selector) {
  "use strict";

  // A form's field, or an image, may be named like a property of its form or of the document, and hides it then.
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
