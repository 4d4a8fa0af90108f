// Empties a document and takes back what scripts left in it; answers whether it is as good as a new one.
//
// It is not where a timer was set (the ids of timers count up: `timer` is the next one), the history has grown, a
// function that scripts call often is no longer the browser's own, or a sheet was adopted. What scripts declared with
// `var` and `function`, and what they put into `window` and `document`, is taken out: it comes after the window's own
// `names`, and a document has but `location`. What `let`, `const` and `class` declared cannot be; the protocol says of
// it. Without arguments: what to give the next time.
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
