// Creates functions that show whether a page acts later than in its event handlers, by a timer or before a frame,
// as libraries for masks place their caret. All worlds of a document number their timers together, and their frame
// requests. So a number that the engine did not take belongs to the page. Called once per world.
(function () {
  "use strict";

  const FRAME_LIMIT_MS = 100; // used instead of frames where the page gets none (a throttled page)
  const LATE_MS = 12; // libraries move the caret up to 10 ms after a key; timers run in the order of their time
  const nothing = () => {};

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  function nextFrame() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, FRAME_LIMIT_MS);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  // The latest numbers in the document.
  function mark() {
    const timer = setTimeout(nothing, 0);
    clearTimeout(timer);
    const frame = requestAnimationFrame(nothing);
    cancelAnimationFrame(frame);
    return { timer, frame };
  }

  const isNext = (one, other) => other.timer === one.timer + 1 && other.frame === one.frame + 1;

  // Resolves to whether the page has scheduled something since a mark, at its focus handlers for example. It then
  // had three frames to insert its blanks and to place the caret. `since` is the latest mark.
  async function settle(since) {
    await pause(0); // handlers that await something continue meanwhile
    return isNext({ timer: since.timer + 1, frame: since.frame }, mark()) ? false : threeFrames();
  }

  async function threeFrames() {
    for (let frames = 0; frames < 3; frames++) await nextFrame();
    return true;
  }

  // Follows a text field that just got the focus. `since` is a mark from before. Returns two functions. `focused`
  // does as `settle`, before any key. `typed` is called after each key and resolves when the next key can be sent:
  // as soon as the page has scheduled nothing, or when that had time to run. A page that changes nothing at one
  // key may still do so at the next: its timer may set the caret to where it was at its key.
  function follow(field, since) {
    const { value } = field;
    const begun = mark();
    let last = begun;

    async function focused() {
      const scheduled = await (isNext(since, begun) ? settle(begun) : threeFrames());
      last = mark();
      return scheduled || field.value !== value;
    }

    async function typed() {
      const [before, now] = [last, mark()];
      last = now;
      if (isNext(before, now)) return;
      await pause(LATE_MS);
      if (now.frame !== before.frame + 1) await nextFrame();
      last = mark();
    }

    return { focused, typed };
  }

  return { mark, settle, follow };
})
