// Answers the places of some nodes, all different, in the order in which they stand on the page.
// Runs in an isolated world; `search` is what node_search.js makes.
(request, search, nodes) => {
  const places = new Map(nodes.map((node, place) => [node, place]));
  return search.inOrder(nodes).map((node) => places.get(node));
}
