// Replaces the clock of one document: dates, timers, animation frames, idle callbacks and `performance`. Called in
// the main world, before the document's own scripts, with the state of the clock and the key under which the engine
// finds the control object and sends events. A second call in a document does nothing. The page may replace every built-in
// afterwards, so the code uses captured functions and syntax only. While the clock runs and was never moved, the
// browser's own timers drive the page, so their order and delays are the real ones. `end` restores all names.
(function (state, key) {
  "use strict";

  if (globalThis[key] !== undefined) return;

  const { apply, construct } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor: descriptorOf } = Object;
  const { Date, Event, Intl, MessageChannel, Proxy, Temporal, performance, WeakMap } = globalThis;
  const { setTimeout, clearTimeout, setInterval, clearInterval, reportError } = globalThis;
  const { requestAnimationFrame, cancelAnimationFrame, requestIdleCallback, cancelIdleCallback } = globalThis;
  const { floor, max, min } = Math;
  const realDate = Date.now;
  const dateText = Date.prototype.toString;
  const realNow = performance.now;
  const { get: weakGet, set: weakSet } = WeakMap.prototype;
  const { postMessage, close, start } = globalThis.MessagePort.prototype;
  const { addEventListener: listen, removeEventListener: ignore } = globalThis.EventTarget.prototype;
  const evaluate = globalThis.eval;

  const FRAME = 16;
  const NESTED = 5;
  const NESTED_DELAY = 4;
  const IDLE = 50;

  // --- time, in milliseconds: `elapsed` since this call -----------------------------------------------------

  const real = () => apply(realNow, performance, []);
  const startOfPerformance = globalThis.document.body === null && state.paused ? 0 : real();

  let installed = true;
  let running = !state.paused;
  let anchor = real();
  let moved = 0;
  let fixed = state.fixed;
  let system = state.clock + (running ? realDate() - state.real : 0);
  const origin = system - startOfPerformance;

  const elapsed = () => (running ? moved + real() - anchor : moved);
  const systemNow = () => system + elapsed();
  const date = () => floor(fixed ?? systemNow());
  const performanceNow = () => startOfPerformance + elapsed();
  // A moment on the real clock of `performance`, on the page's clock.
  const shifted = (moment) => (running ? moment - anchor + moved + startOfPerformance : performanceNow());

  // --- entries: timers, animation frames and idle callbacks --------------------------------------------------

  const entries = { __proto__: null };
  let last = 0;
  let level = 0;

  function add(kind, id, entry) {
    entry.kind = kind;
    entry.id = id;
    entry.order = ++last;
    entries[kind + id] = entry;
    return id;
  }

  function remove(kind, id) {
    const entry = entries[kind + id];
    if (entry === undefined) return;
    delete entries[kind + id];
    disarm(entry);
  }

  // Gives an entry a second timer of the browser, because its first one no longer fits the page's clock.
  function arm(entry) {
    disarm(entry);
    entry.alone = true;
    const due = () => {
      entry.second = undefined;
      if (running) run(entry);
    };
    if (entry.kind === "frame") {
      requestAnimationFrame((moment) => {
        frameStart = moment;
        if (running && entries[entry.kind + entry.id] === entry) run(entry);
      });
    } else entry.second = setTimeout(due, max(0, entry.due - elapsed()));
  }

  function disarm(entry) {
    if (entry.second !== undefined) clearTimeout(entry.second);
    entry.second = undefined;
  }

  // Runs an entry that is due. Its exception is the browser's to report, unless the caller catches it.
  function run(entry) {
    if (entry.repeats) {
      if (entry.level++ > NESTED) entry.wait = max(entry.wait, NESTED_DELAY);
      entry.due += entry.wait;
      if (entry.due <= elapsed()) entry.due = elapsed() + entry.wait;
      entry.order = ++last;
      if (entry.alone && running) arm(entry);
    } else remove(entry.kind, entry.id);
    level = entry.level ?? 0;
    try {
      entry.call();
    } finally {
      if (!moving) level = 0;
    }
  }

  // The browser's own timer of an entry fired. `otherwise` is its effect after the end of this clock.
  function fired(entry, otherwise) {
    const known = entries[entry.kind + entry.id] === entry;
    entry.spent = true;
    if (!installed) {
      if (known) otherwise();
    } else if (known && running && !entry.alone) run(entry);
  }

  function timer(native, args, repeats) {
    let callback = args[0];
    const given = [];
    for (let at = 2; at < args.length; at++) given[at - 2] = args[at];
    if (typeof callback !== "function" && typeof callback !== "object") callback = `${callback}`;
    let wait = max(args[1] | 0, 0);
    const nesting = level + 1;
    if (level > NESTED && wait < NESTED_DELAY) wait = NESTED_DELAY;
    const call = () => (typeof callback === "function" ? apply(callback, globalThis, given) : evaluate(callback));
    const entry = { __proto__: null, call, due: elapsed() + wait, wait, repeats, level: nesting, spent: false, alone: false };
    const otherwise = () => {
      if (!repeats) delete entries["timer" + entry.id];
      call();
    };
    return add("timer", native(() => fired(entry, otherwise), wait), entry);
  }

  function frame(native, callback) {
    if (typeof callback !== "function") return native(callback);
    const entry = { __proto__: null, spent: false, alone: false };
    entry.due = (floor(performanceNow() / FRAME) + 1) * FRAME - startOfPerformance;
    entry.call = (moment) => callback(moment === undefined ? (moving ? performanceNow() : frameMoment()) : moment);
    return add("frame", native((moment) => {
      frameStart = moment;
      fired(entry, () => (delete entries["frame" + entry.id], callback(moment)));
    }), entry);
  }

  // All callbacks of one frame get the same moment.
  let frameStart = 0;
  const frameMoment = () => shifted(max(frameStart, anchor));

  function idle(native, callback, options) {
    if (typeof callback !== "function") return native(callback, options);
    const entry = { __proto__: null, spent: false, alone: false, due: elapsed() + min(options?.timeout || IDLE, IDLE) };
    const whole = { didTimeout: false, timeRemaining: () => IDLE };
    entry.call = (deadline) => callback(deadline ?? whole);
    return add("idle", native((deadline) => {
      fired(entry, () => (delete entries["idle" + entry.id], callback(deadline)));
    }, options), entry);
  }

  // --- moving the clock --------------------------------------------------------------------------------------

  let moving = false;
  let continues = false;

  function pause() {
    moved = elapsed();
    running = false;
    for (const name in entries) {
      disarm(entries[name]);
      entries[name].alone = true;
    }
  }

  function resume() {
    anchor = real();
    frameStart = anchor;
    running = true;
    for (const name in entries) arm(entries[name]);
  }

  function earliest(until) {
    let found;
    for (const name in entries) {
      const entry = entries[name];
      if (entry.due > until) continue;
      if (found === undefined || entry.due < found.due || (entry.due === found.due && entry.order < found.order)) found = entry;
    }
    return found;
  }

  // Waits for a task of the browser, after all promises that are settled now.
  function task() {
    const { port1, port2 } = new MessageChannel();
    return {
      __proto__: null,
      then(resolve) {
        const done = () => {
          apply(close, port1, []);
          resolve();
        };
        apply(listen, port1, ["message", done]);
        apply(start, port1, []);
        apply(postMessage, port2, [null]);
      },
    };
  }

  // Moves the clock to a moment, and runs the entries that are due: one after the other, each at its time, or each
  // once at the end with `jumps`.
  async function move(until, jumps, runsOn) {
    pause();
    moving = true;
    continues = runsOn;
    try {
      if (jumps) moved = max(moved, until);
      let entry;
      while ((entry = earliest(until)) !== undefined) {
        moved = max(moved, entry.due);
        try {
          run(entry);
        } catch (error) {
          reportError(error);
        }
        await task();
        level = 0;
      }
      moved = max(moved, until);
    } finally {
      stop();
    }
  }

  // Ends a move. The engine calls it too, after it terminated one.
  function stop() {
    moving = false;
    level = 0;
    if (continues && installed) resume();
    continues = false;
  }

  const control = {
    __proto__: null,
    state: () => ({ clock: systemNow(), real: realDate(), paused: !running, fixed }),
    async run(milliseconds) {
      await move(elapsed() + milliseconds, false, running);
      return control.state();
    },
    async jump(milliseconds) {
      await move(elapsed() + milliseconds, true, running);
      return control.state();
    },
    async pause(moment) {
      const ahead = moment - systemNow();
      if (ahead < 0) return { past: systemNow() };
      fixed = null;
      await move(elapsed() + ahead, true, false);
      return control.state();
    },
    // Follows the clock of another document of the page, which has moved to `other`.
    async follow({ jumps, other }) {
      const moment = other.clock + (other.paused ? 0 : realDate() - other.real);
      const ahead = moment - systemNow();
      if (ahead > 0) await move(elapsed() + ahead, jumps, !other.paused);
      else if (other.paused && running) pause();
      else if (!other.paused && !running) resume();
      fixed = other.fixed;
      system = moment - elapsed();
    },
    resume() {
      fixed = null;
      if (!running) resume();
      return control.state();
    },
    fix(moment) {
      fixed = moment;
      return control.state();
    },
    set(moment) {
      fixed = null;
      system = moment - elapsed();
      return control.state();
    },
  };

  // --- the page's names --------------------------------------------------------------------------------------

  const restorations = [];

  function replace(owner, name, change) {
    const before = owner && descriptorOf(owner, name);
    if (before === undefined || !before.configurable) return;
    const after = change(before);
    defineProperty(owner, name, after);
    restorations[restorations.length] = () => {
      const now = descriptorOf(owner, name);
      // A name that the page has replaced since then is the page's.
      if (now !== undefined && now.value === after.value && now.get === after.get) defineProperty(owner, name, before);
    };
  }

  // A function in the place of a native one, with its name, length and string.
  const instead = (native, act) =>
    new Proxy(native, {
      __proto__: null,
      apply: (_target, self, args) => (installed ? act(self, args) : apply(native, self, args)),
    });

  const method = (owner, name, act) =>
    replace(owner, name, (before) => ({
      ...before,
      value: instead(before.value, (self, args) => act(args, self, before.value)),
    }));
  const getter = (owner, name, act) =>
    replace(owner, name, (before) => ({ ...before, get: instead(before.get, (self) => act(self, before.get)) }));

  method(globalThis, "setTimeout", (args) => timer(setTimeout, args, false));
  method(globalThis, "setInterval", (args) => timer(setInterval, args, true));
  const clear = (native) => (args) => {
    remove("timer", args[0] | 0);
    native(args[0]);
  };
  method(globalThis, "clearTimeout", clear(clearTimeout));
  method(globalThis, "clearInterval", clear(clearInterval));
  method(globalThis, "requestAnimationFrame", (args) => frame(requestAnimationFrame, args[0]));
  method(globalThis, "cancelAnimationFrame", (args) => {
    remove("frame", args[0] >>> 0);
    cancelAnimationFrame(args[0]);
  });
  method(globalThis, "requestIdleCallback", (args) => idle(requestIdleCallback, args[0], args[1]));
  method(globalThis, "cancelIdleCallback", (args) => {
    remove("idle", args[0] >>> 0);
    cancelIdleCallback(args[0]);
  });

  const performances = globalThis.Performance.prototype;
  method(performances, "now", (args, self, native) => (apply(native, self, args), performanceNow()));
  getter(performances, "timeOrigin", (self, native) => (apply(native, self, []), origin));
  const stamps = new WeakMap();
  getter(Event.prototype, "timeStamp", (self, native) => {
    const stamp = apply(native, self, []);
    let known = apply(weakGet, stamps, [self]);
    if (known === undefined) {
      known = max(0, min(shifted(stamp), performanceNow()));
      apply(weakSet, stamps, [self, known]);
    }
    return known;
  });

  const PageDate = new Proxy(Date, {
    __proto__: null,
    apply: (target, self, args) =>
      installed ? apply(dateText, construct(target, [date()]), []) : apply(target, self, args),
    construct: (target, args, made) =>
      construct(target, installed && args.length === 0 ? [date()] : args, made === PageDate ? target : made),
  });
  method(Date, "now", date);
  replace(Date.prototype, "constructor", (before) => ({ ...before, value: PageDate }));
  replace(globalThis, "Date", (before) => ({ ...before, value: PageDate }));

  const formats = Intl.DateTimeFormat.prototype;
  const bound = new WeakMap();
  getter(formats, "format", (self, native) => {
    const format = apply(native, self, []);
    let known = apply(weakGet, bound, [format]);
    if (known === undefined) {
      known = instead(format, (_self, args) => format(args[0] === undefined ? date() : args[0]));
      apply(weakSet, bound, [format, known]);
    }
    return known;
  });
  method(formats, "formatToParts", (args, self, native) =>
    apply(native, self, [args[0] === undefined ? date() : args[0]]),
  );

  if (Temporal) {
    const { Now, Instant, ZonedDateTime } = Temporal;
    const { timeZoneId } = Now;
    const { fromEpochMilliseconds } = Instant;
    const { toZonedDateTimeISO } = Instant.prototype;
    const instant = () => apply(fromEpochMilliseconds, Instant, [date()]);
    const zoned = (zone) => apply(toZonedDateTimeISO, instant(), [zone === undefined ? apply(timeZoneId, Now, []) : zone]);
    method(Now, "instant", instant);
    method(Now, "zonedDateTimeISO", (args) => zoned(args[0]));
    for (const part of ["plainDateTime", "plainDate", "plainTime"]) {
      const convert = ZonedDateTime.prototype[`toP${part.slice(1)}`];
      method(Now, `${part}ISO`, (args) => apply(convert, zoned(args[0]), []));
    }
  }

  // --- the end -----------------------------------------------------------------------------------------------

  // Restores the document. Waiting timers go on with the browser's clock.
  function end() {
    if (!installed) return;
    moved = elapsed();
    installed = false;
    running = false;
    for (let at = restorations.length - 1; at >= 0; at--) restorations[at]();
    delete globalThis[key];
    apply(ignore, globalThis, [key, end]);
    apply(ignore, globalThis, [`${key} stop`, stop]);
    apply(ignore, globalThis, ["pagehide", hidden]);
    for (const name in entries) {
      const entry = entries[name];
      disarm(entry);
      if (!entry.spent || entry.repeats) continue; // the browser's own timer is still to come
      delete entries[name];
      if (entry.kind === "frame") requestAnimationFrame(entry.call);
      else if (entry.kind === "idle") requestIdleCallback(entry.call);
      else setTimeout(entry.call, max(0, entry.due - moved));
    }
  }

  // A document in the back/forward cache is out of the engine's reach, so it is left without this clock.
  function hidden(event) {
    if (event.persisted) end();
  }

  defineProperty(globalThis, key, { value: control, configurable: true });
  apply(listen, globalThis, [key, end]); // events of the engine's world, whose names no page knows
  apply(listen, globalThis, [`${key} stop`, stop]);
  apply(listen, globalThis, ["pagehide", hidden]);
})
