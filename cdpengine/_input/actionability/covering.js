// Returns the element that would receive an event at a point of the document, null when there is none.
// Called on a node in an isolated world, with the same request as actionability.js; only the first point counts.
(function (request, tools) {
  "use strict";

  const [x, y] = tools.pointsOf(request)[0];
  return tools.elementAt(x, y);
})
