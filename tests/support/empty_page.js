// Empties a document and removes the traces of scripts. Returns whether the document is as good as new.
//
// It is not if a script set a timer (timer ids count up: `timer` is the next one), grew the history, replaced a common
// native function, or adopted a style sheet. Variables of `var` and `function` and new properties of `window` and
// `document` are deleted: they follow the window's native `names`, and a document has only `location`. Variables of
// `let`, `const` and `class` cannot be deleted; the protocol reports them. Without arguments, returns the arguments of
// the next call.
((origin, names, length, timer) => {
  const native = Function.prototype.toString;
  const replaced = (place) =>
    Object.values(Object.getOwnPropertyDescriptors(place))
      .flatMap((property) => [property.value, property.get, property.set])
      .some((value) => typeof value === "function" && !native.call(value).endsWith("{ [native code] }"));
  const own = Object.getOwnPropertyNames(window).filter((name) => !/^\d+$/.test(name));
  const next = setTimeout(() => {}, 0);
  if (names === undefined) return [performance.timeOrigin, own.length, history.length, next + 1];
  for (const name of own.slice(names)) {
    if (!delete window[name]) window[name] = undefined;
  }
  const kinds = [Object, Array, Function, Promise, EventTarget, Event, Node, Document, Element, HTMLElement, HTMLInputElement];
  const places = [window, document, navigator, console, JSON, Math, ...kinds, ...kinds.map((kind) => kind.prototype)];
  const same = performance.timeOrigin === origin && history.length === length && next === timer;
  if (!same || document.adoptedStyleSheets.length || places.some(replaced)) return null;
  document.open();
  document.write('<link rel=icon href="data:,">');
  document.close();
  for (const key of Reflect.ownKeys(document)) {
    if (key !== "location" && !Reflect.deleteProperty(document, key)) return null;
  }
  return [origin, Object.getOwnPropertyNames(window).length, length, next + 1];
})
