// Content that a person can see or use and that Chrome's accessibility tree lacks: controls hidden behind
// their labels, areas of image maps, and visible content under aria-hidden. A part of walk.js, which calls it
// once with `dom`, its document readers, `elements`, and `listens`, a function that returns whether an
// element listens to presses.
//
// Under aria-hidden, text with a letter or digit counts, and so do elements that can be acted on. Not
// counted:
// - pictures, icons, letters of icon fonts, punctuation;
// - text that repeats its surroundings;
// - links without text that the Tab key skips, or that lead to a place in the page;
// - invisible content: transparent, clipped, without a size, off the page, behind an open dialog.
(function (dom, elements, listens) {
  "use strict";

  const HIDEABLE = new Set(["radio", "checkbox", "file"]);
  const SCRIPTED = "input[aria-labelledby]";
  const ACTING = [
    "a[href]", "button", "input:not([type=hidden])", "select", "textarea", "summary", "iframe", "video[controls]",
    "audio[controls]", "[contenteditable]:not([contenteditable=false])", "[tabindex]:not([tabindex^='-'])",
    ...["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "option", "textbox", "combobox", "slider"].map(
      (role) => `[role=${role}]`,
    ),
  ].join();
  const WORDY = /[\p{L}\p{N}]/u;
  const UNWORDY = /[^\p{L}\p{N}]+/gu;
  const ICON_FONT = /icon|symbol|awesome|glyph/i;
  const ICON_NAME = /^\s*[\w-]{1,40}\s*$/;
  const DIALOGS = "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]";
  const SILENT = new Set(["script", "style", "template", "noscript", "svg", "canvas", "img", "video", "audio", "datalist"]);
  const INLINE = /^(?:inline|contents)/;
  const MOST = 400; // nodes per root that are checked
  const MOST_POINTS = 5; // boxes to test against a dialog
  const LONGEST = 300; // characters that are compared with the surroundings
  const LONGEST_AROUND = 3000;
  const SEEN = { opacityProperty: true, visibilityProperty: true };

  const { flatParent, query, byId, ofDocument, getter, getAttribute, getRootNode, contains, closedRootOf } = dom;
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const parentNode = getter(Node.prototype, "parentNode");
  const { assignedNodes } = HTMLSlotElement.prototype;
  const textContent = getter(Node.prototype, "textContent");
  const { checkVisibility, getBoundingClientRect, matches, closest, querySelectorAll } = Element.prototype;

  // --- controls behind labels -------------------------------------------------------------------------------------

  const isHidden = (control) => !checkVisibility.call(control, { visibilityProperty: true });

  // The control that is hidden behind a label; null if none exists.
  function controlOf(label) {
    const { control } = label;
    if (control === null || localName.call(control) !== "input" || !HIDEABLE.has(control.type)) return null;
    return isHidden(control) ? control : null;
  }

  // Collects from a root element -> the hidden control without a label that takes its name from the element.
  function findScripted(root, found) {
    for (const control of query(root, SCRIPTED)) {
      if (!HIDEABLE.has(control.type) || !isHidden(control) || control.labels.length) continue;
      for (const id of getAttribute.call(control, "aria-labelledby").split(/\s+/)) {
        const target = byId(getRootNode.call(control), id);
        if (target && !found.has(target) && !matches.call(target, ACTING)) found.set(target, control);
      }
    }
  }

  // --- image maps -------------------------------------------------------------------------------------------------

  // The areas of an image that can be pressed. A map belongs to the first image that uses it.
  function areasOf(image) {
    const name = getAttribute.call(image, "usemap").replace(/^.*?#/, "");
    if (name === "" || (image.complete && image.naturalWidth === 0)) return [];
    const root = getRootNode.call(image);
    const users = Array.from(query(root, "img[usemap]"));
    const first = users.find((each) => getAttribute.call(each, "usemap").replace(/^.*?#/, "") === name);
    const map = Array.from(query(root, "map")).find((each) => each.name === name);
    return first === image && map ? Array.from(query(map, "area")) : [];
  }

  // The bounding box of an area in its image. Only scaling of the image is taken into account, no other
  // transforms.
  function boxOfArea(area, image) {
    const outer = getBoundingClientRect.call(image);
    const numbers = (area.coords.match(/-?[\d.]+/g) ?? []).map(Number);
    const shape = area.shape.toLowerCase();
    if (shape === "default" || numbers.length < 3) return outer;
    const [x, y, radius] = numbers;
    const corners = shape.startsWith("circ") ? [x - radius, y - radius, x + radius, y + radius] : numbers;
    const across = corners.filter((_, index) => index % 2 === 0);
    const down = corners.filter((_, index) => index % 2 === 1);
    const { scale, left, top } = contentOf(image, outer);
    const box = meet(outer, {
      left: left + scale * Math.min(...across),
      top: top + scale * Math.min(...down),
      right: left + scale * Math.max(...across),
      bottom: top + scale * Math.max(...down),
    });
    return new DOMRect(box.left, box.top, Math.max(0, box.right - box.left), Math.max(0, box.bottom - box.top));
  }

  function contentOf(image, outer) {
    const scale = image.offsetWidth ? outer.width / image.offsetWidth : 1;
    const style = getComputedStyle(image);
    const left = outer.left + scale * (image.clientLeft + (parseFloat(style.paddingLeft) || 0));
    const top = outer.top + scale * (image.clientTop + (parseFloat(style.paddingTop) || 0));
    return { scale, left, top };
  }

  // --- aria-hidden ------------------------------------------------------------------------------------------------

  function meet(box, edge) {
    const [left, top] = [Math.max(box.left, edge.left), Math.max(box.top, edge.top)];
    const [right, bottom] = [Math.min(box.right, edge.right), Math.min(box.bottom, edge.bottom)];
    return { left, top, right, bottom };
  }

  // The part of an element's box that is visible, possibly after scrolling; null if no part is.
  function seenBox(at) {
    if (!checkVisibility.call(at, SEEN)) return null;
    let box = getBoundingClientRect.call(at);
    const style = getComputedStyle(at);
    if (style.clip === "rect(0px, 0px, 0px, 0px)" || /^inset\((?:50|100)%/.test(style.clipPath)) return null;
    if (box.width <= 1 || box.height <= 1 || box.right + scrollX <= 0 || box.bottom + scrollY <= 0) {
      return style.display === "contents" || box.width * box.height === 0 ? boxOfText(at) : null;
    }
    for (let above = flatParent(at); above !== null; above = flatParent(above)) {
      const { overflowX, overflowY, display, position } = getComputedStyle(above);
      const cuts = (edge) => edge === "hidden" || edge === "clip";
      if (INLINE.test(display) && display !== "inline-block") continue;
      if (above !== ofDocument("body") && above !== ofDocument("documentElement") && (cuts(overflowX) || cuts(overflowY))) {
        box = meet(box, getBoundingClientRect.call(above));
        if (box.right - box.left <= 1 || box.bottom - box.top <= 1) return null;
      }
      if (position === "fixed") break;
    }
    return box;
  }

  // The box of an inline element's text, if it lies outside the element's own box.
  function boxOfText(at) {
    const range = new Range();
    range.selectNodeContents(at);
    const box = range.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0 ? box : null;
  }

  const isIcon = (at, text) => ICON_NAME.test(text) && ICON_FONT.test(getComputedStyle(at).fontFamily);
  const plainWords = (text) => text.replace(UNWORDY, "").toLowerCase();

  // Whether the element can be acted on and is not a duplicate of the link next to it.
  function acts(at, tag) {
    if (!matches.call(at, ACTING)) return listens(at);
    if (tag !== "a" || WORDY.test(textContent.call(at))) return true;
    const passed = getAttribute.call(at, "tabindex");
    return !(passed !== null && passed.startsWith("-")) && !getAttribute.call(at, "href").startsWith("#");
  }

  // Whether the surroundings of an element contain the same words.
  function isRepeatedAround(root, words) {
    let around = flatParent(root);
    for (let level = 0; around !== null && level < 4; level++) {
      if (!INLINE.test(getComputedStyle(around).display) || matches.call(around, ACTING)) break;
      around = flatParent(around) ?? around;
    }
    if (around === null) return false;
    const all = textContent.call(around);
    if (all.length > LONGEST_AROUND) return false;
    let said = all.replace(textContent.call(root), " ");
    for (let at = flatParent(root), level = 0; at !== null && level < 5; at = flatParent(at), level++) {
      said += ` ${getAttribute.call(at, "aria-label") ?? ""}`;
    }
    for (const each of querySelectorAll.call(around, "[aria-label], [alt]")) {
      said += ` ${getAttribute.call(each, "aria-label") ?? ""} ${getAttribute.call(each, "alt") ?? ""}`;
    }
    return plainWords(said).includes(words);
  }

  // Whether an open dialog, or its backdrop, covers all these boxes.
  function isBehindDialog(root, boxes) {
    const hit = ofDocument("elementFromPoint");
    let behind = 0;
    for (const box of boxes) {
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const at = hit(x, y);
      if (at === null || at === root || contains.call(root, at) || contains.call(at, root)) return false;
      const cover = getBoundingClientRect.call(at);
      const all = cover.width >= innerWidth * 0.9 && cover.height >= innerHeight * 0.9;
      const dialog = closest.call(at, DIALOGS);
      if (!all && (dialog === null || contains.call(dialog, root))) return false;
      behind++;
    }
    return behind > 0;
  }

  // The children as drawn: through shadow trees and slots.
  function childrenOf(node) {
    const children = node instanceof HTMLSlotElement ? assignedNodes.call(node) : [];
    if (children.length) return children;
    const root = shadowRoot.call(node) ?? closedRootOf(node) ?? node;
    for (let at = firstChild.call(root); at !== null; at = nextSibling.call(at)) children.push(at);
    return children;
  }

  // Yields the descendants of a root that can be acted on or have text, by the rules above.
  function* candidates(root) {
    const waiting = [root];
    for (let looked = 0; waiting.length && looked < MOST; looked++) {
      const node = waiting.pop();
      if (node.nodeType === 3) {
        const above = parentNode.call(node);
        const at = above instanceof ShadowRoot ? above.host : node.parentElement;
        if (WORDY.test(node.data) && at !== null && !isIcon(at, node.data)) yield [at, node.data];
      } else if (node.nodeType === 1) {
        const tag = localName.call(node);
        if (SILENT.has(tag) || !(checkVisibility.call(node) || getComputedStyle(node).display === "contents")) continue;
        if (acts(node, tag)) yield [node, ""];
        waiting.push(...childrenOf(node).reverse());
      }
    }
  }

  // Whether a root contains any candidate. Its own looks and its surroundings then decide. Most roots are
  // icons.
  const mayCount = (root) => !candidates(root).next().done;

  function isCounted(root) {
    const boxes = [];
    let [text, acting] = ["", false];
    for (const [at, words] of candidates(root)) {
      const box = seenBox(at);
      if (box === null) continue;
      boxes.push(box);
      text += words;
      acting ||= words === "";
      if (boxes.length === MOST_POINTS) break;
    }
    if (!boxes.length) return false;
    if (!acting && text.length <= LONGEST && isRepeatedAround(root, plainWords(text))) return false;
    return !isBehindDialog(root, boxes);
  }

  return { controlOf, findScripted, areasOf, boxOfArea, mayCount, isCounted };
})
