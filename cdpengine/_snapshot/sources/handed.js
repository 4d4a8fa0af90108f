// Returns the elements that a page's framework hands presses to, though they listen to none themselves.
//
// The framework listens further out, and finds who is meant by what it keeps at the elements: React its props, jQuery
// (from 3 on) its delegated events, Solid and Svelte (from 5 on) their handlers. None of that can be seen from another
// world, so this runs in the page's own, called on the document. It changes nothing and calls no function of the
// page's. A page without a sign of these is not gone through, and nothing is returned of it. Otherwise the document
// comes first, and then at most `most` elements.
(function (most) {
  "use strict";

  const TYPES = ["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"];
  // For `onClick` React gives the element a listener of its own, too.
  const PROPS = ["onClickCapture"];
  for (const name of ["DoubleClick", "MouseDown", "MouseUp", "PointerDown", "PointerUp", "TouchStart", "TouchEnd"]) {
    PROPS.push(`on${name}`, `on${name}Capture`);
  }
  const MOST_SEARCHED = 300; // elements that are searched for a sign

  // Not through `DOM`, which would leave a global in the page's own world.
  const owner = (root) =>
    root instanceof Document ? Document.prototype : root instanceof ShadowRoot ? ShadowRoot.prototype : Element.prototype;
  const select = (root, selector) => owner(root).querySelectorAll.call(root, selector);
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get;

  const found = new Set();
  let signs = false;
  const first = [this, ...Array.prototype.slice.call(select(this, "*"), 0, MOST_SEARCHED)];
  const elements = [];

  // All of the document and of its open shadow trees.
  function everything() {
    const trees = elements.length ? [] : [this];
    for (let i = 0; i < trees.length; i++) {
      for (const at of select(trees[i], "*")) {
        elements.push(at);
        const root = shadowOf.call(at);
        if (root !== null) trees.push(root);
      }
    }
    return elements;
  }

  // The first own key of any of these that the pattern matches; undefined for none.
  function keyLike(objects, pattern) {
    for (const each of objects) {
      const key = Object.keys(each).find((name) => pattern.test(name));
      if (key !== undefined) return key;
    }
    return undefined;
  }

  // What a property holds; a getter is the page's own function, and is not called.
  const held = (object, key) => Object.getOwnPropertyDescriptor(object, key)?.value;
  const isObject = (value) => typeof value === "object" && value !== null; // jQuery's have no prototype
  const handles = (at, key) => typeof held(at, key) === "function" || Array.isArray(held(at, key));

  if (keyLike(first, /^_reactListening|^_reactRootContainer$|^__react(?:Container|Props|EventHandlers)\$/)) {
    signs = true;
    const key = keyLike(everything.call(this), /^__react(?:Props|EventHandlers)\$/);
    for (const at of key === undefined ? [] : elements) {
      const props = held(at, key);
      if (!isObject(props) || typeof held(props, "onClick") === "function") continue;
      if (PROPS.some((name) => typeof held(props, name) === "function")) found.add(at);
    }
  }

  const [solid, svelte] = [keyLike([this], /^_\$DX_DELEGATE$/), Object.hasOwn(globalThis, "__svelte")];
  if (solid || svelte) {
    signs = true;
    const keys = TYPES.map((type) => `${svelte ? "__" : "$$"}${type}`);
    for (const at of everything.call(this)) if (keys.some((key) => handles(at, key))) found.add(at);
  }

  const library = held(globalThis, "jQuery");
  const jQuery = typeof library === "function" ? held(library, "expando") : undefined;
  const kept = typeof jQuery === "string" ? `${jQuery}1` : keyLike(first, /^jQuery\d+1$/);
  if (kept !== undefined) {
    signs = true;
    for (const at of [this, ...everything.call(this)]) {
      const data = held(at, kept);
      const events = isObject(data) ? held(data, "events") : undefined;
      for (const type of isObject(events) ? TYPES : []) {
        const handlers = held(events, type);
        if (!Array.isArray(handlers)) continue;
        for (const handler of handlers.slice(0, held(handlers, "delegateCount") || 0)) {
          const selector = isObject(handler) ? held(handler, "selector") : undefined;
          if (typeof selector !== "string") continue;
          try {
            for (const each of select(at, selector)) found.add(each);
          } catch (error) {
            if (!(error instanceof DOMException)) throw error;
            // a selector of jQuery's own kind
          }
        }
      }
    }
  }
  return signs ? [this, ...Array.from(found).slice(0, most)] : [];
})
