// Makes the reader of a document for step traces. Evaluated once for each document in an isolated world, with
//   isSecret  the test of _page/scripts/secret_field.js
// The reader returns [version] if the document is as at its last reading, else [version, data, urls]: the number of the
// version, JSON of its nodes or changes, and the new URLs that it needs. The first version has all nodes (`whole`), later ones the changes (`ops`).
//   node    [number, tag, attributes, state, ...children]; text: [number, "#", text]
//   state   0, or { v value, c checked, i indeterminate, o selected options, y scroll position, p index of the frame,
//           u current source, w size, x rules of a style sheet, s shadow root: [number, mode, ...children] }
//   ops     ["t", number, text], ["a", number, attributes], ["s", number, state], ["h", number, shadow root],
//           ["k", number, start, removed, ...nodes] of children, ["d", number, ...sheets] that a root has adopted
// A MutationObserver reports changed nodes, so that an unchanged document costs little. The page can observe none of this.
(function (isSecret) {
  "use strict";

  const MOST_NODES = 200000;
  const MOST_CHANGES = 20000;
  const REDACTED = "[redacted]";
  const CONTROLS = new Set(["input", "textarea", "select"]);
  const CHILDLESS = new Set(["script", "noscript", "template", "iframe", "frame", "object", "embed", "canvas", "audio"]);
  const SIZED = new Set(["canvas", "object", "embed", "video", "audio"]);
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const HANDLER = /^on/i;

  const attributes = Object.getOwnPropertyDescriptor(Element.prototype, "attributes").get;
  const scrollLeft = Object.getOwnPropertyDescriptor(Element.prototype, "scrollLeft").get;
  const scrollTop = Object.getOwnPropertyDescriptor(Element.prototype, "scrollTop").get;
  const [inputType, inputValue, checked, indeterminate] = ["type", "value", "checked", "indeterminate"].map(
    (name) => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, name).get,
  );

  const numbers = new WeakMap(); // of nodes, for their whole lifetime
  let last = 0;
  let version = -1;
  let children = new WeakMap(); // element or root -> the numbers of its children in the last version
  let stateful = new Map(); // control, frame or scrolled element -> its state in the last version, for comparison
  let unshadowed = new Set(); // custom elements without a shadow root
  let roots = new Set();
  let facts = "";
  let written = 0;
  let fresh = null; // the nodes that this reading has written
  let whole = true;
  const changed = { kids: new Set(), attributes: new Set(), text: new Set() };
  const sheets = new WeakMap(); // of a style element: [number of rules, length of its text, whether scripts changed it]
  const adopted = new WeakMap(); // root -> the signature of its adopted sheets
  const urls = new Set();
  let newUrls = [];

  function numberOf(node) {
    let number = numbers.get(node);
    if (number === undefined) numbers.set(node, (number = ++last));
    return number;
  }

  function need(url) {
    if (url && !urls.has(url) && !url.startsWith("data:")) {
      urls.add(url);
      newUrls.push(url);
    }
  }

  function needOf(css) {
    if (!css.includes("url(")) return;
    for (const found of css.matchAll(/url\(\s*(["']?)(.*?)\1\s*\)/g)) {
      try {
        need(new URL(found[2], DOM.baseURI(document)).href);
      } catch {
        // not a URL
      }
    }
  }

  function attributesOf(element, tag) {
    const list = attributes.call(element);
    if (list.length === 0) return 0;
    const secret = (CONTROLS.has(tag) || element.isContentEditable === true) && isSecret(element);
    const pairs = [];
    for (let index = 0; index < list.length; index++) {
      const { name, value } = list[index];
      if (HANDLER.test(name)) continue;
      if (name === "style") needOf(value);
      pairs.push(name, secret && name === "value" && value ? REDACTED : value);
    }
    return pairs;
  }

  function frameIndex(element) {
    const inner = element.contentWindow;
    for (let index = 0; inner && index < window.length; index++) if (window[index] === inner) return index;
    return -1;
  }

  // The state of a control, frame, picture or scrolled element, without its shadow root.
  function stateOf(element, tag) {
    const state = {};
    if (CONTROLS.has(tag)) {
      if (tag === "select") {
        state.o = Array.from(element.selectedOptions, (option) => option.index);
        if (state.o.length && isSecret(element)) state.o = [];
      } else if (tag === "input" && (element.type === "checkbox" || element.type === "radio")) {
        if (element.checked) state.c = 1;
        if (element.indeterminate) state.i = 1;
      } else if (tag !== "input" || element.type !== "file") {
        const value = element.value;
        if (value) state.v = isSecret(element) ? "\u2022".repeat(Math.min(value.length, 8)) : value;
      }
    } else if (tag === "iframe" || tag === "frame") {
      state.p = frameIndex(element);
    } else if (tag === "img") {
      if (element.currentSrc) need((state.u = element.currentSrc));
    }
    if (SIZED.has(tag)) {
      const box = element.getBoundingClientRect();
      state.w = [Math.round(box.width), Math.round(box.height)];
      if (tag === "video") need(element.poster);
    }
    const left = scrollLeft.call(element);
    const top = scrollTop.call(element);
    if (left || top) state.y = [Math.round(left), Math.round(top)];
    return state;
  }

  // A value that changes with the state. A page can have thousands of boxes and inputs: theirs is quick to read.
  function comparable(element, tag) {
    if (tag !== "input") return JSON.stringify(stateOf(element, tag));
    const type = inputType.call(element);
    if (type === "checkbox" || type === "radio") return (checked.call(element) ? 1 : 0) + (indeterminate.call(element) ? 2 : 0);
    return type === "file" ? "" : inputValue.call(element);
  }

  function writeState(element, tag) {
    const known = CONTROLS.has(tag) || SIZED.has(tag) || tag === "iframe" || tag === "frame" || tag === "img";
    let state = 0;
    if (known || scrollTop.call(element) || scrollLeft.call(element)) {
      state = stateOf(element, tag);
      stateful.set(element, comparable(element, tag));
      if (Object.keys(state).length === 0) state = 0;
    }
    const root = DOM.shadowRoot(element);
    if (root) state = { ...state, s: writeRoot(root) };
    else if (tag.includes("-")) unshadowed.add(element);
    return state;
  }

  function writeRoot(root) {
    if (!roots.has(root)) {
      roots.add(root);
      observer.observe(root, WATCHED);
      root.addEventListener("scroll", noteScroll, { capture: true, passive: true });
    }
    const item = [numberOf(root), root.mode];
    writeChildren(root, item);
    return item;
  }

  function writeChildren(parent, item) {
    const list = DOM.childNodes(parent);
    const own = [];
    for (let index = 0; index < list.length; index++) {
      const child = write(list[index]);
      if (child !== null) {
        own.push(child[0]);
        item.push(child);
      }
    }
    children.set(parent, own);
  }

  function write(node) {
    const type = DOM.nodeType(node);
    if (type === 3 || type === 4) {
      fresh?.add(node);
      return [numberOf(node), "#", node.data];
    }
    if (type !== 1 || ++written > MOST_NODES) return null;
    fresh?.add(node);
    const tag = DOM.localName(node);
    const item = [numberOf(node), tag, attributesOf(node, tag), writeState(node, tag)];
    if (tag === "link" && node.relList?.contains("stylesheet")) need(node.href);
    if (tag === "image" && node.href?.baseVal) need(new URL(node.href.baseVal, DOM.baseURI(document)).href);
    if (tag === "style") needOf(DOM.textContent(node));
    if (tag === "textarea" && isSecret(node)) children.set(node, []);
    else if (!CHILDLESS.has(tag)) writeChildren(node, item);
    else children.set(node, []);
    return item;
  }

  // --- changes -----------------------------------------------------------------------------------------------

  function note(records) {
    for (const { type, target } of records) {
      if (type === "childList") changed.kids.add(target);
      else if (type === "attributes") changed.attributes.add(target);
      else changed.text.add(target);
    }
    if (changed.kids.size + changed.attributes.size + changed.text.size > MOST_CHANGES) begin();
  }

  function begin() {
    whole = true;
    for (const set of Object.values(changed)) set.clear();
  }

  function noteScroll(event) {
    if (event.target instanceof Element && !stateful.has(event.target)) stateful.set(event.target, null);
  }

  const observer = new MutationObserver(note);

  function shown(node) {
    return numbers.has(node) && DOM.isConnected(node) && !fresh.has(node);
  }

  function writeChanges(ops) {
    for (const parent of changed.kids) {
      const before = children.get(parent);
      if (before === undefined || !DOM.isConnected(parent) || fresh.has(parent)) continue;
      if (DOM.nodeType(parent) === 1 && CHILDLESS.has(DOM.localName(parent))) continue;
      writeSplice(parent, before, ops);
    }
    for (const element of changed.attributes) {
      if (!shown(element)) continue;
      const tag = DOM.localName(element);
      ops.push(["a", numbers.get(element), attributesOf(element, tag)]);
      if (tag === "img" || CONTROLS.has(tag) || tag === "iframe") stateful.set(element, null); // may be secret no longer
      if (tag === "link" && element.relList?.contains("stylesheet")) need(element.href);
    }
    for (const text of changed.text) {
      if (DOM.nodeType(text) !== 3 || !shown(text)) continue;
      const parent = DOM.parentElement(text);
      if (parent !== null && CHILDLESS.has(DOM.localName(parent))) continue;
      ops.push(["t", numbers.get(text), text.data]);
    }
    for (const element of unshadowed) {
      const root = DOM.shadowRoot(element);
      if (!DOM.isConnected(element)) unshadowed.delete(element);
      else if (root) {
        unshadowed.delete(element);
        if (!fresh.has(element)) ops.push(["h", numbers.get(element), writeRoot(root)]);
      }
    }
    const removed = changed.kids.size > 0;
    for (const [element, before] of stateful) {
      if (removed && !DOM.isConnected(element)) {
        stateful.delete(element);
        continue;
      }
      const tag = DOM.localName(element);
      const now = comparable(element, tag);
      if (now === before) continue;
      stateful.set(element, now);
      if (shown(element)) ops.push(["s", numbers.get(element), stateOf(element, tag)]);
    }
  }

  // The part of the children between the unchanged ones at both ends.
  function writeSplice(parent, before, ops) {
    const list = [...DOM.childNodes(parent)].filter((node) => {
      const type = DOM.nodeType(node);
      return type === 1 || type === 3 || type === 4;
    });
    let start = 0;
    while (start < before.length && start < list.length && numbers.get(list[start]) === before[start]) start++;
    let end = 0;
    const most = Math.min(before.length, list.length) - start;
    while (end < most && numbers.get(list[list.length - 1 - end]) === before[before.length - 1 - end]) end++;
    const removed = before.length - start - end;
    const nodes = list.slice(start, list.length - end).map(write).filter((node) => node !== null);
    if (removed === 0 && nodes.length === 0) return;
    children.set(parent, [...before.slice(0, start), ...nodes.map((node) => node[0]), ...before.slice(before.length - end)]);
    ops.push(["k", numbers.get(parent), start, removed, ...nodes]);
  }

  // Rules that scripts added to a <style>, and adopted sheets. Chrome hides the rules of other origins.
  function writeSheets(ops, all) {
    for (const root of [document, ...roots]) {
      if (root !== document && !DOM.isConnected(root)) {
        roots.delete(root);
        continue;
      }
      for (const sheet of DOM.styleSheets(root)) {
        const owner = sheet.ownerNode;
        if (!(owner instanceof HTMLStyleElement) || !numbers.has(owner)) continue;
        const rules = sheet.cssRules.length;
        const length = DOM.textContent(owner).length;
        const known = sheets.get(owner) ?? [rules, length, false];
        const script = known[2] || (rules > 0 && length === 0) || (length === known[1] && rules !== known[0]);
        if (script && (!known[2] || rules !== known[0] || all)) ops.push(["s", numbers.get(owner), { x: rulesOf(sheet) }]);
        sheets.set(owner, [rules, length, script]);
      }
      const own = DOM.adoptedStyleSheets(root) ?? [];
      const signature = own.map((sheet) => `${numberOf(sheet)}:${sheet.cssRules.length}:${lastRule(sheet)}`).join();
      if (signature !== (adopted.get(root) ?? "") || (all && own.length > 0)) {
        adopted.set(root, signature);
        ops.push(["d", numberOf(root), ...own.map(rulesOf)]);
      }
    }
  }

  const lastRule = (sheet) => sheet.cssRules[sheet.cssRules.length - 1]?.cssText.length ?? 0;

  function rulesOf(sheet) {
    const css = Array.from(sheet.cssRules, (rule) => rule.cssText).join("\n");
    needOf(css);
    return css;
  }

  function readFacts() {
    let index = -1;
    try {
      for (let at = 0; parent !== window && at < parent.length; at++) if (parent[at] === window) index = at;
    } catch {
      // the parent is gone
    }
    const short = (url) => (url.startsWith("data:") ? url.slice(0, 80) : url);
    return {
      url: short(location.href),
      base: short(DOM.baseURI(document)),
      title: DOM.title(document),
      quirks: document.compatMode === "BackCompat",
      view: [innerWidth, innerHeight],
      ratio: devicePixelRatio,
      scroll: [Math.round(scrollX), Math.round(scrollY)],
      index,
    };
  }

  function read() {
    note(observer.takeRecords());
    written = 0;
    newUrls = [];
    const found = {};
    const ops = [];
    const all = whole;
    whole = true; // if this reading is terminated
    if (all) {
      children = new WeakMap();
      stateful = new Map();
      unshadowed = new Set();
      roots = new Set();
      fresh = null;
      const item = [numberOf(document), "#document", 0, 0];
      writeChildren(document, item);
      found.whole = item;
      if (written > MOST_NODES) found.cut = true;
    } else {
      fresh = new Set();
      writeChanges(ops);
    }
    writeSheets(ops, all);
    for (const set of Object.values(changed)) set.clear();
    whole = false;
    fresh = null;
    const now = readFacts();
    const text = JSON.stringify(now);
    if (text === facts && ops.length === 0 && !found.whole) return [version];
    facts = text;
    found.facts = now;
    if (ops.length > 0) found.ops = ops;
    return [++version, JSON.stringify(found), newUrls];
  }

  observer.observe(document, WATCHED);
  DOM.addEventListener(document, "scroll", noteScroll, { capture: true, passive: true });

  return function (request) {
    if (request.do === "read") return read();
    if (request.do === "numbers") return request.elements.map((element) => (element && numbers.get(element)) ?? 0);
    observer.disconnect();
    return null;
  };
})
