// Waits until `look`, the user's condition, returns a true value. Runs in the main world, because the condition
// uses its names. Returns an object. next() is a promise of { holds, observed } that resolves when the value is true,
// or after stop(). now() is a promise of the current { holds, observed }. An exception of `look` counts as false. The
// page may have replaced Promise and String: `async`, `await` and templates use V8's own.
(look) => {
  const LOOK_MS = 100; // if animation frames do not arrive
  let stopped = false;
  let stopNow = () => {};
  let observed = "it was never evaluated";

  const asString = (value) => {
    try {
      return `${value}`;
    } catch {
      return typeof value;
    }
  };

  const now = async () => {
    try {
      const value = await look();
      observed = "it was " + asString(value);
      return { holds: !!value, observed };
    } catch (error) {
      observed = "it threw " + asString(error);
      return { holds: false, observed };
    }
  };

  const frame = async () =>
    await {
      then(resolve) {
        const timer = setTimeout(resolve, LOOK_MS);
        requestAnimationFrame(() => {
          clearTimeout(timer);
          resolve();
        });
      },
    };

  const loop = async () => {
    while (!stopped) {
      const answer = await now();
      if (answer.holds) return answer;
      await frame();
    }
    return { holds: false, observed };
  };

  return {
    now,
    next: async () =>
      await {
        then(resolve) {
          stopNow = () => resolve({ holds: false, observed });
          (async () => resolve(await loop()))();
        },
      },
    stop: () => {
      stopped = true;
      stopNow();
    },
  };
}
