// Resolves, after two animation frames, to where the node is; null where it moved meanwhile. Called on it in an isolated
// world.
(function () {
  "use strict";

  const FRAME_LIMIT_MS = 100; // where frames do not come (a throttled page), time takes their place

  function place() {
    const { x, y } = DOM.nodeType(this) === Node.ELEMENT_NODE ? DOM.getBoundingClientRect(this) : { x: 0, y: 0 };
    return x + " " + y;
  }

  function nextFrame() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, FRAME_LIMIT_MS);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  const before = place.call(this);
  return nextFrame()
    .then(nextFrame)
    .then(() => (before === place.call(this) ? before : null));
})
