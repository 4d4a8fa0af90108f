// Makes what patterns are searched in: request { css }, which may be null. Answers an object: `elements`, all of the
// document or those of the selector, and `seen`, { text, elements: [start, end, after], invalid }: the visible text,
// where in it each element's stands, and the place behind the last element in it.
// Runs in an isolated world; `search` is what node_search.js makes.
(request, search) => {
  let among = null;
  if (request.css !== null) {
    try {
      among = new Set(search.select(request.css));
    } catch (error) {
      return { elements: [], seen: { invalid: String(error.message) } };
    }
  }
  const { text, places } = search.visibleText(true);
  const kept = among === null ? places : places.filter((place) => among.has(place.element));
  return {
    elements: kept.map((place) => place.element),
    seen: { text, elements: kept.map((place) => [place.start, place.end, place.after]), invalid: "" },
  };
}
