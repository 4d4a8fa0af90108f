// Finds the elements that aria-owns moves, by Chrome's rules. A part of walk.js, which calls it once with
// `dom`, its document readers, `elements`, and `isHider`, which returns whether an element has aria-hidden.
// The result is called once for each walk.
(function (dom, elements, isHider) {
  "use strict";

  const { flatParent, byId, query, getAttribute, isEditingHost, contains, closedRootOf } = dom;
  const { EMPTY, UNSEEN } = elements;
  const { checkVisibility } = Element.prototype;
  const localName = dom.getter(Element.prototype, "localName");
  const shadowRoot = dom.getter(Element.prototype, "shadowRoot");
  const parentNode = dom.getter(Node.prototype, "parentNode");
  const assignedSlot = dom.getter(Element.prototype, "assignedSlot");
  const CHILDLESS = /^(?:img|image|textbox|searchbox)$/; // roles that own nothing
  const UNMOVED = new Set(["area", "option", "optgroup"]);

  // Whether Chrome has no node for the content of an element: it is not drawn, and its own style cannot
  // change that.
  function isLocked(above, child) {
    const tag = localName.call(above);
    if (UNSEEN.has(tag)) return true;
    if (tag === "details" && !above.open && localName.call(child) !== "summary") return true;
    const hosts = Boolean(shadowRoot.call(above) ?? closedRootOf(above));
    return (hosts && parentNode.call(child) === above && assignedSlot.call(child) === null) || getComputedStyle(above).contentVisibility === "hidden";
  }

  function mayOwn(at) {
    const tag = localName.call(at);
    if (EMPTY.has(tag) || UNSEEN.has(tag) || tag === "hr" || isEditingHost(at)) return false;
    const role = getAttribute.call(at, "role");
    if (role !== null && CHILDLESS.test(role.trim().split(/\s+/)[0].toLowerCase())) return false;
    for (let child = null, above = at; above !== null; child = above, above = flatParent(above)) {
      if (isHider(above) || (child !== null && isLocked(above, child))) return false;
    }
    return true;
  }

  const mayBeOwned = (at) =>
    !UNMOVED.has(localName.call(at)) && !isHider(at) && checkVisibility.call(at) && getComputedStyle(at).display !== "contents";

  return function () {
    const owned = new Map(); // element -> its new parent
    const owners = new Map(); // owner -> the elements moved to it
    let seen = false; // whether the document has any aria-owns

    // Whether the target is an ancestor of an element, after earlier moves.
    function isIn(at, target) {
      for (let above = at; above !== null; above = owned.get(above) ?? flatParent(above)) {
        if (above === target) return true;
      }
      for (let above = at; above !== null; above = flatParent(above)) if (above === target) return true;
      return false;
    }

    return {
      ownerOf: (at) => owned.get(at) ?? null,
      ownedBy: (at) => owners.get(at) ?? [],
      // The elements moved to owners inside an element that is not shown. They take that element's place.
      ownedWithin: (at) => Array.from(owners).flatMap(([owner, moved]) => (contains.call(at, owner) ? moved.map((each) => [each, owner]) : [])),
      areMoved: () => owned.size > 0,
      areSeen: () => seen,

      // Records the owners in a root.
      note(root) {
        for (const each of query(root, "[aria-owns]")) {
          seen = true;
          if (owners.has(each) || !mayOwn(each)) continue;
          const moved = [];
          for (const id of getAttribute.call(each, "aria-owns").split(/\s+/)) {
            const target = byId(root, id);
            if (target === null || owned.has(target) || !mayBeOwned(target) || isIn(each, target)) continue;
            owned.set(target, each);
            moved.push(target);
          }
          owners.set(each, moved);
        }
      },
    };
  };
})
