// Reads or writes the IndexedDB databases of this document's origin. Runs in a document of the engine, without
// scripts of the site. `written` is null to read, or a list of databases in the form that reading returns.
// Returns the databases as JSON, or {error} with the reason why one cannot be read or written.
//
// A value that JSON represents exactly is `value` or `key`. Others are `valueEncoded` or `keyEncoded`, as objects
// with one tag: v (undefined, null, NaN, ...), d (Date), bi (BigInt), r (RegExp), e (Error), a (Array), o (Object),
// ta (typed array), ab (ArrayBuffer), ref (an object with that id). Own tags: de (DOMException), box, m (Map),
// s (Set), b (Blob), f (File), fl (FileList), im (ImageData), g (geometry), view, sa (sparse array).
async (written) => {
  const KINDS = {
    i8: "Int8Array", ui8: "Uint8Array", ui8c: "Uint8ClampedArray", i16: "Int16Array", ui16: "Uint16Array",
    i32: "Int32Array", ui32: "Uint32Array", f16: "Float16Array", f32: "Float32Array", f64: "Float64Array",
    bi64: "BigInt64Array", bui64: "BigUint64Array", dv: "DataView",
  };
  const ERRORS = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
  const GEOMETRY = {
    DOMRect: "fromRect", DOMRectReadOnly: "fromRect", DOMPoint: "fromPoint", DOMPointReadOnly: "fromPoint",
    DOMQuad: "fromQuad", DOMMatrix: "fromMatrix", DOMMatrixReadOnly: "fromMatrix",
  };
  const SPECIAL = [NaN, Infinity, -Infinity, -0];
  const classOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  function toBase64(buffer) {
    const bytes = new Uint8Array(buffer);
    const pieces = [];
    for (let at = 0; at < bytes.length; at += 32768) {
      pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32768)));
    }
    return btoa(pieces.join(""));
  }

  const fromBase64 = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0)).buffer;

  // Whether JSON keeps the value, and no object occurs twice in it.
  function isPlain(value, seen = new Set()) {
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value === "string" || typeof value === "boolean") return true;
    if (value === null) return seen.size > 0;
    if (typeof value !== "object" || seen.has(value)) return false;
    seen.add(value);
    const keys = Object.keys(value);
    if (Array.isArray(value)) {
      const dense = keys.length === value.length && keys.every((key, at) => key === String(at));
      return dense && value.every((each) => isPlain(each, seen));
    }
    if (classOf(value) !== "Object" || keys.includes("__proto__")) return false;
    return keys.every((key) => isPlain(value[key], seen));
  }

  const blobs = [];
  function encodeBlob(blob, tag, parts) {
    const made = { ...parts, type: blob.type };
    blobs.push(blob.arrayBuffer().then((buffer) => (made.b = toBase64(buffer))));
    return { [tag]: made };
  }

  function encoder() {
    const ids = new Map();
    const properties = (value) => Object.keys(value).map((k) => ({ k, v: encode(value[k]) }));

    function encodeView(value, kind) {
      const k = Object.keys(KINDS).find((each) => KINDS[each] === kind);
      const whole = value.byteOffset === 0 && value.byteLength === value.buffer.byteLength;
      if (whole && k !== "dv" && !value.buffer.resizable) return { ta: { b: toBase64(value.buffer), k } };
      const length = kind === "DataView" ? value.byteLength : value.length;
      return { view: { k, buffer: encode(value.buffer), offset: value.byteOffset, length } };
    }

    function encodeObject(value) {
      const kind = classOf(value);
      if (Object.values(KINDS).includes(kind)) return encodeView(value, kind);
      if (kind in GEOMETRY) return { g: { n: kind, j: encode(value.toJSON()) } };
      switch (kind) {
        case "Date":
          return { d: Number.isNaN(value.getTime()) ? "invalid" : value.toISOString() };
        case "RegExp":
          return { r: { p: value.source, f: value.flags } };
        case "Boolean":
        case "Number":
        case "String":
        case "BigInt":
          return { box: encode(value.valueOf()) };
        case "Error": {
          const cause = "cause" in value ? { c: encode(value.cause) } : {};
          return { e: { n: value.name, m: value.message, s: String(value.stack ?? ""), ...cause } };
        }
        case "DOMException":
          return { de: { n: value.name, m: value.message } };
        case "ArrayBuffer":
          return { ab: { b: toBase64(value), ...(value.resizable ? { most: value.maxByteLength } : {}) } };
        case "Map":
          return { m: Array.from(value, ([key, each]) => [encode(key), encode(each)]) };
        case "Set":
          return { s: Array.from(value, encode) };
        case "Blob":
          return encodeBlob(value, "b", {});
        case "File":
          return encodeBlob(value, "f", { name: value.name, modified: value.lastModified });
        case "FileList":
          return { fl: Array.from(value, encode) };
        case "ImageData": {
          const { width, height, colorSpace } = value;
          return { im: { width, height, colorSpace, data: encode(value.data) } };
        }
        case "Array": {
          const keys = Object.keys(value);
          const dense = keys.length === value.length && keys.every((key, at) => key === String(at));
          return dense ? { a: value.map(encode) } : { sa: { n: value.length, p: properties(value) } };
        }
        case "Object":
          return { o: properties(value) };
        default:
          throw new Error(`a ${kind} has no form in JSON`);
      }
    }

    function encode(value) {
      if (value === undefined) return { v: "undefined" };
      if (value === null) return { v: "null" };
      if (typeof value === "bigint") return { bi: String(value) };
      if (typeof value === "number" && SPECIAL.some((each) => Object.is(each, value))) {
        return { v: Object.is(value, -0) ? "-0" : String(value) };
      }
      if (typeof value !== "object") return value;
      if (ids.has(value)) return { ref: ids.get(value) };
      const id = ids.size + 1;
      ids.set(value, id);
      return Object.assign(encodeObject(value), { id });
    }
    return encode;
  }

  function decoder() {
    const made = new Map();

    function decodeNew(coded, keep) {
      const set = (to, { k, v }) =>
        Object.defineProperty(to, k, { value: decode(v), writable: true, enumerable: true, configurable: true });
      if ("d" in coded) return keep(new Date(coded.d));
      if ("r" in coded) return keep(new RegExp(coded.r.p, coded.r.f));
      if ("u" in coded) return coded.u;
      if ("bi" in coded) return BigInt(coded.bi);
      if ("box" in coded) return keep(Object(decode(coded.box)));
      if ("e" in coded) {
        const constructor = globalThis[ERRORS.includes(coded.e.n) ? coded.e.n : "Error"];
        const error = keep(new constructor(coded.e.m));
        Object.defineProperty(error, "stack", { value: coded.e.s, writable: true, configurable: true });
        if ("c" in coded.e) {
          Object.defineProperty(error, "cause", { value: decode(coded.e.c), writable: true, configurable: true });
        }
        return error;
      }
      if ("de" in coded) return keep(new DOMException(coded.de.m, coded.de.n));
      if ("ab" in coded) {
        const bytes = fromBase64(coded.ab.b);
        if (!("most" in coded.ab)) return keep(bytes);
        const buffer = keep(new ArrayBuffer(bytes.byteLength, { maxByteLength: coded.ab.most }));
        new Uint8Array(buffer).set(new Uint8Array(bytes));
        return buffer;
      }
      if ("ta" in coded) return keep(new globalThis[KINDS[coded.ta.k]](fromBase64(coded.ta.b)));
      if ("view" in coded) {
        const { k, buffer, offset, length } = coded.view;
        return keep(new globalThis[KINDS[k]](decode(buffer), offset, length));
      }
      if ("g" in coded) return keep(globalThis[coded.g.n][GEOMETRY[coded.g.n]](decode(coded.g.j)));
      if ("m" in coded) {
        const map = keep(new Map());
        for (const [key, value] of coded.m) map.set(decode(key), decode(value));
        return map;
      }
      if ("s" in coded) {
        const set = keep(new Set());
        for (const value of coded.s) set.add(decode(value));
        return set;
      }
      if ("b" in coded) return keep(new Blob([fromBase64(coded.b.b)], { type: coded.b.type }));
      if ("f" in coded) {
        const { b, name, type, modified } = coded.f;
        return keep(new File([fromBase64(b)], name, { type, lastModified: modified }));
      }
      if ("fl" in coded) {
        const transfer = new DataTransfer();
        for (const file of coded.fl) transfer.items.add(decode(file));
        return keep(transfer.files);
      }
      if ("im" in coded) {
        const { width, height, colorSpace, data } = coded.im;
        return keep(new ImageData(decode(data), width, height, { colorSpace }));
      }
      if ("sa" in coded) {
        const array = keep(new Array(coded.sa.n));
        for (const each of coded.sa.p) set(array, each);
        return array;
      }
      if ("a" in coded) {
        const array = keep([]);
        for (const each of coded.a) array.push(decode(each));
        return array;
      }
      if ("o" in coded) {
        const object = keep({});
        for (const each of coded.o) set(object, each);
        return object;
      }
      throw new Error(`the tag ${Object.keys(coded)[0]} is unknown`);
    }

    function decode(coded) {
      if (typeof coded !== "object" || coded === null) return coded;
      if ("ref" in coded) return made.get(coded.ref);
      if ("v" in coded) {
        return { undefined: undefined, null: null, NaN, Infinity, "-Infinity": -Infinity, "-0": -0 }[coded.v];
      }
      return decodeNew(coded, (value) => {
        made.set(coded.id, value);
        return value;
      });
    }
    return decode;
  }

  const field = (name, value) => (isPlain(value) ? { [name]: value } : { [`${name}Encoded`]: encoder()(value) });
  const pathOf = (path) => (typeof path === "string" ? { keyPath: path } : Array.isArray(path) ? { keyPathArray: path } : {});
  const given = (record, name) => (record[name] !== undefined ? record[name] : decoder()(record[`${name}Encoded`]));

  async function read({ name, version }) {
    const database = await done(indexedDB.open(name, version));
    try {
      const names = Array.from(database.objectStoreNames);
      if (names.length === 0) return { name, version, stores: [] };
      const transaction = database.transaction(names, "readonly");
      const found = await Promise.all(names.map(async (each) => {
        const store = transaction.objectStore(each);
        const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
        return { store, keys, values };
      }));
      return {
        name,
        version,
        stores: found.map(({ store, keys, values }) => ({
          name: store.name,
          autoIncrement: store.autoIncrement,
          ...pathOf(store.keyPath),
          records: values.map((value, at) => {
            try {
              return { ...(store.keyPath === null ? field("key", keys[at]) : {}), ...field("value", value) };
            } catch (error) {
              throw new Error(`store ${JSON.stringify(store.name)} of database ${JSON.stringify(name)}: ${error.message}`);
            }
          }),
          indexes: Array.from(store.indexNames, (each) => {
            const index = store.index(each);
            const { multiEntry, unique } = index;
            return { name: each, ...pathOf(index.keyPath), multiEntry, unique };
          }),
        })),
      };
    } finally {
      database.close();
    }
  }

  async function write({ name, version, stores }) {
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = () => {
      for (const store of stores) {
        const path = store.keyPathArray ?? store.keyPath ?? null;
        const made = opening.result.createObjectStore(store.name, { keyPath: path, autoIncrement: !!store.autoIncrement });
        for (const index of store.indexes ?? []) {
          const { multiEntry, unique } = index;
          made.createIndex(index.name, index.keyPathArray ?? index.keyPath, { multiEntry, unique });
        }
      }
    };
    const database = await done(opening);
    try {
      if (stores.length === 0) return;
      const transaction = database.transaction(stores.map((each) => each.name), "readwrite");
      const complete = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
      });
      for (const { name: storeName, keyPath, keyPathArray, records } of stores) {
        const store = transaction.objectStore(storeName);
        const inline = (keyPathArray ?? keyPath ?? null) !== null;
        for (const record of records) {
          if (inline) store.add(given(record, "value"));
          else store.add(given(record, "value"), given(record, "key"));
        }
      }
      await complete;
    } finally {
      database.close();
    }
  }

  try {
    if (written === null) {
      const all = [];
      for (const each of await indexedDB.databases()) all.push(await read(each));
      await Promise.all(blobs);
      return JSON.stringify(all);
    }
    const present = new Set((await indexedDB.databases()).map(({ name }) => name));
    for (const { name } of written) {
      if (present.has(name)) throw new Error(`database ${JSON.stringify(name)} exists already`);
    }
    for (const each of written) await write(each);
    return "[]";
  } catch (error) {
    return JSON.stringify({ error: String(error?.message || error?.name || error) });
  }
}
