// Puts a function of the engine's program into one document, before the document's own scripts.
// Called in the main world with the function's name, the name of Chrome's binding (a function that takes one text to
// the engine), and the key under which the engine finds the other end; both are random and gone when it is undone.
(function (name, binding, key) {
  "use strict";

  const send = globalThis[binding];
  // Chrome has none here where the function was taken back meanwhile; and a document is told once.
  if (typeof send !== "function" || globalThis[key] !== undefined) return;
  delete globalThis[binding];

  const MOST = 1000;
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  const defineProperty = Object.defineProperty;
  const stringify = JSON.stringify;
  const calls = new Map();
  let last = 0;

  // Whether JSON holds it as it is. Anything else is asked for, and read by those who can.
  function isPlain(value) {
    if (typeof value === "number") return value <= 2 ** 53 && value >= -(2 ** 53) && (value !== 0 || 1 / value > 0);
    return typeof value === "string" || typeof value === "boolean" || value === null;
  }

  // The call as text: its number, and its arguments where they are plain.
  function written(number, args) {
    for (const value of args) if (!isPlain(value)) return number;
    return number + stringify(args);
  }

  const exposed = {
    [name](...args) {
      return new Promise((resolve, reject) => {
        if (calls.size >= MOST) {
          reject(new Error(`${name}: ${MOST} calls wait for their answer already`));
          return;
        }
        const number = String(++last);
        calls.set(number, { args, resolve, reject });
        send(written(number, args));
      });
    },
  }[name];

  function failure(type, message) {
    const error = new Error(message);
    defineProperty(error, "name", { value: type, configurable: true, writable: true });
    return error;
  }

  const port = {
    // The arguments of a call; kept until it is settled, because they can be asked for again.
    args(number) {
      const call = calls.get(number);
      if (call === undefined) throw failure("Error", `${name}: there is no such call`);
      return call.args;
    },
    resolve(number, value) {
      const call = calls.get(number);
      calls.delete(number);
      call?.resolve(value);
    },
    reject(number, type, message) {
      const call = calls.get(number);
      calls.delete(number);
      call?.reject(failure(type, message));
    },
    end() {
      delete globalThis[key];
      if (Object.getOwnPropertyDescriptor(globalThis, name)?.value === exposed) {
        if (before) defineProperty(globalThis, name, before);
        else delete globalThis[name];
      }
      for (const call of calls.values()) call.reject(failure("Error", `${name} is no longer exposed`));
      calls.clear();
    },
  };

  defineProperty(globalThis, key, { value: port, configurable: true });
  defineProperty(globalThis, name, { value: exposed, configurable: true, writable: true, enumerable: true });
  send("");
})
