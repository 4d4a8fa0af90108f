// Makes the strings that patterns search. The request is { css }, which may be null. Returns an object. `elements`
// has all elements of the document, or those of the selector. `index` is { text, elements: [start, end, after],
// invalid }: the visible text, and for each element the range of its text and the index after its last descendant.
// Runs in an isolated world; `search` is the result of node_search.js.
(request, search) => {
  let among = null;
  if (request.css !== null) {
    try {
      among = new Set(search.select(request.css));
    } catch (error) {
      return { elements: [], index: { invalid: String(error.message) } };
    }
  }
  const { text, places } = search.visibleText(true);
  const kept = among === null ? places : places.filter((place) => among.has(place.element));
  return {
    elements: kept.map((place) => place.element),
    index: { text, elements: kept.map((place) => [place.start, place.end, place.after]), invalid: "" },
  };
}
