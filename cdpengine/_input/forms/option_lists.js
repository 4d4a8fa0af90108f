// Creates functions about lists for listbox.js: the list of a control, its options and their labels, and its
// scroller. Trees count as lists. All functions follow the flat tree: open shadow roots and slotted elements.
(function () {
  "use strict";

  const LISTS = ["listbox", "tree"];
  const OPTIONS = ["option", "treeitem"];
  const NEAR = 200; // maximum distance in CSS pixels between a control and a list that it does not reference
  const MOST_AROUND = 4; // number of ancestors of a list that may be its popup

  const plain = (text) => (text || "").replace(/[\s\u200b]+/g, " ").trim();
  const roleOf = (each) => (DOM.getAttribute(each, "role") || "").trim().split(/\s+/)[0];
  const isList = (each) => LISTS.includes(roleOf(each));
  const isOption = (each) => OPTIONS.includes(roleOf(each));
  const shown = (each) => DOM.checkVisibility(each, { visibilityProperty: true, contentVisibilityAuto: true });
  const isBoxless = (each) => DOM.localName(each) === "slot" || getComputedStyle(each).display === "contents";

  // Whether the element takes up space, regardless of running animations.
  function boxed(each) {
    const { offsetWidth, offsetHeight } = each;
    if (offsetWidth === undefined) return shown(each) && DOM.getBoundingClientRect(each).width > 1;
    return offsetWidth > 1 && offsetHeight > 1 && shown(each);
  }

  function flatParent(child) {
    const root = DOM.parentNode(child);
    return DOM.assignedSlot(child) || (root instanceof ShadowRoot ? root.host : DOM.parentElement(child));
  }

  function* flatAncestors(start) {
    for (let at = start; at; at = flatParent(at)) yield at;
  }

  function nodesIn(of) {
    const slotted = DOM.localName(of) === "slot" ? of.assignedNodes({ flatten: true }) : [];
    return slotted.length ? slotted : DOM.childNodes(DOM.shadowRoot(of) || of);
  }

  // All descendant elements in order.
  function flat(of, found = []) {
    for (const each of nodesIn(of)) {
      if (DOM.nodeType(each) !== Node.ELEMENT_NODE) continue;
      found.push(each);
      flat(each, found);
    }
    return found;
  }

  const isIn = (each, of) => Array.from(flatAncestors(each)).includes(of);

  // The element's label without those of nested items.
  function words(of) {
    let text = "";
    for (const each of nodesIn(of)) {
      if (DOM.nodeType(each) === Node.TEXT_NODE) text += each.data;
      else if (DOM.nodeType(each) === Node.ELEMENT_NODE && !/^(script|style|svg)$/.test(DOM.localName(each))) {
        if (!isOption(each) && roleOf(each) !== "group" && (shown(each) || isBoxless(each))) text += " " + words(each);
      }
    }
    return text;
  }

  function label(option) {
    const named = plain(DOM.getAttribute(option, "aria-label"));
    const nested = roleOf(option) === "treeitem" || DOM.localName(option) === "slot";
    return named || (!nested && plain(DOM.innerText(option))) || plain(words(option)) || plain(DOM.textContent(option));
  }

  const ownText = (each) =>
    plain(Array.from(DOM.childNodes(each), (node) => (DOM.nodeType(node) === Node.TEXT_NODE ? node.data : "")).join(" "));

  function values(option) {
    const root = DOM.getRootNode(option);
    const bearers = root instanceof ShadowRoot ? [option, root.host] : [option];
    return bearers.flatMap((each) => [DOM.getAttribute(each, "data-value"), DOM.getAttribute(each, "value")]);
  }

  function roots(of) {
    const chain = [];
    for (let root = DOM.getRootNode(of); ; root = DOM.getRootNode(root.host)) {
      chain.push(root);
      if (!(root instanceof ShadowRoot)) return chain;
    }
  }

  function byIds(of, name) {
    const ids = (DOM.getAttribute(of, name) || "").split(/\s+/).filter(Boolean);
    return ids.map((id) => roots(of).map((root) => DOM.nodeType(root) === Node.ELEMENT_NODE ? null : DOM.getElementById(root, id)).find(Boolean)).filter(Boolean);
  }

  const first = (of, test) => flat(of).find(test) || null;

  // The distance between two boxes, 0 if they touch.
  function gap(one, other) {
    const [a, b] = [DOM.getBoundingClientRect(one), DOM.getBoundingClientRect(other)];
    const across = Math.max(0, a.left - b.right, b.left - a.right);
    return across + Math.max(0, a.top - b.bottom, b.top - a.bottom);
  }

  // The elements that may reference the list: the control, its descendants and its nearest ancestors.
  function openers(element) {
    const names = "[aria-controls], [aria-owns]";
    const around = Array.from(flatAncestors(element)).slice(1, MOST_AROUND);
    return [element, ...DOM.querySelectorAll(element, names), ...around.filter((each) => DOM.matches(each, names))];
  }

  // Whether the element is not a list or option itself, or contains another list that it opens.
  const isOpener = (element) => !isOption(element) && (!isList(element) || flat(element).some(isList));

  // The list of a control: the element itself, the list that it references, a list inside, or the nearest
  // visible list.
  function listOf(element) {
    if (isList(element) && !isOpener(element)) return element;
    if (isOption(element)) return Array.from(flatAncestors(element)).find(isList) || null;
    for (const opener of openers(element)) {
      for (const each of [...byIds(opener, "aria-controls"), ...byIds(opener, "aria-owns")]) {
        const found = isList(each) ? each : first(each, isList) || (first(each, isOption) ? each : null);
        if (found) return found;
      }
    }
    // A control may also show its choices in a list. The list of options is the longer one.
    const inside = flat(element).filter(isList).map((each) => [each, options(each).length + (shown(each) ? 0.5 : 0)]);
    if (inside.length) return inside.reduce((one, other) => (other[1] > one[1] ? other : one))[0];
    if (DOM.getAttribute(element, "aria-expanded") === "false") return null; // its list does not exist yet
    const selector = LISTS.map((role) => `[role~=${role}]`).join();
    const others = roots(element).flatMap((root) => Array.from(DOM.querySelectorAll(root, selector)));
    const near = others.filter((each) => boxed(holder(each)) && options(each).length > 0 && gap(each, element) <= NEAR && !isNamed(each, openers(element)));
    near.sort((one, other) => gap(one, element) - gap(other, element));
    return near[0] || null;
  }

  // Whether another control references the list.
  function isNamed(list, own) {
    const root = DOM.getRootNode(list);
    const id = list.id && CSS.escape(list.id);
    const named = id ? Array.from(DOM.querySelectorAll(root, `[aria-controls~="${id}"], [aria-owns~="${id}"]`)) : [];
    return named.some((each) => !own.includes(each));
  }

  function options(list) {
    if (!list) return [];
    const found = flat(list).filter(isOption);
    const owned = byIds(list, "aria-owns").flatMap((each) => [each, ...flat(each)]).filter(isOption);
    return [...found, ...owned.filter((each) => !found.includes(each))];
  }

  const isRoot = (each) => each === DOM.body(document) || each === DOM.documentElement(document);

  // The visible element of a list. A list for assistive technology only takes up no space, and neither do its
  // options. A neighbouring element is visible instead.
  function holder(list) {
    return Array.from(flatAncestors(list)).slice(0, MOST_AROUND).find((each) => !isRoot(each) && boxed(each)) || list;
  }

  // The visible element of an option: the option itself, or an element with the same text in the same popup.
  function seen(list, option, text) {
    if (option && boxed(option)) return option;
    const all = options(list);
    if (!text || all.length === 0 || all.some(boxed)) return option;
    const around = holder(list);
    for (const each of around === list ? [] : flat(around)) {
      if (!isIn(each, list) && boxed(each) && ownText(each) === text) return each;
    }
    return option;
  }

  function isScroller(each) {
    return each.scrollHeight > each.clientHeight + 1 && each.clientHeight > 1 && getComputedStyle(each).overflowY !== "visible";
  }

  // The element that scrolls the options of a list, or null.
  function scroller(list) {
    if (!list) return null;
    const around = holder(list);
    const up = Array.from(flatAncestors(options(list).find(boxed) || around));
    const least = up.indexOf(around) + MOST_AROUND;
    const found = up.slice(0, least).find((each) => !isRoot(each) && isScroller(each));
    return found || first(around, isScroller);
  }

  return { plain, roleOf, isList, isOption, isOpener, shown, boxed, flat, flatAncestors, flatParent, isIn, isBoxless, label, ownText, values, roots, listOf, options, holder, seen, scroller };
})
