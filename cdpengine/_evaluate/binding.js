// Installs a function of the engine's program in one document, before the document's own scripts. Called in the
// main world with the function's name, the name of Chrome's binding (a function that sends one string to the
// engine), and the key under which the engine finds the other end. The binding and the key are random, and removed
// at the end. The page may replace every built-in before a late document gets this script, or afterwards. So the
// calls use only syntax: `async` and `await` for promises, objects without a prototype instead of maps, and loops
// by index.
(function (name, binding, key) {
  "use strict";

  const send = globalThis[binding];
  // The binding is missing if the function was removed meanwhile. Each document is set up once.
  if (typeof send !== "function" || globalThis[key] !== undefined) return;
  delete globalThis[binding];

  const MOST = 1000;
  const ESCAPES = { __proto__: null, '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const { getOwnPropertyDescriptor: descriptorOf, defineProperty } = Object;
  const before = descriptorOf(globalThis, name);
  const { Error } = globalThis;
  const calls = { __proto__: null };
  let waiting = 0;
  let last = 0;

  // Whether JSON represents the value exactly. The engine asks for other values separately.
  function isPlain(value) {
    if (typeof value === "number") return value <= 2 ** 53 && value >= -(2 ** 53) && (value !== 0 || 1 / value > 0);
    return typeof value === "string" || typeof value === "boolean" || value === null;
  }

  const isEscaped = (character) => character < " " || character === '"' || character === "\\";

  // A string as JSON; undefined if it contains rare control characters.
  function quoted(text) {
    let clean = true;
    for (let at = 0; clean && at < text.length; at++) clean = !isEscaped(text[at]);
    if (clean) return `"${text}"`;
    let escaped = "";
    for (let at = 0; at < text.length; at++) {
      const character = text[at];
      const written = isEscaped(character) ? ESCAPES[character] : character;
      if (written === undefined) return undefined;
      escaped += written;
    }
    return `"${escaped}"`;
  }

  // The call as a string: its number, and its arguments if they are plain.
  function written(number, args) {
    let list = "";
    for (let at = 0; at < args.length; at++) {
      const value = args[at];
      const text = !isPlain(value) ? undefined : typeof value === "string" ? quoted(value) : `${value}`;
      if (text === undefined) return number;
      list += (at ? "," : "") + text;
    }
    return `${number}[${list}]`;
  }

  const exposed = {
    async [name](...args) {
      if (waiting >= MOST) throw new Error(`${name}: ${MOST} calls wait for their answer already`);
      const number = `${++last}`;
      const call = { __proto__: null, args, resolve: undefined, reject: undefined };
      calls[number] = call;
      waiting++;
      send(written(number, args));
      // The functions are set before any answer, because an answer is a separate task.
      return (await { then: (resolve, reject) => ((call.resolve = resolve), (call.reject = reject)) }).value;
    },
  }[name];

  function settled(number) {
    const call = calls[number];
    if (call === undefined) return undefined;
    delete calls[number];
    waiting--;
    return call;
  }

  function failure(type, message) {
    const error = new Error(message);
    defineProperty(error, "name", { value: type, configurable: true, writable: true });
    return error;
  }

  const port = {
    // The arguments of a call. They are kept until the call is settled, because the engine can ask for them again.
    args(number) {
      const call = calls[number];
      if (call === undefined) throw failure("Error", `${name}: the call does not exist`);
      return call.args;
    },
    resolve(number, value) {
      settled(number)?.resolve({ __proto__: null, value });
    },
    reject(number, type, message) {
      settled(number)?.reject(failure(type, message));
    },
    end() {
      delete globalThis[key];
      if (descriptorOf(globalThis, name)?.value === exposed) {
        if (before) defineProperty(globalThis, name, before);
        else delete globalThis[name];
      }
      for (const number in calls) settled(number).reject(failure("Error", `${name} is no longer exposed`));
    },
  };

  defineProperty(globalThis, key, { value: port, configurable: true });
  defineProperty(globalThis, name, { value: exposed, configurable: true, writable: true, enumerable: true });
  send("");
})
