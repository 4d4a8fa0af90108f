// Replaces WebSocket in one document or worker, before its own scripts. Called in the main world with the name of
// Chrome's binding (a function that sends one string to the engine), the key under which the engine finds the other
// end, and the globs of the routed URLs (null: the engine decides on every URL). A websocket whose URL no glob covers
// is a real one. The page can replace every built-in later, so this keeps those that it needs.
(function (binding, key, globs) {
  "use strict";

  const known = globalThis[key];
  if (known !== undefined) {
    known.cover(globs);
    return;
  }
  const notify = globalThis[binding];
  const Real = globalThis.WebSocket;
  // The binding is missing if the routes ended meanwhile.
  if (typeof notify !== "function" || typeof Real !== "function") return;
  delete globalThis[binding];

  const { ArrayBuffer, Blob, CloseEvent, DOMException, Event, EventTarget, MessageEvent, String, TypeError } = globalThis;
  const { URL, Uint8Array, setTimeout } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor: descriptorOf, getPrototypeOf, setPrototypeOf } = Object;
  const { apply, construct } = Reflect;
  const { isView } = ArrayBuffer;
  const { addEventListener: listen, removeEventListener: unlisten, dispatchEvent } = EventTarget.prototype;
  const { arrayBuffer } = Blob.prototype;
  const { toWellFormed } = String.prototype;
  const { round } = Math;
  const { appendChild } = globalThis.Node?.prototype ?? {};
  const { createElement } = globalThis.Document?.prototype ?? {};
  const { remove } = globalThis.Element?.prototype ?? {};
  const windowOf = descriptorOf(globalThis.HTMLIFrameElement?.prototype ?? {}, "contentWindow")?.get;
  const isPersisted = descriptorOf(globalThis.PageTransitionEvent?.prototype ?? {}, "persisted")?.get;
  const CONNECTING = 0;
  const OPEN = 1;
  const CLOSING = 2;
  const CLOSED = 3;
  const before = descriptorOf(globalThis, "WebSocket");
  const real = { __proto__: null };
  for (const name of ["url", "readyState", "bufferedAmount", "extensions", "protocol", "binaryType"]) {
    real[name] = descriptorOf(Real.prototype, name);
  }
  for (const name of ["onopen", "onmessage", "onerror", "onclose"]) real[name] = descriptorOf(Real.prototype, name);
  const { send: sendReal, close: closeReal } = Real.prototype;

  // Time in milliseconds for the engine to answer a question, and the number of unanswered ones that mean its end.
  const PATIENCE = 3000;
  const MOST_UNANSWERED = 10;

  const sockets = { __proto__: null };
  const servers = { __proto__: null };
  let last = 0;
  let active = true;
  let asking = false;
  let unanswered = 0;

  // Adds the state to a routed websocket, invisibly for the page.
  class Same {
    constructor(object) {
      return object;
    }
  }
  class Routed extends Same {
    #state;
    constructor(object, state) {
      super(object);
      this.#state = state;
    }
    static state(object) {
      return typeof object === "object" && object !== null && #state in object ? object.#state : undefined;
    }
  }
  const stateOf = Routed.state;

  // --- URLs, protocols, bytes

  // Whether a glob, in which only "*" is special, matches the whole URL.
  function matches(glob, url) {
    let at = 0;
    let star = -1;
    let retry = 0;
    let position = 0;
    while (position < url.length) {
      if (at < glob.length && glob[at] === "*") {
        star = at++;
        retry = position;
      } else if (at < glob.length && glob[at] === url[position]) {
        at++;
        position++;
      } else if (star >= 0) {
        at = star + 1;
        position = ++retry;
      } else return false;
    }
    while (at < glob.length && glob[at] === "*") at++;
    return at === glob.length;
  }

  function covers(url) {
    for (let i = 0; i < globs.length; i++) if (globs[i] === null || matches(globs[i], url)) return true;
    return false;
  }

  // The absolute URL of a websocket; undefined if the real class refuses it.
  function resolved(given) {
    try {
      const url = new URL(given, globalThis.document?.baseURI ?? globalThis.location.href);
      if (url.hash) return undefined;
      if (url.protocol === "http:" || url.protocol === "https:") url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
      return url.protocol === "ws:" || url.protocol === "wss:" ? url : undefined;
    } catch {
      return undefined;
    }
  }

  const SEPARATORS = '()<>@,;:\\"/[]?={} \t';

  // Whether the real class accepts the protocols: tokens, each once.
  function areProtocols(list) {
    const seen = { __proto__: null };
    for (let i = 0; i < list.length; i++) {
      const name = list[i];
      if (name === "" || seen[name]) return false;
      seen[name] = true;
      for (let at = 0; at < name.length; at++) {
        if (name[at] <= " " || name[at] >= "\u007f") return false;
        for (let i = 0; i < SEPARATORS.length; i++) if (SEPARATORS[i] === name[at]) return false;
      }
    }
    return true;
  }

  function joined(list) {
    let text = "";
    for (let i = 0; i < list.length; i++) text += (i ? "," : "") + list[i];
    return text;
  }

  // Bytes of a well-formed string in UTF-8.
  function size(text) {
    let bytes = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text[at];
      bytes += unit < "\u0080" ? 1 : unit < "\u0800" || (unit >= "\ud800" && unit <= "\udfff") ? 2 : 3;
    }
    return bytes;
  }

  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function encoded(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += 3) {
      const first = bytes[at];
      const second = bytes[at + 1];
      const third = bytes[at + 2];
      text += DIGITS[first >> 2] + DIGITS[((first & 3) << 4) | ((second ?? 0) >> 4)];
      text += second === undefined ? "=" : DIGITS[((second & 15) << 2) | ((third ?? 0) >> 6)];
      text += third === undefined ? "=" : DIGITS[third & 63];
    }
    return text;
  }

  const VALUES = { __proto__: null };
  for (let at = 0; at < 64; at++) VALUES[DIGITS[at]] = at;

  function decoded(text) {
    const padding = text[text.length - 2] === "=" ? 2 : text[text.length - 1] === "=" ? 1 : 0;
    const bytes = new Uint8Array((text.length / 4) * 3 - padding);
    for (let at = 0, to = 0; at < text.length; at += 4) {
      const bits =
        (VALUES[text[at]] << 18) |
        (VALUES[text[at + 1]] << 12) |
        ((VALUES[text[at + 2]] ?? 0) << 6) |
        (VALUES[text[at + 3]] ?? 0);
      bytes[to++] = bits >> 16;
      bytes[to++] = bits >> 8;
      bytes[to++] = bits;
    }
    return bytes;
  }

  // --- states and events

  function tell(operation, state, rest) {
    notify(`${operation}${state.id}\n${rest}`);
    ask();
  }

  // --- the end of the engine's connection, which Chrome does not report: nobody answers, and nothing closes

  // Asks the engine for an answer, and again while a websocket waits for it.
  function ask() {
    if (asking || !active) return;
    asking = true;
    unanswered++;
    notify("p");
    setTimeout(judge, PATIENCE);
  }

  function judge() {
    asking = false;
    if (!active) return;
    if (unanswered > 0 && (isGone() ?? unanswered >= MOST_UNANSWERED)) {
      abandon();
      return;
    }
    let waits = unanswered > 0;
    for (const id in sockets) waits ||= sockets[id].status === CONNECTING && !sockets[id].passing;
    if (waits) ask();
  }

  // Whether Chrome has forgotten the engine's script: then a new frame lacks it. Undefined where none can be made.
  function isGone() {
    try {
      const frame = apply(createElement, globalThis.document, ["iframe"]);
      apply(appendChild, globalThis.document.documentElement, [frame]);
      try {
        return apply(windowOf, frame, [])[key] === undefined;
      } finally {
        apply(remove, frame, []);
      }
    } catch {
      return undefined;
    }
  }

  // Websockets that wait for the engine connect to their servers, and the others fail.
  function abandon() {
    restore();
    for (const id in servers) closeServer(servers[id], 1000, "");
    for (const id in sockets) {
      const state = sockets[id];
      if (state.status === CONNECTING && state.real === undefined) passOn(state);
      else if (!state.passing) closed(state, 1006, "", false);
    }
  }

  function restore() {
    active = false;
    delete globalThis[key];
    if (descriptorOf(globalThis, "WebSocket")?.value === replacement) defineProperty(globalThis, "WebSocket", before);
  }

  function fire(state, event) {
    apply(dispatchEvent, state.object, [event]);
  }

  function opened(state, protocol) {
    if (state.status !== CONNECTING) return;
    state.status = OPEN;
    state.protocol = protocol;
    fire(state, new Event("open"));
  }

  function received(state, data) {
    if (state.status === OPEN) fire(state, new MessageEvent("message", { data, origin: state.origin }));
  }

  function closed(state, code, reason, wasClean) {
    if (state.status === CLOSED) return;
    state.status = CLOSED;
    delete sockets[state.id];
    if (!wasClean) fire(state, new Event("error"));
    fire(state, new CloseEvent("close", { code, reason, wasClean }));
  }

  function onEvent(socket, type, listener) {
    apply(listen, socket, [type, listener]);
  }

  // The real websocket behind a routed one.
  function connected(state) {
    if (state.real === undefined) state.real = construct(Real, [state.url, state.protocols]);
    return state.real;
  }

  // --- the sent messages, in order, although the bytes of a Blob are read later

  function transmit(state, kind, content) {
    if (state.passing) apply(sendReal, state.real, [kind === "t" ? content : content.buffer]);
    else tell("s", state, kind + (kind === "t" ? content : encoded(content)));
  }

  async function inTurn(state, before, operate) {
    try {
      await before;
    } catch {
      // The page's Blob could not be read.
    }
    try {
      await operate();
    } finally {
      state.unsent--;
    }
  }

  function afterEarlier(state, operate) {
    if (state.unsent === 0) {
      operate();
      return;
    }
    state.unsent++;
    state.turn = inTurn(state, state.turn, operate);
  }

  function write(state, data) {
    let bytes = 0;
    if (data instanceof Blob) {
      bytes = data.size;
      state.unsent++;
      state.turn = inTurn(state, state.turn, async () => {
        const content = new Uint8Array(await apply(arrayBuffer, data, []));
        if (state.status !== CLOSED) transmit(state, "b", content);
      });
    } else if (data instanceof ArrayBuffer || isView(data)) {
      const view = isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
      const content = new Uint8Array(view);
      bytes = content.length;
      afterEarlier(state, () => transmit(state, "b", content));
    } else {
      const text = apply(toWellFormed, String(data), []);
      bytes = size(text);
      afterEarlier(state, () => transmit(state, "t", text));
    }
    state.buffered += bytes;
    setTimeout(() => (state.buffered -= bytes), 0);
  }

  // --- the class of the page

  function fails(method, problem) {
    return `Failed to execute '${method}' on 'WebSocket': ${problem}`;
  }

  // An `unsigned short`, clamped.
  function clamped(value) {
    const number = +value;
    return number > 65535 ? 65535 : number > 0 ? round(number) : 0;
  }

  function checkClosing(code, reason) {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      const problem = `The close code must be either 1000, or between 3000 and 4999. ${code} is neither.`;
      throw new DOMException(fails("close", problem), "InvalidAccessError");
    }
    if (reason !== undefined && size(reason) > 123) {
      throw new DOMException(fails("close", "The close reason must not be greater than 123 UTF-8 bytes."), "SyntaxError");
    }
  }

  const prototype = {
    __proto__: Real.prototype,
    send(data) {
      const state = stateOf(this);
      if (state === undefined) return apply(sendReal, this, arguments);
      if (arguments.length === 0) throw new TypeError(fails("send", "1 argument required, but only 0 present."));
      if (state.status === CONNECTING && !state.passing) {
        throw new DOMException(fails("send", "Still in CONNECTING state."), "InvalidStateError");
      }
      if (state.passing) return apply(sendReal, state.real, arguments);
      if (state.status === OPEN) write(state, data);
      else state.buffered += typeof data === "string" ? size(data) : (data?.byteLength ?? data?.size ?? 0);
      return undefined;
    },
    close() {
      const state = stateOf(this);
      if (state === undefined) return apply(closeReal, this, arguments);
      const code = arguments[0] === undefined ? undefined : clamped(arguments[0]);
      const reason = arguments[1] === undefined ? undefined : apply(toWellFormed, String(arguments[1]), []);
      checkClosing(code, reason);
      if (state.passing) return apply(closeReal, state.real, arguments);
      if (state.status === CONNECTING) {
        state.status = CLOSING;
        tell("c", state, "1006\n");
        setTimeout(() => closed(state, 1006, "", false), 0);
      } else if (state.status === OPEN) {
        state.status = CLOSING;
        afterEarlier(state, () => tell("c", state, `${code ?? 1005}\n${reason ?? ""}`));
      }
      return undefined;
    },
  };

  const values = {
    __proto__: null,
    url: (state) => state.url,
    readyState: (state) => state.status,
    bufferedAmount: (state) => state.buffered,
    extensions: () => "",
    protocol: (state) => state.protocol,
    binaryType: (state) => state.binaryType,
  };

  function defineAccessor(name, get, set) {
    const native = real[name];
    const made = {
      get [name]() {
        const state = stateOf(this);
        return state === undefined ? apply(native.get, this, []) : get(state);
      },
      set [name](value) {
        const state = stateOf(this);
        if (state === undefined) apply(native.set, this, [value]);
        else set(state, value);
      },
    };
    const { get: getter, set: setter } = descriptorOf(made, name);
    const accessors = { get: getter, set: native.set === undefined ? undefined : setter };
    defineProperty(prototype, name, { ...accessors, configurable: true, enumerable: true });
  }

  for (const name in values) {
    const own = values[name];
    const ofReal = name !== "url" && name !== "binaryType";
    defineAccessor(
      name,
      (state) => (state.passing && ofReal ? apply(real[name].get, state.real, []) : own(state)),
      (state, value) => {
        if (value !== "blob" && value !== "arraybuffer") return;
        state.binaryType = value;
        if (state.passing) apply(real.binaryType.set, state.real, [value]);
      },
    );
  }

  for (const type of ["open", "message", "error", "close"]) {
    const name = `on${type}`;
    defineAccessor(
      name,
      (state) => state.handlers[type] ?? null,
      (state, value) => {
        const handler = typeof value === "function" || (typeof value === "object" && value !== null) ? value : null;
        const listener = state.listeners[type];
        state.handlers[type] = handler;
        if (handler !== null && listener === undefined) {
          state.listeners[type] = (event) => {
            const current = state.handlers[type];
            if (typeof current === "function") apply(current, state.object, [event]);
          };
          onEvent(state.object, type, state.listeners[type]);
        } else if (handler === null && listener !== undefined) {
          apply(unlisten, state.object, [type, listener]);
          delete state.listeners[type];
        }
      },
    );
  }

  const replacement = function WebSocket(url) {
    if (new.target === undefined) return Real(url); // it throws
    const address = arguments.length === 0 || !active ? undefined : resolved(url);
    if (address === undefined || !covers(address.href)) return construct(Real, arguments, new.target);
    const given = arguments[1];
    const isList = typeof given === "object" && given !== null;
    const protocols = given === undefined ? [] : isList ? [...given] : [given];
    for (let i = 0; i < protocols.length; i++) protocols[i] = String(protocols[i]);
    if (!areProtocols(protocols)) return construct(Real, [url, protocols], new.target);
    const object = construct(EventTarget, [], new.target);
    const state = {
      id: `${++last}`,
      object,
      url: address.href,
      origin: address.origin,
      protocols,
      protocol: "",
      status: CONNECTING,
      binaryType: "blob",
      buffered: 0,
      handlers: { __proto__: null },
      listeners: { __proto__: null },
      real: undefined,
      passing: false,
      unsent: 0,
      turn: undefined,
    };
    new Routed(object, state);
    sockets[state.id] = state;
    tell("o", state, `${state.url}\n${joined(protocols)}`);
    return object;
  };
  setPrototypeOf(replacement, getPrototypeOf(Real));
  defineProperty(replacement, "prototype", { value: prototype, writable: false });
  defineProperty(prototype, "constructor", { value: replacement, configurable: true, writable: true });
  // Websockets that the page made before are instances too.
  defineProperty(replacement, Symbol.hasInstance, { value: (object) => object instanceof Real });
  for (const name of ["CONNECTING", "OPEN", "CLOSING", "CLOSED"]) {
    defineProperty(replacement, name, descriptorOf(Real, name));
  }

  // --- the operations of the engine

  function passOn(state) {
    const socket = connected(state);
    apply(real.binaryType.set, socket, [state.binaryType]);
    state.passing = true;
    onEvent(socket, "open", () => {
      state.status = OPEN;
      fire(state, new Event("open"));
    });
    onEvent(socket, "message", ({ data, origin }) => fire(state, new MessageEvent("message", { data, origin })));
    onEvent(socket, "error", () => fire(state, new Event("error")));
    onEvent(socket, "close", ({ code, reason, wasClean }) => {
      state.status = CLOSED;
      delete sockets[state.id];
      fire(state, new CloseEvent("close", { code, reason, wasClean }));
    });
  }

  function connect(state) {
    const socket = connected(state);
    servers[state.id] = state;
    apply(real.binaryType.set, socket, ["arraybuffer"]);
    onEvent(socket, "open", () => tell("O", state, apply(real.protocol.get, socket, [])));
    onEvent(socket, "message", ({ data }) => {
      tell("S", state, typeof data === "string" ? `t${data}` : `b${encoded(new Uint8Array(data))}`);
    });
    onEvent(socket, "close", ({ code, reason, wasClean }) => {
      delete servers[state.id];
      tell("C", state, `${code}\n${wasClean ? 1 : 0}${reason}`);
    });
  }

  function closeServer(state, code, reason) {
    const allowed = code === 1000 || (code >= 3000 && code <= 4999);
    apply(closeReal, state.real, allowed ? [code, reason] : []);
  }

  const port = {
    cover(list) {
      globs = list;
    },
    open(id, protocol) {
      if (id in sockets) opened(sockets[id], protocol);
    },
    text(id, data) {
      if (id in sockets) received(sockets[id], data);
    },
    bytes(id, data) {
      const state = sockets[id];
      if (state === undefined) return;
      const { buffer } = decoded(data);
      received(state, state.binaryType === "blob" ? new Blob([buffer]) : buffer);
    },
    close(id, code, reason) {
      if (id in sockets) closed(sockets[id], code, reason, true);
    },
    fail(id) {
      if (id in sockets) closed(sockets[id], 1006, "", false);
    },
    pass(id) {
      if (id in sockets && sockets[id].status === CONNECTING) passOn(sockets[id]);
    },
    connect(id) {
      if (id in sockets) connect(sockets[id]);
    },
    serverText(id, data) {
      if (id in servers) apply(sendReal, servers[id].real, [data]);
    },
    serverBytes(id, data) {
      if (id in servers) apply(sendReal, servers[id].real, [decoded(data).buffer]);
    },
    serverClose(id, code, reason) {
      if (id in servers) closeServer(servers[id], code, reason);
    },
    alive() {
      unanswered = 0;
    },
    end() {
      restore();
      for (const id in servers) closeServer(servers[id], 1000, "");
      for (const id in sockets) if (!sockets[id].passing) closed(sockets[id], 1001, "the route has ended", true);
    },
  };

  // The engine ended the websockets of a document that enters the back/forward cache, as Chrome ends real ones.
  function noteShown(event) {
    if (!event.isTrusted || !apply(isPersisted, event, [])) return;
    setTimeout(() => {
      for (const id in sockets) if (!sockets[id].passing) closed(sockets[id], 1006, "", false);
    }, 0);
  }
  if (isPersisted !== undefined) apply(listen, globalThis, ["pageshow", noteShown]);

  defineProperty(globalThis, key, { value: port, configurable: true });
  defineProperty(globalThis, "WebSocket", { value: replacement, configurable: true, writable: true, enumerable: false });
  notify("");
})
