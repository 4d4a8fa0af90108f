// Finds the elements that aria-owns moves, by Chrome's rules. A part of walk.js, which calls it once with
// `dom`, its document readers, `elements`, and `isHider`, which returns whether an element has aria-hidden.
// `find` is called once for each walk.
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

  const told = new WeakMap(); // element with several claims -> its owner in Chrome's tree, null for none

  function find() {
    const owned = new Map(); // element -> its new parent
    const owners = new Map(); // owner -> the elements moved to it
    const contested = new Set(); // elements with several claims, or with a claim that could close a circle
    const claimants = new Set(); // the owners that claim these
    const noted = new WeakSet(); // the roots whose owners are known
    let seen = false; // whether the document has any aria-owns

    const isInside = (at, target) => {
      for (let above = at; above !== null; above = flatParent(above)) if (above === target) return true;
      return false;
    };
    const isInsideAfterMoves = (at, target) => {
      for (let above = at; above !== null; above = owned.get(above) ?? flatParent(above)) if (above === target) return true;
      return false;
    };

    function claim(owner, target) {
      const known = told.get(target);
      if (known !== undefined || owned.has(target) || isInsideAfterMoves(owner, target)) {
        contested.add(target);
        claimants.add(owner);
        if (owned.has(target)) claimants.add(owned.get(target));
        if (known !== owner) return;
      }
      if (owned.has(target) || isInsideAfterMoves(owner, target)) return;
      owned.set(target, owner);
      if (owners.has(owner)) owners.get(owner).push(target);
      else owners.set(owner, [target]);
    }

    // Records the owners in a root.
    function note(root) {
      if (noted.has(root)) return;
      noted.add(root);
      const claims = [];
      for (const each of query(root, "[aria-owns]")) {
        seen = true;
        if (!mayOwn(each)) continue;
        for (const id of getAttribute.call(each, "aria-owns").split(/\s+/)) {
          const target = byId(root, id);
          if (target !== null && mayBeOwned(target) && !isInside(each, target)) claims.push([each, target]);
        }
      }
      claims.sort(([, one], [, other]) => told.has(other) - told.has(one)); // the known ones first
      for (const [owner, target] of claims) claim(owner, target);
    }

    return {
      note,
      contested,
      claimants,
      ownerOf: (at) => owned.get(at) ?? null,
      ownedBy: (at) => owners.get(at) ?? [],
      // The elements moved to owners inside an element that is not shown. They take that element's place.
      ownedWithin: (at) => Array.from(owners).flatMap(([owner, moved]) => (contains.call(at, owner) ? moved.map((each) => [each, owner]) : [])),
      areMoved: () => owned.size > 0,
      areSeen: () => seen,
    };
  }

  // Stores the owners of contested elements in Chrome's tree, where their order is that of a hash table.
  function tell(targets, found) {
    targets.forEach((target, index) => target instanceof Element && told.set(target, found[index] ?? null));
  }

  return { find, tell };
})
