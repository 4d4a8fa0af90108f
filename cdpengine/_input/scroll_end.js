// Resolves when nothing in the document has scrolled for three animation frames. Called in an isolated world.
(function () {
  "use strict";

  const STILL_FRAMES = 3;
  const FRAME_LIMIT_MS = 100; // used instead of frames where the page gets none (a throttled page)

  return new Promise((resolve) => {
    let still = 0;
    let moved = false;
    const note = () => (moved = true);
    DOM.addEventListener(document, "scroll", note, { capture: true, passive: true });
    function look() {
      still = moved ? 0 : still + 1;
      moved = false;
      if (still <= STILL_FRAMES) return next();
      DOM.removeEventListener(document, "scroll", note, { capture: true });
      return resolve(true);
    }
    function next() {
      let done = false;
      const once = () => {
        if (!done) look();
        done = true;
      };
      requestAnimationFrame(once);
      setTimeout(once, FRAME_LIMIT_MS);
    }
    next();
  });
})
