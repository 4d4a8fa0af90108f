// Prepares a value for its way out of the page: an array whose first element is the kind of the rest.
//   "json", text             plain JSON data (also read through a Proxy), as its JSON text
//   "deep", value, details   any other value, to be serialized by V8; details: object, detail, object, detail, ...
//   "large" or "nested"      too many characters or levels: no value is sent
// Called on the value, in the value's own world, with { mayBeJSON, size, jsonLevels, deepLevels }. The page may have
// changed every built-in there, so V8 does the serialization, and details add only the data that V8 omits. Built-ins
// that misbehave are not used: the value is then sent without details. This script cannot detect whether JSON.stringify
// is V8's own: the caller checks that (see replies.py).
(function (request) {
  "use strict";

  const value = this;
  const own = builtins();
  if (own === null) return ["deep", value, []];
  const { isArray, prototypeOf, plainPrototype, isOwn, arrayType } = own;
  const LARGE = {};
  const NESTED = {};
  let room = request.size;

  // The built-ins that classify a value, or none if the page replaced one of them with a different behaviour.
  // Syntax cannot be replaced: literals, loops, `in`.
  function builtins() {
    try {
      const { isArray } = Array;
      const { getPrototypeOf } = Object;
      const plain = getPrototypeOf({});
      const isOwn = plain.hasOwnProperty;
      // The name of a typed array's class, also of a subclass; undefined for a DataView.
      const type = Object.getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
      const probe = { key: 1, nested: {} };
      const seen = new Set();
      const entries = new Map();
      seen.add(probe);
      entries.set(probe, seen);
      let found = 0;
      for (const [key, entry] of entries) found += key === probe && entry === seen ? 1 : 2;
      for (const entry of seen) found += entry === probe ? 1 : 2;
      for (const key of Object.keys(probe)) found += key in probe ? 1 : 9;
      const works =
        found === 4 && seen.has(probe) && !seen.has(probe.nested) &&
        isArray([]) === true && isArray({ length: 0 }) === false &&
        getPrototypeOf({ __proto__: probe }) === probe && getPrototypeOf({ __proto__: null }) === null &&
        getPrototypeOf([]) !== plain && getPrototypeOf(seen) !== plain &&
        isOwn.call(probe, "key") === true && isOwn.call({ __proto__: probe }, "key") === false &&
        plain.toString.call(/x/) === "[object RegExp]" && plain.toString.call(seen) === "[object Set]" &&
        type.call(new Uint8Array(1)) === "Uint8Array";
      return works ? { isArray, prototypeOf: getPrototypeOf, plainPrototype: plain, isOwn, arrayType: type } : null;
    } catch {
      return null;
    }
  }

  // Reserves the approximate size of a value in the reply; throws if it exceeds the limit.
  function take(characters) {
    room -= characters;
    if (room < 0) throw LARGE;
  }

  // Objects with a shape of their own, or with their own serialization, are not plain, and neither are objects
  // that cannot be inspected (a window of another origin).
  function looksPlain(object) {
    try {
      if (object.toJSON !== undefined) return false; // JSON.stringify would call it
      if (isArray(object)) return true;
      // A missing prototype proves nothing: a Date can lose its prototype. V8 knows the type.
      return prototypeOf(object) === plainPrototype && object[Symbol.toStringTag] === undefined;
    } catch {
      return false;
    }
  }

  // Whether JSON text represents the whole value. `above` is the chain of its containers: a cycle is not JSON.
  function isJSON(item, above, level) {
    switch (typeof item) {
      case "string":
        take(item.length + 3);
        return true;
      case "number":
        take(4);
        // Not NaN, not infinite, not above the exact range of JSON readers, not -0.
        return item <= 2 ** 53 && item >= -(2 ** 53) && (item !== 0 || 1 / item > 0);
      case "boolean":
        take(5);
        return true;
      case "object":
        break;
      default:
        return false;
    }
    if (item === null) {
      take(5);
      return true;
    }
    if (!looksPlain(item)) return false;
    for (let at = above; at; at = at.above) if (at.item === item) return false;
    if (level >= request.jsonLevels) throw NESTED;
    const here = { item, above };
    take(3);
    if (isArray(item)) {
      for (let index = 0; index < item.length; index++) {
        const element = item[index];
        // JSON.stringify writes undefined as null here; the receiver treats both as None.
        if (element === undefined) take(5);
        else if (!isJSON(element, here, level + 1)) return false;
      }
      return true;
    }
    for (const key in item) {
      take(key.length + 4);
      if (!isJSON(item[key], here, level + 1)) return false;
    }
    return true;
  }

  function written() {
    try {
      return JSON.stringify(value);
    } catch {
      return undefined; // JSON.stringify is not V8's own
    }
  }

  function text(thing) {
    const string = typeof thing === "string" ? thing : "";
    take(string.length);
    return string;
  }

  function className(object) {
    for (let at = prototypeOf(object); at; at = prototypeOf(at)) {
      if (isOwn.call(at, "constructor") && typeof at.constructor === "function") return text(at.constructor.name);
    }
    return "";
  }

  // The name of an error; a class that extends Error without a name uses the class's name.
  function errorName(error) {
    const name = text(error.name);
    return name === "Error" ? className(error) || name : name;
  }

  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function base64(bytes) {
    const length = bytes.length;
    take(length * 1.4);
    let encoded = "";
    for (let index = 0; index < length; index += 3) {
      const three = (bytes[index] << 16) | (bytes[index + 1] << 8) | bytes[index + 2];
      encoded += ALPHABET[three >> 18] + ALPHABET[(three >> 12) & 63];
      encoded += index + 1 < length ? ALPHABET[(three >> 6) & 63] : "=";
      encoded += index + 2 < length ? ALPHABET[three & 63] : "=";
    }
    return encoded;
  }

  // The own enumerable properties with primitive values.
  function primitives(object) {
    const found = { __proto__: null };
    for (const key of Object.keys(object)) {
      const property = object[key];
      if ((typeof property !== "object" && typeof property !== "function") || property === null) {
        take(key.length + (typeof property === "string" ? property.length : 8) + 40);
        found[key] = property;
      }
    }
    return found;
  }

  // The data of an object that V8's serialization omits, or undefined.
  function describe(object, brand) {
    if (typeof object === "function") return ["function", text(object.name)];
    if (ArrayBuffer.isView(object)) {
      const bytes = new Uint8Array(object.buffer, object.byteOffset, object.byteLength);
      return ["bytes", text(arrayType.call(object)), base64(bytes)];
    }
    switch (brand) {
      case "[object Map]":
      case "[object Set]":
      case "[object Date]":
      case "[object RegExp]":
        return undefined;
      case "[object ArrayBuffer]":
      case "[object SharedArrayBuffer]":
        return ["bytes", "", base64(new Uint8Array(object))];
      case "[object Error]":
      case "[object DOMException]":
        return ["error", errorName(object), text(object.message), text(object.stack)];
      case "[object Number]":
      case "[object String]":
      case "[object Boolean]":
      case "[object BigInt]":
        return ["primitive", object.valueOf()];
    }
    const tag = text(object[Symbol.toStringTag]);
    if (tag === "") {
      // A plain object, perhaps of another realm, or an instance of a class of the page.
      const name = className(object);
      return name === "" || name === "Object" ? undefined : ["object", name];
    }
    const isOfPage = object.toJSON === plainPrototype.toJSON; // or both are missing
    if (typeof object.toJSON !== "function" || isOfPage) return ["object", tag, primitives(object)];
    const json = object.toJSON();
    if (typeof json === "string") return ["text", tag, text(json)];
    return ["object", tag, primitives(typeof json === "object" && json !== null ? json : object)];
  }

  function add(details, item, detail) {
    details[details.length] = item;
    details[details.length] = detail;
  }

  // Walks in V8's order and collects details. A getter that throws fails the script.
  function gather(item, seen, details, level) {
    take(45);
    if (typeof item === "string") take(item.length);
    if (typeof item === "symbol" && !seen.has(item)) {
      seen.add(item);
      add(details, item, ["symbol", text(item.description)]);
    }
    if ((typeof item !== "object" && typeof item !== "function") || item === null || seen.has(item)) return;
    seen.add(item);
    if (level >= request.deepLevels) throw NESTED;
    if (isArray(item)) {
      for (let index = 0; index < item.length; index++) gather(item[index], seen, details, level + 1);
      return;
    }
    let brand = "";
    try {
      if (typeof item.nodeType === "number" || item.window === item) return;
      brand = plainPrototype.toString.call(item);
      const detail = describe(item, brand);
      if (detail) {
        take(100);
        add(details, item, detail);
      }
    } catch (error) {
      // For an object that cannot be described, V8's serialization must do.
      if (error === LARGE) throw error;
    }
    if (brand === "[object Map]") {
      for (const [key, entry] of item) {
        gather(key, seen, details, level + 1);
        gather(entry, seen, details, level + 1);
      }
    } else if (brand === "[object Set]") {
      for (const entry of item) gather(entry, seen, details, level + 1);
    } else if (brand === "[object Object]") {
      for (const key of Object.keys(item)) {
        take(key.length);
        gather(item[key], seen, details, level + 1);
      }
    }
  }

  try {
    if (request.mayBeJSON && isJSON(value, null, 0)) {
      const json = written();
      if (typeof json === "string") return ["json", json];
    }
    room = request.size;
    const details = [];
    gather(value, new Set(), details, 0);
    return ["deep", value, details];
  } catch (error) {
    if (error === LARGE) return ["large"];
    if (error === NESTED) return ["nested"];
    throw error;
  }
})
