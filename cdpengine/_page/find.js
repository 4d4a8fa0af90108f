// Finds elements of this document: request { css, text, exact, visible, most }, each of the first two may be null;
// with `visible` only what is drawn, and hidden from nobody. Or { chosen, most }, places in what texts.js made, which
// is then given as `texts`. Answers an array: first, as JSON, { descriptions } or { invalid: why the selector is none },
// then the elements, at most `most`.
// Runs in an isolated world; `search` is what node_search.js makes.
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
