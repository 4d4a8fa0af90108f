// Returns the places where a node without a suitable box can be pressed, as [[x, y, width, height], ...] in
// fractions of the document's viewport:
//   of an <area>, the box of its shape; the image is scrolled into view;
//   of a label, its text and content, without the links, buttons and fields in it;
//   of a node without a size, its visible content.
// Called on a node in an isolated world, with its tools. Null for all other nodes; [] if no such place exists.
(function (request, tools) {
  "use strict";

  const MOST = 24;
  const MOST_TEXTS = 200;
  const LEAST = 2; // minimum side, in CSS pixels

  const { element, imageOf, areaRect, takers, innerRects, hasArea } = tools;

  const fractions = (boxes) =>
    boxes.map(({ x, y, width, height }) => [x / innerWidth, y / innerHeight, width / innerWidth, height / innerHeight]);

  // The parts of the boxes outside of the hole.
  function without(boxes, hole) {
    return boxes.flatMap((box) => {
      const apart =
        hole.right <= box.left || hole.left >= box.right || hole.bottom <= box.top || hole.top >= box.bottom;
      if (apart) return [box];
      const [top, bottom] = [Math.max(box.top, hole.top), Math.min(box.bottom, hole.bottom)];
      return [
        new DOMRect(box.left, box.top, box.width, top - box.top),
        new DOMRect(box.left, bottom, box.width, box.bottom - bottom),
        new DOMRect(box.left, top, hole.left - box.left, bottom - top),
        new DOMRect(hole.right, top, box.right - hole.right, bottom - top),
      ].filter((part) => part.width >= LEAST && part.height >= LEAST);
    });
  }

  function freePlaces(taking) {
    const boxes = [];
    const inTaking = (at) => taking.some((each) => each === at || DOM.contains(each, at));
    const walker = DOM.createTreeWalker(document, element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let steps = 0; steps < MOST_TEXTS && walker.nextNode(); steps++) {
      const at = walker.currentNode;
      if (inTaking(at)) continue;
      if (DOM.nodeType(at) === Node.ELEMENT_NODE) {
        if (at !== element.control && DOM.checkVisibility(at, { visibilityProperty: true })) boxes.push(...DOM.getClientRects(at));
      } else if (/\S/.test(at.data) && DOM.checkVisibility(DOM.parentElement(at), { visibilityProperty: true })) {
        const range = DOM.createRange(document);
        range.selectNodeContents(at);
        boxes.push(...range.getClientRects());
      }
    }
    boxes.push(...DOM.getClientRects(element));
    const holes = taking.flatMap((each) => Array.from(DOM.getClientRects(each)));
    return holes.reduce(without, boxes.filter(hasArea)).slice(0, MOST);
  }

  const image = imageOf(element);
  if (image) {
    DOM.scrollIntoView(image, { block: "nearest", inline: "nearest", behavior: "instant" });
    return fractions([areaRect(element)]);
  }
  const taking = takers();
  if (taking.length) return fractions(freePlaces(taking));
  if (DOM.nodeType(this) !== Node.ELEMENT_NODE || Array.from(DOM.getClientRects(element)).some(hasArea)) return null;
  const inner = innerRects();
  const inView = (box) => box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  if (inner.length && !inner.some(inView)) {
    const first = Array.from(DOM.children(element)).find((each) => Array.from(DOM.getClientRects(each)).some(hasArea));
    if (first) DOM.scrollIntoView(first, { block: "center", inline: "nearest", behavior: "instant" });
    return fractions(innerRects());
  }
  return inner.length ? fractions(inner.slice(0, MOST)) : null;
})
