// Returns the indexes of some distinct nodes in page order. Runs in an isolated world: see finder.js.
(request, search, matching, nodes) => {
  const places = new Map(nodes.map((node, place) => [node, place]));
  return search.inOrder(nodes).map((node) => places.get(node));
}
