// Returns the visible text of each node as displayed, with white space collapsed; null for a node without visible
// text. Runs in an isolated world; `search` is the result of node_search.js.
(request, search, nodes) => {
  const { text, places } = search.visibleText(true);
  const texts = new Map(places.map((place) => [place.element, text.slice(place.start, place.end).trim()]));
  return nodes.map((node) => texts.get(node) ?? null);
}
