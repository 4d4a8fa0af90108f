// Resolves after two animation frames to the node's position, or null if it moved in between. Called on the node
// in an isolated world.
(function () {
  "use strict";

  const FRAME_LIMIT_MS = 100; // used instead of frames where the page gets none (a throttled page)

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
