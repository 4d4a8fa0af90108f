// Which elements a page made clickable without saying so. A part of walk.js, which calls it once with its ways to read
// the document, `dom`.
//
// An element is clickable by its own doing, not by what is around it. These are own signs:
// - it listens to presses itself (`hear` says which elements do). One that does nothing else to invite a press may
//   listen on behalf of what is in it, as a list, a document or the root of an application does (`listensForOthers`);
// - its cursor is a pointer and that of what it is in is not. Inside of a link or button that is a part of it, and
//   where all text belongs to links and buttons inside, it is only their surroundings.
// Links, buttons and fields say themselves what they are; `html`, `body` and options never are clickables, and labels
// only where they listen themselves.
(function (dom) {
  "use strict";

  const MOST_INSIDE = 20; // what listens, and holds more elements than this, listens for them
  const MOST_LOOKED_AT = 500;

  const NEVER = new Set(["body", "frame", "head", "html", "iframe", "optgroup", "option"]);
  const NATIVE = new Set(["button", "input", "select", "summary", "textarea"]);
  const HANDLERS = [
    "onclick", "ondblclick", "onmousedown", "onmouseup", "onpointerdown", "onpointerup", "ontouchstart", "ontouchend",
  ];
  const HANDLING = HANDLERS.map((name) => `[${name}]`).join(",");
  const OPTIONS = new Set(["option", "treeitem"]);
  const SKIPPED = new Set(["script", "style", "template", "noscript"]);

  const { flatParent, closedRootOf, getter, query, styleOf } = dom;
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const parentNode = getter(Node.prototype, "parentNode");
  const firstChild = getter(Node.prototype, "firstChild");
  const nodeType = getter(Node.prototype, "nodeType");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const isConnected = getter(Node.prototype, "isConnected");
  const { hasAttribute, getAttribute, checkVisibility } = Element.prototype;

  const listening = new WeakMap(); // element -> whether it listens to presses on their way down, too
  const told = new Map(); // the number under which it was told -> a reference to the element
  const presumed = new Set(); // elements that seem to listen, and of which Chrome has not said so yet
  const refuted = new WeakSet(); // what has such an attribute, and does not listen

  // Takes note that the element listens; returns whether that is new.
  function hear(id, element, captures) {
    presumed.delete(element);
    refuted.delete(element);
    told.set(id, new WeakRef(element));
    if (listening.get(element) === captures) return false;
    listening.set(element, captures);
    return true;
  }

  // Returns the element that listens no more; undefined when it is gone, from the document at least.
  function unhear(id) {
    const element = told.get(id)?.deref();
    told.delete(id);
    if (element === undefined) return undefined;
    listening.delete(element);
    return isConnected.call(element) ? element : undefined;
  }

  // Takes what has an attribute for presses for something that listens, until Chrome says which elements do: the list
  // of these comes after the walk. Returns those of which that was not known.
  function presume(root) {
    const found = [];
    for (const at of query(root, HANDLING)) {
      if (listening.has(at) || refuted.has(at)) continue;
      listening.set(at, false);
      presumed.add(at);
      found.push(at);
    }
    return found;
  }

  // The element does not listen, whatever its attribute says: that is no function, or was taken back. Returns whether
  // it was presumed to.
  function refute(element) {
    if (!presumed.delete(element)) return false;
    refuted.add(element);
    return listening.delete(element);
  }

  function presumeNothing() {
    for (const at of presumed) listening.delete(at);
    presumed.clear();
  }

  function isNative(at, tag) {
    return NATIVE.has(tag) || ((tag === "a" || tag === "area") && hasAttribute.call(at, "href"));
  }

  function takesFocus(at) {
    const given = getAttribute.call(at, "tabindex");
    return given !== null && parseInt(given, 10) >= 0;
  }

  const hasHandler = (at) => HANDLERS.some((name) => hasAttribute.call(at, name));

  const isPointing = (at) => styleOf(at).cursor === "pointer";

  // What is right inside of a node in the flat tree.
  function flatChildren(node) {
    if (nodeType.call(node) !== 1) return [];
    const root = shadowRoot.call(node) || closedRootOf(node);
    if (!root && localName.call(node) === "slot" && node.assignedNodes) {
      const slotted = node.assignedNodes();
      if (slotted.length) return slotted;
    }
    const children = [];
    for (let at = firstChild.call(root || node); at !== null; at = nextSibling.call(at)) children.push(at);
    return children;
  }

  // Counts what is drawn in the element: elements, those of them to press (`controls` are native ones), and whether
  // there is text that belongs to no native one. No more than `most` elements are looked at.
  function inside(element, most) {
    const found = { elements: 0, signs: 0, controls: 0, loose: false };
    const waiting = flatChildren(element).map((node) => [node, false]);
    while (waiting.length) {
      const [node, owned] = waiting.pop();
      const type = nodeType.call(node);
      if (type === 3) {
        found.loose ||= !owned && /\S/.test(node.data);
        continue;
      }
      if (type !== 1) continue;
      const tag = localName.call(node);
      if (SKIPPED.has(tag) || !(checkVisibility.call(node) || getComputedStyle(node).display === "contents")) continue;
      if (++found.elements > most) break;
      const native = isNative(node, tag);
      found.controls += native;
      if (native || (!owned && (listening.has(node) || takesFocus(node)))) found.signs++;
      for (const child of flatChildren(node)) waiting.push([child, owned || native]);
    }
    return found;
  }

  // As the rows of a list or table do, each for itself.
  function siblingListens(element) {
    const parent = parentNode.call(element);
    const tag = localName.call(element);
    if (parent === null) return false;
    for (let at = firstChild.call(parent); at !== null; at = nextSibling.call(at)) {
      if (at !== element && listening.has(at) && localName.call(at) === tag) return true;
    }
    return false;
  }

  function listensForOthers(element) {
    const found = inside(element, MOST_INSIDE);
    if (found.elements > MOST_INSIDE) return true;
    if (found.elements > 0 && listening.get(element)) return true; // so do the roots of React, and what traps presses
    if (found.controls > 0 && !found.loose) return true;
    return found.signs > 1 && !siblingListens(element);
  }

  // `points` says that the cursor is a pointer over it, `around` that it is one over what the element is in, and
  // `within` that it is in a native control.
  function isClickable(at, tag, points, around, within) {
    if (NEVER.has(tag)) return false;
    if (tag === "label") return listening.has(at) && (hasHandler(at) || !listensForOthers(at));
    if (listening.has(at)) {
      if (points || takesFocus(at) || hasHandler(at)) return true;
      if (!listensForOthers(at)) return true;
    }
    if (!points || around || within) return false;
    const found = inside(at, MOST_LOOKED_AT);
    return found.controls === 0 || found.loose;
  }

  // What calls itself an option where no list box is around it: Chrome gives it no such role.
  function isLooseOption(at, tag, roleOf) {
    if (NEVER.has(tag) || tag === "label") return false;
    const given = getAttribute.call(at, "role");
    if (given === null || !OPTIONS.has(given.trim().split(/\s+/)[0].toLowerCase())) return false;
    return !OPTIONS.has(roleOf(at));
  }

  // Where in the flat tree nodes are: for each element, the numbers of what is in it, of what it is in from the inside
  // out, and of what comes after it.
  function placesOf(found, numberOf) {
    return found.map((element) => {
      const place = { inside: [], above: [], after: [] };
      const waiting = flatChildren(element);
      while (waiting.length && place.inside.length < MOST_LOOKED_AT) {
        const node = waiting.shift();
        place.inside.push(numberOf(node));
        waiting.push(...flatChildren(node));
      }
      for (let at = element; at !== null && place.above.length < MOST_LOOKED_AT; ) {
        const above = flatParent(at);
        if (above === null) break;
        const children = flatChildren(above);
        const rest = children.slice(children.indexOf(at) + 1);
        while (rest.length && place.after.length < MOST_LOOKED_AT) {
          const node = rest.shift();
          place.after.push(numberOf(node));
          rest.unshift(...flatChildren(node));
        }
        place.above.push(numberOf(above));
        at = above;
      }
      return place;
    });
  }

  const handling = (root) => query(root, HANDLING);

  return {
    listens: (at) => listening.has(at), hear, unhear, presume, presumed, presumeNothing, refute, handling, isNative, isPointing, isClickable, isLooseOption,
    placesOf,
  };
})
