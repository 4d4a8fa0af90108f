// Runs functions that may change the page once each, however often they are asked for. Called once in each world.
// Chrome's terminations hit all scripts of a renderer process: they end a function in the middle, and promises never
// settle whose continuation was hit. So what was asked is asked again, under the same number. A function that had not
// begun to change anything is run anew. Of one that had, the answer is given again; where it ended without one, that
// cannot be known, and an error says so.
(function () {
  "use strict";

  const CUT_OFF = "cut off by a termination";
  const MOST = 50; // functions that are remembered
  const GRACE_MS = 1000; // a promise that is not settled by then was hit, or waits for the page
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
      const over = (tell) => (result) => {
        clearTimeout(timer);
        tell(result);
      };
      value.then(over(resolve), over(reject));
    });
  }

  // `act` is called with a function that calls the one that it is given, which changes the page, and returns its result. It
  // throws where `act` has been asked for again since.
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
