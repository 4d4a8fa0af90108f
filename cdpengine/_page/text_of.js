// Answers the visible text of each of some nodes, white space collapsed, as it is shown; null for what shows none.
// Runs in an isolated world; `search` is what node_search.js makes.
(request, search, nodes) => {
  const { text, places } = search.visibleText(true);
  const texts = new Map(places.map((place) => [place.element, text.slice(place.start, place.end).trim()]));
  return nodes.map((node) => texts.get(node) ?? null);
}
