// Reads a property of an element in the page's own world, and waits for its change. Returns an object:
//   now()        { found, json }: the property as JSON; not found if it is undefined or has no JSON
//   next(known)  a promise that resolves when the JSON differs from `known`, or after stop()
//   stop()       ends the wait
// The page may have replaced Promise: `async` and `await` use V8's own.
(element, path) => {
  const LOOK_MS = 50;
  let stopped = false;
  let stopNow = () => {};

  const now = () => {
    try {
      let value = element;
      for (const name of path) value = value === null || value === undefined ? undefined : value[name];
      const json = JSON.stringify(value);
      return { found: json !== undefined, json: json ?? "" };
    } catch {
      return { found: false, json: "" }; // a cycle, or a getter that throws
    }
  };

  return {
    now,
    next: async (known) =>
      await {
        then(resolve) {
          stopNow = resolve;
          const look = () => {
            if (stopped || now().json !== known) resolve();
            else setTimeout(look, LOOK_MS);
          };
          look();
        },
      },
    stop: () => {
      stopped = true;
      stopNow();
    },
  };
}
