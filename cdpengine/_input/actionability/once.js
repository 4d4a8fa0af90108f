// Runs functions that may change the page at most once each, even if a call is repeated. Called once per world.
// Chrome's termination of scripts hits all scripts of a renderer process. It ends a function midway, and
// promises whose continuation was hit never settle. The engine then repeats the call with the same number. A
// function that had changed nothing yet runs again. If it had, its result is returned again. Without a result
// the outcome is unknown, and an error is thrown.
(function () {
  "use strict";

  const CUT_OFF = "cut off by a termination";
  const MOST = 50; // maximum number of remembered functions
  const GRACE_MS = 1000; // a promise still pending after this time was terminated, or waits for the page
  const runs = new Map();

  function cutOff() {
    throw new Error(CUT_OFF);
  }

  function again(run) {
    if (!run.changed) cutOff();
    const { value } = run;
    if (!(value instanceof Promise)) return value;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(CUT_OFF)), GRACE_MS);
      const over = (settle) => (result) => {
        clearTimeout(timer);
        settle(result);
      };
      value.then(over(resolve), over(reject));
    });
  }

  // Calls `act` with a function `change(make)`, which runs `make`, the part that changes the page, and returns
  // its result. `change` throws if a newer call with the same number has started.
  return function (number, act) {
    const before = runs.get(number);
    if (before && before.begun) return again(before);
    const run = { begun: false, changed: false, value: undefined };
    runs.delete(number);
    runs.set(number, run);
    if (runs.size > MOST) runs.delete(runs.keys().next().value);
    const change = (make) => {
      if (runs.get(number) !== run) cutOff();
      run.begun = true;
      const made = make();
      run.changed = true;
      return made;
    };
    run.value = act(change);
    return run.value;
  };
})
