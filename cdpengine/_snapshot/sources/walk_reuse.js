// Knows which parts of a document say the same as at the last walk, so that they need not be read again. A part of
// walk.js, which calls it once with its ways to read the document, `dom`, and `steady`
// of walk_steady.js.
//
// A part is an element with at most MOST_IN_A_PART elements in it, inside of one with more; all elements that are in
// no part are the trunk, and are read at every walk. What a part says depends on its nodes, which a MutationObserver
// watches; on what no observer reports (styles, the states of controls), which is compared, element by element; on the
// trunk above it (`context`); and on what refers to it or what it refers to: such a part is read at every walk.
// Whatever is not known to be harmless makes the walk read all of it.
//
// Where a walk said what the one before it said, the trunk is compared like a part from then on, and as long as no
// mutation is observed, and nothing that is compared differs, the page is still, and nothing is walked (`isStill`).
(function (dom, steady, ways) {
  "use strict";

  const MOST_IN_A_PART = 32;
  const MOST_ELEMENTS = 60_000; // of a document with more, nothing is kept
  const MOST_RECORDS = 5_000; // after so many changes nothing is known any more, and the page is left in peace
  const MOST_CONTEXTS = 20_000;
  const LONGEST_SAID = 4_000_000; // characters of an answer that are kept to be compared with the next one
  const LONGEST = 600_000; // milliseconds for which a page that nobody looks at is watched

  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const REFERRING =
    "[aria-labelledby],[aria-labeledby],[aria-describedby],[aria-owns],[aria-activedescendant],[popovertarget]," +
    "[commandfor],[list],[usemap],[form],label[for]";
  // What these are can change without a trace, or depends on their neighbours.
  const RESTLESS = new Set([
    "audio", "canvas", "embed", "fencedframe", "frame", "iframe", "map", "object", "slot", "svg", "table", "th", "use",
    "video",
  ]);
  // By these, elements refer to others, or become what others refer to.
  const REFERENCES = new Set([
    "aria-labelledby", "aria-labeledby", "aria-describedby", "aria-owns", "aria-activedescendant", "popovertarget",
    "commandfor", "list", "usemap", "form", "for", "id", "type",
  ]);
  // What makes the roles and names of a whole document other than plain: see walk_plain.js.
  const SHAPING = new Set([
    "aria-modal", "aria-owns", "contenteditable", "inert", "is", "open", "popover", "slot",
  ]);
  const RULING = new Set(["base", "link", "meta", "style"]);
  const RULES = "base,link,meta,style";
  // Where one child more or less changes nothing about the others but their styles.
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
  let number = 0; // of the latest walk that was kept
  let records = 0;
  let since = 0;
  let distrusted = ""; // why nothing of the last walk may be used
  let handling = true; // there may be elements that began to have a handler in an attribute
  let restructured = true; // there may be elements that the last walk did not see, or one of the SHAPING changed
  let globals = "";
  let contexts = new Map(); // what is above, in words -> a number
  let lastContext = 0;
  let lastPart = 0;
  let pinned = new WeakSet(); // what refers to others, or is referred to
  let looked = new WeakSet(); // the roots that were searched for these, since something about that changed
  let lastSaid = { number: 0, said: "" };
  let still = null; // what a page that is still is compared by

  function forgetAll() {
    lookAgain();
    handling = true;
    restructured = true;
    still = null;
    lastSaid = { number: 0, said: "" };
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
    records += 4 + list.length; // to be called costs as much as some records
    if (records > MOST_RECORDS || performance.now() - since > LONGEST) return forgetAll();
    for (const record of list) {
      if (distrusted) return;
      note(record);
    }
  }

  // The part that a node is in; null for one of the trunk. What can be compared holds no shadow trees and no slots, so
  // a part is its outermost element with all that is below it. Further in there may be elements that began a part
  // before; further out there are none, as what becomes the trunk's is forgotten.
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
    handling = true; // what is observed after this is not looked at
    distrusted = distrusted || why;
  }

  function firstIn(parent) {
    if (parent instanceof Element) return firstElementChild.call(parent);
    return parent instanceof DocumentFragment ? firstInRoot.call(parent) : ofDocument("firstElementChild");
  }

  // All elements from this one on, shadow trees and what is slotted included; null when they are more than a part has.
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

    // Whether elements may have handlers in attributes that they did not have when this was asked last.
    mayHandle() {
      const list = watching ? observer.takeRecords() : [];
      if (list.length) noteAll(list);
      const may = handling || !watching;
      handling = false;
      return may;
    },

    // Whether the document has the elements that the walk before this one saw, with the same SHAPING attributes. To be
    // asked after `begin`.
    hasSameStructure: () => !restructured,

    // These elements, and whatever is said of their siblings, is not what it was, though no mutation tells.
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

    // Whether the walk `held` said the same as this one, which is going to be kept under `number`.
    saidBefore(held, number, said) {
      const same = held !== 0 && lastSaid.number === held && lastSaid.said === said;
      lastSaid = said.length > LONGEST_SAID ? { number: 0, said: "" } : { number, said: same ? lastSaid.said : said };
      return same;
    },

    // Whether a walk would say what the walk `held` said, which is the last one. `decorates` is asked only where that
    // was not so before: whether style sheets write something before or after elements.
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

    // Begins a walk: `held` is the number of the walk whose parts the asking side has. `state` is all that counts
    // for the whole document; any difference makes the walk read everything. Null where nothing is to be kept.
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

      const partsRead = []; // all parts of this walk, read or not, and the trunk
      const trunkRead = [];

      const walk = {
        context: 0, // of what is being read: all that it may depend on above
        inside: false, // within a part that is being read

        // A document or shadow root that is going to be read.
        watch(root) {
          observer.observe(root, WATCHED);
          if (looked.has(root)) return;
          looked.add(root);
          for (const at of query(root, REFERRING)) {
            pin(at);
            if (localName.call(at) === "label" && at.control) pin(at.control);
          }
        },

        // What the element is: a part that says the same as before; one to be read, with `inside` set, and then to be
        // given to `close`; or null, of the trunk.
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

        // Ends the walk; the number that it is kept under, 0 when it is not.
        end(cut) {
          if (cut || count > MOST_ELEMENTS) {
            forgetAll();
            return 0;
          }
          restructured = false;
          return used;
        },

        // Says that this walk, kept under its number, said what the one before it did. `state` is all that counts
        // besides the elements; `owning` whether some own others, which are in no part then.
        rest(state, decorated, owning) {
          if (owning || partsRead.some((part) => part.stale)) return;
          for (const at of trunkRead) {
            const tag = localName.call(at);
            if (tag === "label" || (tag === "li" && getAttribute.call(at, "role") !== null)) return;
          }
          const whole = { root: trunkRead[0], stale: false, elements: trunkRead, decorated };
          if (trunkRead.length) takeDown(whole, isRestless, ways);
          const all = trunkRead.length ? [whole, ...partsRead] : partsRead;
          // The trunk, which is plain then, is compared first. What hosts shadow trees or slots is never in it.
          const inBoxes = trunkRead.length > 0 && whole.plain;
          if (!whole.stale) still = { number: used, state, focused, decorated, parts: all, inBoxes };
        },

        // The context of what is right in an element of the trunk.
        below(tag, about) {
          if (tag === "label") return ++lastContext; // what is in it has its name from all of it
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
