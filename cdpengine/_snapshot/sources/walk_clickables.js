// Finds the elements that a page made clickable without a role that shows it. A part of walk.js, which calls
// it once with `dom`, its document readers.
//
// An element is clickable because of its own signs, not because of its surroundings. The signs are:
// - It listens to presses itself (see `hear`). Without another sign it may listen on behalf of its
//   descendants, as a list, a document or an application root does (see `listensForOthers`).
// - Its cursor is a pointer and its parent's is not. Inside a link or button it is part of that control. If
//   links and buttons inside it hold all its text, it only surrounds them.
// - Its attribute `draggable` is "true", and it is not inside a link or button.
// Links, buttons and fields are interactive already. `html`, `body` and options are never clickables. Labels
// are clickables only if they listen themselves.
(function (dom) {
  "use strict";

  const MOST_INSIDE = 20; // a listener with more elements inside listens on their behalf
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

  const listening = new WeakMap(); // element -> whether it also listens in the capture phase
  const told = new Map(); // listener id -> a reference to the element
  const presumed = new Set(); // elements that seem to listen, not yet confirmed by Chrome
  const refuted = new WeakSet(); // elements with a handler attribute that do not listen

  // Records that the element listens. Returns whether that is new.
  function hear(id, element, captures) {
    presumed.delete(element);
    refuted.delete(element);
    told.set(id, new WeakRef(element));
    if (listening.get(element) === captures) return false;
    listening.set(element, captures);
    return true;
  }

  // Forgets a listener. Returns its element; undefined if the element is gone, at least from the document.
  function unhear(id) {
    const element = told.get(id)?.deref();
    told.delete(id);
    if (element === undefined) return undefined;
    listening.delete(element);
    return isConnected.call(element) ? element : undefined;
  }

  // Presumes that elements with a press attribute listen, until Chrome confirms it: its list of listeners
  // arrives after the walk. Returns the elements for which that is new.
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

  // Records that the element does not listen despite its attribute, which is not a function or was revoked.
  // Returns whether it was presumed to listen.
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

  // The children of a node in the flat tree.
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

  // Counts what is drawn in the element: `elements`, `signs` (elements with a sign of their own), `controls`
  // (native ones). `loose` is whether text lies outside native controls. Looks at no more than `most`
  // elements.
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

  // Whether siblings listen separately, as rows of a list or table do.
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
    if (found.elements > 0 && listening.get(element)) return true; // as React's roots and focus traps do
    if (found.controls > 0 && !found.loose) return true;
    return found.signs > 1 && !siblingListens(element);
  }

  // `points` is whether the cursor is a pointer over the element, `around` whether it is one over the parent,
  // and `within` whether the element is in a native control.
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

  // Whether the element has the role option outside a list box, where Chrome does not give it that role.
  function isLooseOption(at, tag, roleOf) {
    if (NEVER.has(tag) || tag === "label") return false;
    const given = getAttribute.call(at, "role");
    if (given === null || !OPTIONS.has(given.trim().split(/\s+/)[0].toLowerCase())) return false;
    return !OPTIONS.has(roleOf(at));
  }

  const isDraggable = (at, tag) => !NEVER.has(tag) && getAttribute.call(at, "draggable") === "true";

  // The places of elements in the flat tree: the numbers of their descendants, of their ancestors from the
  // inside out, and of the elements after them.
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
    listens: (at) => listening.has(at), hear, unhear, presume, presumed, presumeNothing, refute, handling, isNative, isPointing, isClickable, isDraggable, isLooseOption,
    placesOf,
  };
})
