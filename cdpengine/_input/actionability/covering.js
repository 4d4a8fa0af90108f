// Returns the element that would receive an event at a point of the document, or null. Called on a node in an
// isolated world, with the request of actionability.js, of which only the first point is used.
(function (request, tools) {
  "use strict";

  const [x, y] = tools.pointsOf(request)[0];
  return tools.elementAt(x, y);
})
