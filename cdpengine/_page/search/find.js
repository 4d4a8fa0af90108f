// Finds the elements of this document that match a query of matching.js. The request is { query, visible, most,
// last }. With `visible`, only elements that are drawn and not hidden. Returns an array: first a JSON string,
// { descriptions } or { invalid, selector } for an invalid selector, then the elements: the first ones, or with
// `last` the last ones, at most `most`. Runs in an isolated world.
(request, search, matching) => {
  let found;
  try {
    found = matching.evaluate(request.query);
  } catch (error) {
    if (error.selector === undefined) throw error;
    return [JSON.stringify({ invalid: String(error.message), selector: error.selector })];
  }
  if (request.visible) {
    found = found.filter((at) => search.isVisible(at) && DOM.closest(at, "[aria-hidden=true], [inert]") === null);
  }
  const kept = request.last ? found.slice(-request.most) : found.slice(0, request.most);
  return [JSON.stringify({ descriptions: kept.map(search.describe) }), ...kept];
}
