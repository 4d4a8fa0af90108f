// Answers the places of some nodes, all different, in the order in which they stand on the page.
// Runs in an isolated world; `looking` is what looking.js makes.
(request, looking, nodes) => {
  const places = new Map(nodes.map((node, place) => [node, place]));
  return looking.inOrder(nodes).map((node) => places.get(node));
}
