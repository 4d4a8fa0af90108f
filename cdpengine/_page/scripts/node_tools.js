// Functions about a node and the tree around it, for the engine's other functions.
// Called with a node (an element, a document or a text node) in an isolated world. Changes nothing in the page.
(function (node, known) {
  "use strict";

  const TEXT_LIMIT = 40;
  const MOST_BOX = 60; // maximum height of a combobox, in CSS pixels: two lines
  const BOX_LEVELS = 4;
  const FIELDS = "input:not([type=hidden]), select, textarea, [contenteditable], [role~=combobox], [role~=textbox]";
  const MOST_INSIDE = 100; // maximum number of descendants that are measured
  // Elements inside of a label that handle a press themselves, so that the label does not forward it to its
  // control.
  const TAKING = [
    "a[href]", "area[href]", "button", "input", "select", "textarea", "summary", "iframe", "embed", "object",
    "audio[controls]", "video[controls]", "[tabindex]", "[contenteditable]:not([contenteditable=false])", "[onclick]",
    "[role=button i]", "[role=link i]", "[role=checkbox i]", "[role=switch i]", "[role=combobox i]", "[role=textbox i]",
  ].join();
  const { matches, querySelectorAll, checkVisibility } = Element.prototype;

  // A pseudo element that can be pressed, such as the button or marker of a carousel. Its events target its
  // element. Chrome represents it as an element or as a CSSPseudoElement, which is no Node.
  const drawn = !isNode(node);
  const type = drawn ? 0 : DOM.nodeType(node);
  const pseudo = type === 0 || (type === Node.ELEMENT_NODE && DOM.localName(node).startsWith("::"));
  const element = pseudo
    ? drawn
      ? node.element
      : DOM.parentElement(node)
    : type === Node.ELEMENT_NODE
      ? node
      : type === Node.DOCUMENT_NODE
        ? DOM.documentElement(node)
        : flatParent(node);

  // A node from another frame's document is not an instance of this world's Node.
  function isNode(at) {
    try {
      return DOM.nodeType(at) > 0;
    } catch {
      return false;
    }
  }

  function flatParent(child) {
    if (DOM.assignedSlot(child)) return DOM.assignedSlot(child);
    if (DOM.parentElement(child)) return DOM.parentElement(child);
    const root = DOM.parentNode(child);
    return root instanceof ShadowRoot ? root.host : null;
  }

  function* flatAncestors(start) {
    for (let at = start; at; at = flatParent(at)) yield at;
  }

  // Whether the element's text is displayed as dots.
  const isVeiled = (of) => getComputedStyle(of).webkitTextSecurity !== "none";

  function shortText(of) {
    // Only text from the markup, never user input.
    if (DOM.matches(of, "input, textarea, select, script, style") || isVeiled(of)) return "";
    const walker = DOM.createTreeWalker(document, of, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let steps = 0; steps < 50 && text.length <= TEXT_LIMIT && walker.nextNode(); steps++) {
      const parent = DOM.parentElement(walker.currentNode);
      if (parent && (DOM.matches(parent, "script, style, textarea, option") || isVeiled(parent))) continue;
      text = (text + " " + walker.currentNode.data.slice(0, 200)).replace(/\s+/g, " ").trim();
    }
    return text.length > TEXT_LIMIT ? text.slice(0, TEXT_LIMIT) + "…" : text;
  }

  function describe(of) {
    let name = DOM.localName(of);
    const id = DOM.getAttribute(of, "id");
    if (id) name += "#" + id;
    for (const token of Array.from(DOM.classList(of)).slice(0, 3)) name += "." + token;
    const label = DOM.getAttribute(of, "aria-label") || shortText(of) || DOM.getAttribute(of, "title") || "";
    return label ? name + " '" + label.slice(0, TEXT_LIMIT + 1) + "'" : name;
  }

  // The image of an <area>, which has no box itself.
  function imageOf(area) {
    const map = DOM.localName(area) === "area" ? DOM.closest(area, "map") : null;
    const uses = (image) => map && image.useMap.replace(/^.*#/, "") === map.name;
    return map ? Array.from(DOM.querySelectorAll(DOM.getRootNode(map), "img[usemap]")).find(uses) ?? null : null;
  }

  // The bounding rectangle of an <area>'s shape. Of the image's transforms, only scaling is supported.
  function areaRect(area) {
    const image = imageOf(area);
    if (!image) return null;
    const box = DOM.getBoundingClientRect(image);
    const scale = DOM.offsetWidth(image) ? box.width / DOM.offsetWidth(image) : 1;
    const style = getComputedStyle(image);
    const left = box.x + scale * (DOM.clientLeft(image) + parseFloat(style.paddingLeft));
    const top = box.y + scale * (DOM.clientTop(image) + parseFloat(style.paddingTop));
    const numbers = (area.coords.match(/-?[\d.]+/g) ?? []).map(Number);
    const shape = area.shape.toLowerCase();
    if (shape === "default" || numbers.length < 3) return box;
    const [x, y, radius] = numbers;
    const corners = shape.startsWith("circ") ? [x - radius, y - radius, x + radius, y + radius] : numbers;
    const across = corners.filter((_, index) => index % 2 === 0);
    const down = corners.filter((_, index) => index % 2 === 1);
    const [first, second] = [Math.min(...across), Math.min(...down)];
    const [width, height] = [Math.max(...across) - first, Math.max(...down) - second];
    return new DOMRect(left + scale * first, top + scale * second, scale * width, scale * height);
  }

  const hasArea = (box) => box.width > 0 && box.height > 0;

  function meet(one, other) {
    const [left, top] = [Math.max(one.left, other.left), Math.max(one.top, other.top)];
    const [right, bottom] = [Math.min(one.right, other.right), Math.min(one.bottom, other.bottom)];
    return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top));
  }

  // The box of a positioned ::before or ::after. A stylesheet may stretch it over an ancestor.
  function pseudoRect(which) {
    const style = getComputedStyle(element, which);
    if (style.content === "none" || style.content === "normal" || !/^(absolute|fixed)$/.test(style.position)) return null;
    const number = (name) => parseFloat(style[name]) || 0;
    const sum = (...names) => (style.boxSizing === "border-box" ? 0 : names.reduce((all, each) => all + number(each), 0));
    const width = number("width") + sum("paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth");
    const height = number("height") + sum("paddingTop", "paddingBottom", "borderTopWidth", "borderBottomWidth");
    let around = style.position === "fixed" ? null : element;
    while (around && !holdsPositioned(getComputedStyle(around))) around = flatParent(around);
    const box = around ? DOM.getBoundingClientRect(around) : new DOMRect(0, 0, innerWidth, innerHeight);
    const [left, top] = around ? [DOM.clientLeft(around), DOM.clientTop(around)] : [0, 0];
    return new DOMRect(box.left + left + number("left"), box.top + top + number("top"), width, height);
  }

  const holdsPositioned = (style) =>
    style.position !== "static" || style.transform !== "none" || style.filter !== "none" || style.contain.includes("paint");

  // The boxes of the content of an element without a size, such as floated or positioned children. The largest
  // comes first.
  function innerRects() {
    const found = ["::before", "::after"].map(pseudoRect).filter((box) => box && hasArea(box));
    for (const at of Array.prototype.slice.call(querySelectorAll.call(element, "*"), 0, MOST_INSIDE)) {
      if (!checkVisibility.call(at, { visibilityProperty: true })) continue;
      for (let box of DOM.getClientRects(at)) {
        for (let above = flatParent(at); above; above = flatParent(above)) {
          const { overflowX, display } = getComputedStyle(above);
          if (overflowX !== "visible" && display !== "inline") box = meet(box, DOM.getBoundingClientRect(above));
          if (above === element) break;
        }
        if (hasArea(box)) found.push(box);
      }
    }
    return found.sort((one, other) => other.width * other.height - one.width * one.height);
  }

  function rects() {
    if (pseudo) return []; // only the protocol provides its boxes
    const shape = areaRect(element);
    if (shape) return [shape];
    if (DOM.nodeType(node) === Node.ELEMENT_NODE && getComputedStyle(node).display !== "contents") {
      const own = Array.from(DOM.getClientRects(node));
      if (own.length === 0 || own.some(hasArea)) return own;
      const inner = innerRects();
      return inner.length ? inner.slice(0, 1) : own;
    }
    const range = DOM.createRange(document);
    range.selectNodeContents(DOM.nodeType(node) === Node.DOCUMENT_NODE ? element : node);
    const boxes = Array.from(range.getClientRects());
    // Slotted elements are not children of the slot, so the range does not include them.
    const slotted = DOM.localName(node) === "slot" ? node.assignedElements({ flatten: true }) : [];
    return boxes.concat(...slotted.map((each) => Array.from(DOM.getClientRects(each))));
  }

  function roots() {
    const chain = [];
    for (let root = DOM.getRootNode(element); ; root = DOM.getRootNode(root.host)) {
      chain.unshift(root);
      if (!(root instanceof ShadowRoot)) return chain;
    }
  }

  // The innermost element at a point, through open shadow roots and all roots that contain the node. Elements
  // inside of `without` are ignored.
  function elementAt(x, y, chain = roots(), without = null) {
    let hit = DOM.elementFromPoint(document, x, y);
    if (without && DOM.contains(without, hit)) hit = DOM.elementsFromPoint(document, x, y).find((at) => !DOM.contains(without, at)) ?? null;
    while (hit) {
      const at = hit;
      const root = chain.find((known) => known.host === at) || DOM.shadowRoot(at);
      const inner = root && DOM.elementFromPoint(root, x, y);
      if (!inner || inner === at || DOM.getRootNode(inner) !== root) break;
      hit = inner;
    }
    return hit;
  }

  const isLabel = element !== null && DOM.localName(element) === "label";
  const takes = (at) => at !== (isLabel ? element.control : element) && matches.call(at, TAKING);

  // The box of a combobox, with the placeholder and the chips drawn over its input; null for other elements.
  function comboboxBox() {
    const popup = ["listbox", "tree", "grid"].includes(DOM.getAttribute(element, "aria-haspopup"));
    if (!(element instanceof HTMLInputElement) || !(popup || DOM.getAttribute(element, "role") === "combobox")) return null;
    const most = Math.max(MOST_BOX, 3 * element.offsetHeight);
    let box = null;
    for (let at = flatParent(element), level = 0; at instanceof HTMLElement && level < BOX_LEVELS; at = flatParent(at), level++) {
      const fields = Array.from(DOM.querySelectorAll(at, FIELDS)).filter((each) => each !== element && each.tabIndex >= 0);
      if (at instanceof HTMLFormElement || at === DOM.body(document) || at.offsetHeight > most || fields.length > 0) break;
      box = at;
    }
    return box;
  }

  // Whether a press hits the combobox's box, on an element that is neither interactive nor larger than the box.
  function isInBox(path) {
    const box = comboboxBox();
    const at = box ? path.indexOf(box) : -1;
    const isOther = (each) => each instanceof Element && !DOM.contains(each, element);
    if (at < 0 || path.slice(0, at).some((each) => isOther(each) && takes(each))) return false;
    const [inner, outer] = [DOM.getBoundingClientRect(path[0]), DOM.getBoundingClientRect(box)];
    return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1 && inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  }

  // Whether an event on this path of elements, innermost first, acts on the node. A click on a label clicks its
  // control, unless it hits a link, button or field inside of the label.
  function reaches(path) {
    if (pseudo) return path[Symbol.iterator]().next().value === element;
    const passed = Array.from(path);
    let taken = false;
    for (const at of passed) {
      if (at === element) return !(isLabel && taken);
      if (at instanceof HTMLLabelElement && at.control === element) return !taken;
      taken = taken || (at instanceof Element && takes(at));
    }
    return isInBox(passed);
  }

  const receives = (hit) => reaches(flatAncestors(hit));

  // The elements inside of the label (the node) that handle a press themselves.
  function takers() {
    return isLabel ? Array.from(querySelectorAll.call(element, TAKING)).filter((at) => at !== element.control) : [];
  }

  // The request's points in this document. They are fractions of its viewport, or CSS pixels of the visual
  // viewport. Under pinch zoom, hit tests still use the layout viewport's coordinates.
  function pointsOf(request) {
    if (request.fractions) return request.points.map(([x, y]) => [x * innerWidth, y * innerHeight]);
    const { offsetLeft, offsetTop } = visualViewport;
    return request.points.map(([x, y]) => [x + offsetLeft, y + offsetTop]);
  }

  const EDITORS = ".monaco-editor, .CodeMirror, .cm-editor, .ace_editor";
  const INPUTS =
    ".monaco-editor .native-edit-context, .monaco-editor textarea.inputarea, .CodeMirror > div > textarea, " +
    ".CodeMirror-code[contenteditable], .cm-editor .cm-content, .ace_editor > textarea.ace_text-input";

  // The input of the code editor, for a node that is the editor or its input; null for other nodes. The input
  // receives the editor's keys and may show only part of its text, or none.
  function editorInput() {
    if (DOM.matches(element, INPUTS)) return element;
    return DOM.matches(element, EDITORS) ? DOM.querySelector(element, INPUTS) : null;
  }

  // The entry of an observer (see input_observer.js), created on the first request. Ending the observer removes
  // the entry, and a probe that arrives later arms nothing.
  function expected(id) {
    const { observers } = known;
    if (!observers.has(id)) {
      observers.set(id, { record: null, waiting: [], done: false, meant: () => false, settle() {}, unlisten() {} });
    }
    return observers.get(id);
  }

  // The record is kept for a while: if a termination hit the report, the engine requests it again.
  function ended(id) {
    const observer = known.observers.get(id);
    observer.unlisten();
    known.last = { id, record: observer.record };
    known.observers.delete(id);
  }

  return {
    expected, ended, lastEnded: () => known.last, element, imageOf, areaRect, flatParent, flatAncestors, describe, rects, roots, elementAt, reaches,
    receives, pointsOf, pseudo, innerRects, takers, hasArea, editorInput,
  };
})
