// Finds elements of this document. The request is { css, text, exact, visible, most }; css and text may be null.
// With `visible`, only elements that are drawn and not hidden. Alternatively, the request is { chosen, most }:
// indexes into the result of text_index.js, passed as `texts`. Returns an array: first a JSON string, {
// descriptions } or { invalid: the reason for an invalid selector }, then the elements, at most `most`. Runs in an
// isolated world; `search` is the result of node_search.js.
(request, search, texts) => {
  let found = null;
  if (request.chosen) {
    found = request.chosen.map((place) => texts.elements[place]);
  } else {
    if (request.css !== null) {
      try {
        found = search.select(request.css);
      } catch (error) {
        return [JSON.stringify({ invalid: String(error.message) })];
      }
    }
    if (request.text !== null) found = search.withText(request.text, found, request.exact);
  }
  if (request.visible) {
    found = found.filter((at) => search.isVisible(at) && DOM.closest(at, "[aria-hidden=true], [inert]") === null);
  }
  const kept = (found || []).slice(0, request.most);
  return [JSON.stringify({ descriptions: kept.map(search.describe) }), ...kept];
}
