// Answers which of some selectors match anything in the document, open shadow roots included.
// Runs in an isolated world; `search` is what node_search.js makes.
(selectors, search) => {
  const roots = search.roots();
  return selectors.filter((selector) => roots.some((root) => DOM.querySelector(root, selector) !== null));
}
