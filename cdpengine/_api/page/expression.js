// Waits until `look`, the user's own condition, gives a value that is true. Runs in the page's own world, whose
// names the condition uses. Answers an object: next() is a promise of { holds, seen } that comes when it is true
// or after stop(); now() is a promise of the same, of this moment. What `look` throws counts as "not yet".
// The page may have replaced Promise and String: `async`, `await` and templates use V8's own.
(look) => {
  const LOOK_MS = 100; // where animation frames do not come
  let stopped = false;
  let stopNow = () => {};
  let seen = "it was never evaluated";

  const told = (value) => {
    try {
      return `${value}`;
    } catch {
      return typeof value;
    }
  };

  const now = async () => {
    try {
      const value = await look();
      seen = "it was " + told(value);
      return { holds: !!value, seen };
    } catch (error) {
      seen = "it threw " + told(error);
      return { holds: false, seen };
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
    return { holds: false, seen };
  };

  return {
    now,
    next: async () =>
      await {
        then(resolve) {
          stopNow = () => resolve({ holds: false, seen });
          (async () => resolve(await loop()))();
        },
      },
    stop: () => {
      stopped = true;
      stopNow();
    },
  };
}
