// Finds the parts of a document that are unchanged since the last walk, so that they are not read again. A
// part of walk.js, which calls it once with `dom`, its document readers, and `steady`, the result of
// walk_steady.js.
//
// A part is an element with at most MOST_IN_A_PART elements in it, inside an element with more. The elements
// outside parts are the trunk, and every walk reads them. The result of a part depends on:
// - its nodes, which a MutationObserver watches;
// - facts that no observer reports (styles, states of controls), which are compared element by element;
// - the trunk above it (`context`);
// - references from it and to it. Every walk reads a part that has any.
// Any change that is not known to be harmless makes the walk read everything.
//
// After a walk with the same result as the one before, the trunk is compared like a part. As long as no
// mutation is observed and nothing differs, the page is still, and no walk is needed (`isStill`).
(function (dom, steady, ways) {
  "use strict";

  const MOST_IN_A_PART = 32;
  const MOST_ELEMENTS = 60_000; // larger documents are not kept
  const MOST_RECORDS = 5_000; // after so many changes, stop observing until the next walk
  const MOST_CONTEXTS = 20_000;
  const LONGEST_ANSWER = 4_000_000; // characters of an answer that are kept for comparison with the next one
  const LONGEST = 600_000; // milliseconds after which an unread page is no longer observed

  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const REFERRING =
    "[aria-labelledby],[aria-labeledby],[aria-describedby],[aria-owns],[aria-activedescendant],[popovertarget]," +
    "[commandfor],[list],[usemap],[form],label[for]";
  // Elements that can change without a mutation, or whose result depends on their neighbours.
  const RESTLESS = new Set([
    "audio", "canvas", "embed", "fencedframe", "frame", "iframe", "map", "object", "slot", "svg", "table", "th", "use",
    "video",
  ]);
  // Attributes by which elements refer to others or become targets of references.
  const REFERENCES = new Set([
    "aria-labelledby", "aria-labeledby", "aria-describedby", "aria-owns", "aria-activedescendant", "popovertarget",
    "commandfor", "list", "usemap", "form", "for", "id", "type",
  ]);
  // Attributes that make the roles and names of a whole document not plain: see walk_plain.js.
  const SHAPING = new Set([
    "aria-modal", "aria-owns", "contenteditable", "inert", "is", "open", "popover", "slot",
  ]);
  const RULING = new Set(["base", "link", "meta", "style"]);
  const RULES = "base,link,meta,style";
  // Elements in which adding or removing a child changes only the styles of the others.
  const PLAIN = new Set([
    "address", "article", "aside", "blockquote", "body", "div", "footer", "form", "header", "li", "main", "nav", "ol",
    "p", "section", "span", "tbody", "td", "ul",
  ]);

  const { query, closedRootOf, ofDocument, getter, mayHost } = dom;
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const parentNode = getter(Node.prototype, "parentNode");
  const firstElementChild = getter(Element.prototype, "firstElementChild");
  const firstInRoot = getter(DocumentFragment.prototype, "firstElementChild");
  const nextElementSibling = getter(Element.prototype, "nextElementSibling");
  const { hasAttribute, hasAttributes, getAttribute } = Element.prototype;
  const querySelector = Element.prototype.querySelector;

  const { isSteady, skips, takeDown } = steady;

  const observer = new MutationObserver(noteAll);
  let watching = false;
  let partOf = new WeakMap(); // the outermost element of a part -> the part
  let trunk = new WeakSet();
  let number = 0; // of the latest kept walk
  let records = 0;
  let since = 0;
  let distrusted = ""; // the reason not to use the last walk
  let handling = true; // whether elements may have gained a handler attribute
  // Whether there may be elements that the last walk did not see, or one of SHAPING changed.
  let restructured = true;
  let globals = "";
  let contexts = new Map(); // description of the elements above -> a number
  let lastContext = 0;
  let lastPart = 0;
  let pinned = new WeakSet(); // elements with references from or to them
  let looked = new WeakSet(); // roots that were searched for references since the last related change
  let lastAnswer = { number: 0, said: "" };
  let still = null; // the data to compare a still page with

  function forgetAll() {
    lookAgain();
    handling = true;
    restructured = true;
    still = null;
    lastAnswer = { number: 0, said: "" };
    observer.disconnect();
    watching = false;
    partOf = new WeakMap();
    trunk = new WeakSet();
    contexts = new Map();
    records = 0;
    distrusted = "";
  }

  function lookAgain() {
    pinned = new WeakSet();
    looked = new WeakSet();
  }

  function spoil(part) {
    part.stale = true;
    part.elements = part.checks = part.hosts = part.labels = part.captions = [];
    part.holders = part.controls = part.pseudos = null;
  }

  function noteAll(list) {
    if (list.length) still = null;
    records += 4 + list.length; // a call costs as much as a few records
    if (records > MOST_RECORDS || performance.now() - since > LONGEST) return forgetAll();
    for (const record of list) {
      if (distrusted) return;
      note(record);
    }
  }

  // The part that contains a node; null for the trunk. Comparable parts have no shadow trees and no slots, so
  // a part is its outermost element with all its descendants. Elements further in may have begun an earlier
  // part. None further out can, because elements that join the trunk are removed from `partOf`.
  function find(node) {
    let found = null;
    for (let at = node; at !== null; ) {
      const part = partOf.get(at);
      if (part !== undefined) found = part;
      at = at instanceof ShadowRoot ? at.host : parentNode.call(at);
    }
    return found;
  }

  function note(record) {
    const { type, target } = record;
    const at = type === "characterData" ? parentNode.call(target) : target;
    if (at === null) return;
    const tag = at instanceof Element ? localName.call(at) : "";
    if (RULING.has(tag)) return distrust("style sheets");
    const part = find(at);
    if (part !== null) spoil(part);
    if (type === "attributes") {
      const name = record.attributeName;
      if (REFERENCES.has(name)) lookAgain();
      if (SHAPING.has(name)) restructured = true;
      if (name.startsWith("on")) handling = true;
      if (part === null && trunk.has(at) && name !== "class" && name !== "style" && !name.startsWith("data-")) {
        distrust("an attribute of the trunk");
      }
    } else if (type === "childList") {
      if (part === null && trunk.has(at) && !PLAIN.has(tag)) distrust("a child of the trunk");
      for (const nodes of [record.addedNodes, record.removedNodes]) {
        for (const node of nodes) {
          if (!(node instanceof Element)) continue;
          lookAgain();
          handling = restructured = true;
          if (RULING.has(localName.call(node)) || querySelector.call(node, RULES) !== null) distrust("style sheets");
          if (trunk.has(node)) distrust("the trunk was moved");
          const own = partOf.get(node);
          if (own !== undefined) spoil(own);
        }
      }
    }
  }

  function distrust(why) {
    handling = true; // later mutations are not inspected
    distrusted = distrusted || why;
  }

  function firstIn(parent) {
    if (parent instanceof Element) return firstElementChild.call(parent);
    return parent instanceof DocumentFragment ? firstInRoot.call(parent) : ofDocument("firstElementChild");
  }

  // All elements from this one on, including shadow trees and slotted elements; null if they exceed the size
  // of a part.
  function small(at) {
    const elements = [at];
    for (let i = 0; i < elements.length; i++) {
      const element = elements[i];
      const tag = localName.call(element);
      if (tag === "slot" && element.assignedElements) for (const each of element.assignedElements()) elements.push(each);
      const root = mayHost(tag) ? shadowRoot.call(element) || closedRootOf(element) : null;
      for (let child = root ? firstInRoot.call(root) : null; child !== null; child = nextElementSibling.call(child)) {
        if (elements.push(child) > MOST_IN_A_PART) return null;
      }
      for (let child = firstElementChild.call(element); child !== null; child = nextElementSibling.call(child)) {
        if (elements.push(child) > MOST_IN_A_PART) return null;
      }
    }
    return elements;
  }

  return {
    forgetAll,

    // Whether elements may have gained handler attributes since the last call.
    mayHandle() {
      const list = watching ? observer.takeRecords() : [];
      if (list.length) noteAll(list);
      const may = handling || !watching;
      handling = false;
      return may;
    },

    // Whether the document has the elements of the walk before this one, with the same SHAPING attributes.
    // Call it after `begin`.
    hasSameStructure: () => !restructured,

    // Invalidates these elements and their siblings after a change that no mutation reports.
    spoilAround(elements) {
      if (elements.length) still = null;
      if (elements.length > MOST_RECORDS) return forgetAll();
      const parents = new Set();
      for (const each of elements) {
        const part = find(each);
        if (part !== null) spoil(part);
        parents.add(parentNode.call(each));
      }
      for (const parent of parents) {
        for (let at = parent && firstIn(parent); at; at = nextElementSibling.call(at)) {
          const part = partOf.get(at);
          if (part !== undefined) spoil(part);
        }
      }
    },

    // Whether the walk `held` had the same result as this one, which is going to be kept under `number`.
    isRepeated(held, number, said) {
      const same = held !== 0 && lastAnswer.number === held && lastAnswer.said === said;
      lastAnswer = said.length > LONGEST_ANSWER ? { number: 0, said: "" } : { number, said: same ? lastAnswer.said : said };
      return same;
    },

    // Whether a walk would have the result of the last walk, `held`. `decorates` is called only if style
    // sheets had no decorations before; it returns whether they may have some now.
    isStill(held, state, focused, deadline, decorates) {
      if (still === null || still.number !== held || held !== number) return false;
      const list = observer.takeRecords();
      if (list.length) {
        noteAll(list);
        return false;
      }
      if (still.state !== state || still.focused !== focused || ofDocument("fullscreenElement") !== null) return false;
      if (!still.decorated && decorates()) return false;
      const { parts, inBoxes } = still;
      for (let i = 0; i < parts.length; i++) {
        if (!isSteady(parts[i], inBoxes && i > 0) || ((i & 63) === 63 && performance.now() > deadline)) return false;
      }
      since = performance.now();
      records = 0;
      return true;
    },

    // Begins a walk. `held` is the number of the walk whose parts the engine has. `state` describes the whole
    // document; any difference makes the walk read everything. Returns null if nothing is to be kept.
    begin(held, state, focused) {
      if (ofDocument("getElementsByTagName")("*").length > MOST_ELEMENTS) {
        forgetAll();
        return null;
      }
      if (watching) noteAll(observer.takeRecords());
      if (globals !== state) distrust("the document's state");
      globals = state;
      if (contexts.size > MOST_CONTEXTS) distrust("too many places");
      if (!watching || held !== number || number === 0 || distrusted) {
        forgetAll();
        held = -1;
        watching = true;
      }
      since = performance.now();
      records = 0;
      still = null;
      const used = ++number;
      let count = 0;

      function spoilAround(at) {
        const part = find(at);
        if (part !== null) spoil(part);
      }

      function pin(at) {
        pinned.add(at);
        spoilAround(at);
      }

      function isRestless(at, tag, style) {
        if (RESTLESS.has(tag) || pinned.has(at) || skips(style)) return true;
        if (mayHost(tag) && (tag.includes("-") || shadowRoot.call(at) !== null || closedRootOf(at))) return true;
        if (!hasAttributes.call(at)) return false;
        return hasAttribute.call(at, "popover") || hasAttribute.call(at, "contenteditable") || hasAttribute.call(at, "is");
      }

      const partsRead = []; // all parts of this walk, unchanged or not
      const trunkRead = [];

      const walk = {
        context: 0, // everything above the current element that it may depend on
        inside: false, // whether a part is being read

        // Observes a document or shadow root before it is read.
        watch(root) {
          observer.observe(root, WATCHED);
          if (looked.has(root)) return;
          looked.add(root);
          for (const at of query(root, REFERRING)) {
            pin(at);
            if (localName.call(at) === "label" && at.control) pin(at.control);
          }
        },

        // Returns an unchanged part; or a new part to be read, with `inside` set, and then passed to `close`;
        // or null for an element of the trunk.
        open(at, decorated, disabling) {
          const known = partOf.get(at);
          if (known !== undefined && known.root === at && !known.stale && known.used === held) {
            const same = known.context === walk.context && known.decorated === decorated;
            if (same && known.disabling === disabling && isSteady(known)) {
              known.used = used;
              count += known.size;
              partsRead.push(known);
              return known;
            }
          }
          const isSlot = localName.call(at) === "slot";
          const elements = isSlot || count > MOST_ELEMENTS ? null : small(at);
          if (elements === null) {
            count++;
            partOf.delete(at);
            trunk.add(at);
            trunkRead.push(at);
            return null;
          }
          count += elements.length;
          walk.inside = true;
          return {
            root: at, number: known !== undefined && known.root === at ? known.number : ++lastPart,
            used, stale: false, seen: 0, elements, size: elements.length, labels: [], captions: [],
            context: walk.context, decorated, disabling,
          };
        },

        close(part) {
          walk.inside = false;
          partOf.set(part.root, part);
          takeDown(part, (at, tag, style) => {
            if (tag === "li" && at === part.root && getAttribute.call(at, "role") !== null) return true;
            return at === focused || ways.isLooked(at) || isRestless(at, tag, style);
          }, ways);
          if (part.stale) spoil(part);
          partsRead.push(part);
        },

        // Ends the walk. Returns the number under which it is kept; 0 if it is not.
        end(cut) {
          if (cut || count > MOST_ELEMENTS) {
            forgetAll();
            return 0;
          }
          restructured = false;
          return used;
        },

        // Records that this walk, kept under its number, had the result of the one before. `state` describes
        // the document apart from its elements. `owning` is whether aria-owns moves elements; these are in no
        // part.
        rest(state, decorated, owning) {
          if (owning || partsRead.some((part) => part.stale)) return;
          for (const at of trunkRead) {
            const tag = localName.call(at);
            if (tag === "label" || (tag === "li" && getAttribute.call(at, "role") !== null)) return;
          }
          const whole = { root: trunkRead[0], stale: false, elements: trunkRead, decorated };
          if (trunkRead.length) takeDown(whole, isRestless, ways);
          const all = trunkRead.length ? [whole, ...partsRead] : partsRead;
          // The trunk is compared first and is plain then. It never contains hosts of shadow trees, or slots.
          const inBoxes = trunkRead.length > 0 && whole.plain;
          if (!whole.stale) still = { number: used, state, focused, decorated, parts: all, inBoxes };
        },

        // The context of an element's children in the trunk.
        below(tag, about) {
          if (tag === "label") return ++lastContext; // the whole content may give names to its parts
          const path = `${walk.context} ${tag} ${about}`;
          let context = contexts.get(path);
          if (context === undefined) contexts.set(path, (context = ++lastContext));
          return context;
        },
      };
      if (focused !== null) spoilAround(focused);
      walk.watch(document);
      return walk;
    },
  };
})
