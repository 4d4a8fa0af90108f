// Finds what may hide visible content from Chrome's accessibility tree. The request is { most }. Returns an array:
// first a JSON string { attribute }, whether any element with content has aria-hidden; then the drawn custom
// elements, which may hide themselves through their internals, at most `most`. Runs in an isolated world; `search`
// is the result of node_search.js.
(request, search) => {
  const HIDDEN = '[aria-hidden="true"]:not(svg, svg *, :empty)'; // others are pictures, or empty
  const isCustom = (at) =>
    at instanceof HTMLElement && DOM.localName(at).includes("-") && DOM.matches(at, ":defined") && DOM.checkVisibility(at);
  const customs = search.select("*").filter(isCustom).slice(0, request.most);
  return [JSON.stringify({ attribute: search.select(HIDDEN).length > 0 }), ...customs];
}
