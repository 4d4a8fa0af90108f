// Returns the selectors that match an element of the document, open shadow roots included. Runs in an
// isolated world: see finder.js.
(selectors, search) => {
  const roots = search.roots();
  return selectors.filter((selector) => roots.some((root) => DOM.querySelector(root, selector) !== null));
}
