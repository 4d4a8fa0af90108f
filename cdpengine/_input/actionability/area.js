// Brings the image of an <area> into view, and returns where the area's shape is: [x, y, width, height] as fractions
// of the document's viewport. Null for everything else. Called on a node in an isolated world, with its tools.
(function (request, tools) {
  "use strict";

  const image = tools.imageOf(tools.element);
  if (!image) return null;
  image.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const { x, y, width, height } = tools.areaRect(tools.element);
  return [x / innerWidth, y / innerHeight, width / innerWidth, height / innerHeight];
})
