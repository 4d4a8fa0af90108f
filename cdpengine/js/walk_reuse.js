// Knows which parts of a document say the same as at the last walk, so that they need not be read again. A part of
// walk.js, which calls it once with its ways to read the document, `dom`.
//
// A part is an element with at most MOST_IN_A_PART elements in it, inside of one with more; all elements that are in
// no part are the trunk, and are read at every walk. What a part says depends on its nodes, which a MutationObserver
// watches; on what nobody is told of (styles, the states of controls), which is compared, element by element; on the
// trunk above it (`context`); and on what refers to it or what it refers to: such a part is read at every walk.
// Whatever is not known to be harmless makes the walk read all of it.
(function (dom) {
  "use strict";

  const MOST_IN_A_PART = 32;
  const MOST_ELEMENTS = 60_000; // of a document with more, nothing is kept
  const MOST_RECORDS = 5_000; // after so many changes nothing is known any more, and the page is left in peace
  const MOST_CONTEXTS = 20_000;
  const LONGEST = 600_000; // milliseconds for which a page that nobody looks at is watched

  const WITH_BOX = { contentVisibilityAuto: true };
  const VISIBLE = { contentVisibilityAuto: true, visibilityProperty: true };
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const REFERRING =
    "[aria-labelledby],[aria-labeledby],[aria-describedby],[aria-owns],[aria-activedescendant],[popovertarget]," +
    "[commandfor],[list],[usemap],[form],label[for]";
  // What these are can change without a trace, or depends on their neighbours.
  const RESTLESS = new Set([
    "audio", "canvas", "embed", "fencedframe", "frame", "iframe", "map", "object", "slot", "svg", "table", "th", "use",
    "video",
  ]);
  const RULING = new Set(["base", "link", "meta", "style"]);
  const RULES = "base,link,meta,style";
  const CONTROLS = new Set(["button", "fieldset", "input", "option", "output", "select", "textarea"]);
  // Where one child more or less changes nothing about the others but their styles.
  const PLAIN = new Set([
    "address", "article", "aside", "blockquote", "body", "div", "footer", "form", "header", "li", "main", "nav", "ol",
    "p", "section", "span", "tbody", "td", "ul",
  ]);

  const { query, closedRootOf } = dom;
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const parentNode = getter(Node.prototype, "parentNode");
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const { checkVisibility, hasAttribute, getAttribute } = Element.prototype;
  const querySelector = Element.prototype.querySelector;

  const observer = new MutationObserver(noteAll);
  let watching = false;
  let partOf = new WeakMap(); // element -> the part that it was in when that was last read
  let trunk = new WeakSet();
  let number = 0; // of the latest walk that was kept
  let records = 0;
  let since = 0;
  let distrusted = ""; // why nothing of the last walk may be used
  let globals = "";
  let contexts = new Map(); // what is above, in words -> a number
  let lastContext = 0;
  let lastPart = 0;

  function forgetAll() {
    observer.disconnect();
    watching = false;
    partOf = new WeakMap();
    trunk = new WeakSet();
    contexts = new Map();
    records = 0;
    distrusted = "";
  }

  function spoil(part) {
    part.stale = true;
    for (const kept of ["elements", "styles", "controls", "pseudos", "labels", "captions"]) part[kept] = [];
  }

  function noteAll(list) {
    records += 4 + list.length; // to be called costs as much as some records
    if (records > MOST_RECORDS || performance.now() - since > LONGEST) return forgetAll();
    for (const record of list) {
      if (distrusted) return;
      note(record);
    }
  }

  function find(node) {
    for (let at = node; at !== null; ) {
      const part = partOf.get(at);
      if (part !== undefined) return part;
      if (trunk.has(at)) return null;
      at = at instanceof ShadowRoot ? at.host : parentNode.call(at);
    }
    return null;
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
      if (part === null && trunk.has(at) && name !== "class" && name !== "style" && !name.startsWith("data-")) {
        distrust("an attribute of the trunk");
      }
    } else if (type === "childList") {
      if (part === null && trunk.has(at) && !PLAIN.has(tag)) distrust("a child of the trunk");
      for (const nodes of [record.addedNodes, record.removedNodes]) {
        for (const node of nodes) {
          if (!(node instanceof Element)) continue;
          if (RULING.has(localName.call(node)) || querySelector.call(node, RULES) !== null) distrust("style sheets");
          if (trunk.has(node)) distrust("the trunk was moved");
          const own = partOf.get(node);
          if (own !== undefined) spoil(own);
        }
      }
    }
  }

  function distrust(why) {
    distrusted = distrusted || why;
  }

  // What can be compared only by looking. Passwords are not kept.
  function stateOf(at, tag) {
    let state = `${at.matches(":disabled")} ${at.matches(":invalid")} `;
    if (tag === "input") {
      const { type, validity } = at;
      const secret = type === "password";
      state += `${at.checked} ${at.indeterminate} ${validity.valueMissing} ${type} `;
      state += secret ? at.value !== "" : `${getComputedStyle(at).webkitTextSecurity} ${at.value}`;
      if (type === "file") state += Array.from(at.files, (file) => ` ${file.name}`).join("");
    } else if (tag === "select") {
      state += `${at.matches(":open")} ${at.selectedIndex} ${at.selectedOptions.length}`;
    } else if (tag === "option") {
      state += at.selected;
    } else if (tag === "textarea") {
      state += `${at.validity.valueMissing} ${at.value}`;
    }
    return state;
  }

  // The options of a closed list have no box, and are shown all the same unless their visibility says otherwise.
  function sight(at, style) {
    if (checkVisibility.call(at, VISIBLE)) return "shown";
    return `${checkVisibility.call(at, WITH_BOX)} ${style.visibility}`;
  }

  function isSteady(part) {
    const { elements, styles, sights, displays, transforms, controls, states, pseudos, contents } = part;
    for (let i = 0; i < elements.length; i++) {
      const at = elements[i];
      const style = styles[i];
      if (sight(at, style) !== sights[i] || shadowRoot.call(at) !== null) return false;
      if (style.display !== displays[i] || style.textTransform !== transforms[i]) return false;
      if (style.contentVisibility !== "visible" && style.contentVisibility !== "") return false;
    }
    for (let i = 0; i < controls.length; i++) {
      if (stateOf(controls[i], localName.call(controls[i])) !== states[i]) return false;
    }
    for (let i = 0; i < pseudos.length; i++) {
      if (`${pseudos[i].content} ${pseudos[i].display}` !== contents[i]) return false;
    }
    return true;
  }

  // All elements from this one on, shadow trees and what is slotted included; null when they are more than a part has.
  function small(at) {
    const elements = [at];
    for (let i = 0; i < elements.length; i++) {
      const element = elements[i];
      const root = shadowRoot.call(element) || closedRootOf(element);
      const slotted = localName.call(element) === "slot" && element.assignedElements ? element.assignedElements() : [];
      for (const each of slotted) elements.push(each);
      for (const parent of root ? [root, element] : [element]) {
        for (let child = firstChild.call(parent); child !== null; child = nextSibling.call(child)) {
          if (child.nodeType === 1 && elements.push(child) > MOST_IN_A_PART) return null;
        }
      }
    }
    return elements;
  }

  return {
    forgetAll,

    // Begins a walk: `held` is the number of the walk whose parts the asking side has. `state` is all that counts
    // for the whole document; any difference makes the walk read everything.
    begin(held, state, focused) {
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
      const pinned = new Set();
      const used = ++number;
      let count = 0;

      function pin(at) {
        pinned.add(at);
        const part = find(at);
        if (part !== null) spoil(part);
      }

      function isRestless(at, tag, style) {
        if (RESTLESS.has(tag) || tag.includes("-") || pinned.has(at)) return true;
        if (shadowRoot.call(at) !== null || closedRootOf(at)) return true;
        if (hasAttribute.call(at, "popover") || hasAttribute.call(at, "contenteditable")) return true;
        if (hasAttribute.call(at, "is")) return true;
        return style.contentVisibility !== "visible" && style.contentVisibility !== "";
      }

      const walk = {
        context: 0, // of what is being read: all that it may depend on above
        inside: false, // within a part that is being read

        // A document or shadow root that is going to be read.
        watch(root) {
          observer.observe(root, WATCHED);
          for (const at of query(root, REFERRING)) {
            pin(at);
            if (localName.call(at) === "label" && at.control) pin(at.control);
          }
        },

        // What the element is: a part that says the same as before; one to be read, with `inside` set, and then to be
        // given to `close`; or null, of the trunk.
        open(at, decorated, disabling) {
          count++;
          const known = partOf.get(at);
          if (known !== undefined && known.root === at && !known.stale && known.used === held) {
            const same = known.context === walk.context && known.decorated === decorated;
            if (same && known.disabling === disabling && isSteady(known)) {
              known.used = used;
              count += known.elements.length;
              return known;
            }
          }
          const isSlot = localName.call(at) === "slot";
          const elements = isSlot || count > MOST_ELEMENTS ? null : small(at);
          if (elements === null) {
            partOf.delete(at);
            trunk.add(at);
            return null;
          }
          count += elements.length;
          walk.inside = true;
          return {
            root: at, number: ++lastPart, used, stale: false, seen: 0, elements, labels: [], captions: [],
            context: walk.context, decorated, disabling,
            styles: [], sights: [], displays: [], transforms: [], controls: [], states: [], pseudos: [], contents: [],
          };
        },

        close(part) {
          walk.inside = false;
          for (const at of part.elements) {
            partOf.set(at, part);
            const tag = localName.call(at);
            const style = getComputedStyle(at);
            if (part.stale) continue;
            if (isRestless(at, tag, style) || at === focused) part.stale = true;
            part.styles.push(style);
            part.sights.push(sight(at, style));
            part.displays.push(style.display);
            part.transforms.push(style.textTransform);
            if (tag === "li" && at === part.root && getAttribute.call(at, "role") !== null) part.stale = true;
            if (CONTROLS.has(tag)) {
              part.controls.push(at);
              part.states.push(stateOf(at, tag));
            }
            if (!part.decorated) continue;
            for (const which of ["::before", "::after"]) {
              const pseudo = getComputedStyle(at, which);
              const content = pseudo.content;
              if (content.includes("counter") || content.includes("quote")) part.stale = true;
              part.pseudos.push(pseudo);
              part.contents.push(`${content} ${pseudo.display}`);
            }
          }
          if (part.stale) spoil(part);
        },

        // Ends the walk; the number that it is kept under, 0 when it is not.
        end(cut) {
          if (cut || count > MOST_ELEMENTS) {
            forgetAll();
            return 0;
          }
          return used;
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
      if (focused !== null) pin(focused);
      walk.watch(document);
      return walk;
    },
  };
})
