// Puts a function of the engine's program into one document, before the document's own scripts.
// Called in the main world with the function's name, the name of Chrome's binding (a function that takes one text to
// the engine), and the key under which the engine finds the other end; both are random and gone when it is undone.
// The page may replace every built-in, before a late document gets this or afterwards. So what is used later is syntax:
// `async` and `await` for promises, objects without a prototype in the place of maps, and loops by index.
(function (name, binding, key) {
  "use strict";

  const send = globalThis[binding];
  // Chrome has none here where the function was taken back meanwhile; and a document is told once.
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

  // Whether JSON holds it as it is. Anything else is asked for, and read by those who can.
  function isPlain(value) {
    if (typeof value === "number") return value <= 2 ** 53 && value >= -(2 ** 53) && (value !== 0 || 1 / value > 0);
    return typeof value === "string" || typeof value === "boolean" || value === null;
  }

  const isEscaped = (character) => character < " " || character === '"' || character === "\\";

  // A text as JSON; undefined where it holds control characters that few texts have.
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

  // The call as text: its number, and its arguments where they are plain.
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
      // The functions come before any answer: an answer is a task of its own.
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
    // The arguments of a call; kept until it is settled, because they can be asked for again.
    args(number) {
      const call = calls[number];
      if (call === undefined) throw failure("Error", `${name}: there is no such call`);
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
