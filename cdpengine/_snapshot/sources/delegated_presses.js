// Returns the elements to which a page's framework dispatches presses although they have no listeners
// themselves.
//
// The framework listens on an ancestor and finds the target by data on the elements: React uses its props,
// jQuery (since 3) its delegated events, Solid and Svelte (since 5) their handlers. Other worlds cannot see
// that data, so this script runs in the page's own world, called on the document. It changes nothing and
// calls no function of the page. If the page shows no sign of these frameworks, the result is empty.
// Otherwise it is the document, followed by at most `most` elements.
(function (most) {
  "use strict";

  const TYPES = ["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"];
  // For `onClick`, React also adds a listener to the element.
  const PROPS = ["onClickCapture"];
  for (const name of ["DoubleClick", "MouseDown", "MouseUp", "PointerDown", "PointerUp", "TouchStart", "TouchEnd"]) {
    PROPS.push(`on${name}`, `on${name}Capture`);
  }
  const MOST_SEARCHED = 300; // elements that are searched for a sign

  // Does not use `DOM`, which would leave a global in the page's own world.
  const owner = (root) =>
    root instanceof Document ? Document.prototype : root instanceof ShadowRoot ? ShadowRoot.prototype : Element.prototype;
  const select = (root, selector) => owner(root).querySelectorAll.call(root, selector);
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get;

  const found = new Set();
  let signs = false;
  const first = [this, ...Array.prototype.slice.call(select(this, "*"), 0, MOST_SEARCHED)];
  const elements = [];

  // All elements of the document and of its open shadow trees.
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

  // The first own key of these objects that matches the pattern; undefined if none does.
  function keyLike(objects, pattern) {
    for (const each of objects) {
      const key = Object.keys(each).find((name) => pattern.test(name));
      if (key !== undefined) return key;
    }
    return undefined;
  }

  // The value of a property. Getters are functions of the page and are not called.
  const held = (object, key) => Object.getOwnPropertyDescriptor(object, key)?.value;
  const isObject = (value) => typeof value === "object" && value !== null; // jQuery's objects have no prototype
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
            // A selector with jQuery's extensions.
          }
        }
      }
    }
  }
  return signs ? [this, ...Array.from(found).slice(0, most)] : [];
})
