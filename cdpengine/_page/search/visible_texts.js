// Returns the visible text of each node as displayed, with white space collapsed; null for a node without visible
// text. Runs in an isolated world: see finder.js.
(request, search, matching, nodes) => {
  const { text, places } = search.visibleText(true);
  const texts = new Map(places.map((place) => [place.element, text.slice(place.start, place.end).trim()]));
  return nodes.map((node) => texts.get(node) ?? null);
}
