// Returns the indexes of some distinct nodes in page order. Runs in an isolated world; `search` is the result of
// node_search.js.
(request, search, nodes) => {
  const places = new Map(nodes.map((node, place) => [node, place]));
  return search.inOrder(nodes).map((node) => places.get(node));
}
