// Answers which of some selectors match anything in the document, open shadow roots included.
// Runs in an isolated world; `looking` is what looking.js makes.
(selectors, looking) => {
  const roots = looking.roots();
  return selectors.filter((selector) => roots.some((root) => root.querySelector(selector) !== null));
}
