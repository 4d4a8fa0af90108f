// Returns the readable content of the document, or of `root`: [JSON of its parts, the document and its shown
// frames].
//
// Runs in an isolated world and leaves nothing behind. `parts` is flat: a string is text with collapsible
// white space, ["=", text] is text with preserved white space; 0 ends the innermost element, 1 ends a line, 2
// a paragraph, 3 is a line break; any other array opens an element ("img", "hr" and "frame" have no end).
// Open shadow trees and slots are read as they are drawn. Elements that are not drawn are left out, and so is
// the content of secret fields (see secret_field.js, the last argument). The script stops after
// `milliseconds` and sets `cut`.
(function (root, options, isSecret) {
  "use strict";

  const { milliseconds, main } = options;

  // A page's names reach into this world: <input name=firstChild> is its form's firstChild here too. So forms
  // and the document are read through prototypes.
  const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const shadowRootOf = getter(Element.prototype, "shadowRoot");
  const localNameOf = getter(Element.prototype, "localName");
  const isConnected = getter(Node.prototype, "isConnected");
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const matches = (element, selector) => Element.prototype.matches.call(element, selector);
  const ancestor = (element, selector) => Element.prototype.closest.call(element, selector);

  const DEEPEST = 100; // maximum nesting of elements in the result; deeper content becomes text
  const LONGEST_ADDRESS = 2000;
  const NEVER = new Set(
    "script style noscript template head datalist object embed canvas audio video option optgroup rp".split(" "),
  );
  const PARAGRAPHS = new Set(
    ("p h1 h2 h3 h4 h5 h6 ul ol menu dir pre table blockquote dl dt figure details article section main header footer " +
      "nav aside form fieldset address hr").split(" "),
  );
  const MARKS = {
    a: "a", b: "b", strong: "b", i: "i", em: "i", cite: "i", dfn: "i", s: "s", del: "s", strike: "s", sup: "sup",
    sub: "sub", code: "code", kbd: "code", samp: "code", tt: "code",
  };
  const INLINE = /^(?:inline|ruby|math$|contents|none)/;
  const UNTYPED = new Set(["file", "color"]);
  const ASIDE =
    "nav,footer,aside,dialog,[role=navigation],[role=contentinfo],[role=complementary],[role=banner]," +
    "[role=search],[role=dialog],[role=alertdialog]";
  const SECTIONS = "main,article,section,aside,nav,[role=main],[role=article]";

  const until = performance.now() + milliseconds;
  const frames = [];
  const parts = [];
  let seen = 0;
  let cut = false;
  let open = 0;

  const late = () => (seen++ & 127) === 127 && performance.now() > until;
  const role = (element) => (attribute(element, "role") || "").trim().split(/\s+/, 1)[0].toLowerCase();

  function childrenOf(element, name) {
    if (name === "slot") {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    const children = [];
    const from = shadowRootOf.call(element) || element;
    for (let at = firstChild.call(from); at !== null; at = nextSibling.call(at)) {
      if (at instanceof Element || at instanceof Text) children.push(at);
    }
    if (name === "details" && from === element && attribute(element, "open") === null) {
      return children.filter((child) => child instanceof Element && child.localName === "summary").slice(0, 1);
    }
    return children;
  }

  const isDrawn = (style) => style.display !== "none" && style.display !== "";

  // --- the main content --------------------------------------------------------------------------

  const isAside = (element, name) =>
    matches(element, ASIDE) || (name === "header" && ancestor(element, SECTIONS) === null);

  // The flat tree from `from` on, as rows [element, index of its parent, characters outside links].
  function lengths(from) {
    const rows = [];
    const stack = [[from, -1, false]];
    while (stack.length) {
      if (late()) {
        cut = true;
        return rows;
      }
      const [at, parent, linked] = stack.pop();
      if (at instanceof Text) {
        if (!linked) rows[parent][2] += at.data.replace(/\s+/g, " ").length - 1;
        continue;
      }
      const name = localNameOf.call(at);
      if (NEVER.has(name) || isAside(at, name)) continue;
      const style = getComputedStyle(at);
      if (!isDrawn(style) || style.visibility !== "visible") continue;
      const index = rows.push([at, parent, 0]) - 1;
      for (const child of childrenOf(at, name).reverse()) stack.push([child, index, linked || name === "a"]);
    }
    return rows;
  }

  // <main>, else <article>s, else the smallest element with 70 % of the characters outside links.
  function mainOf(body) {
    const rows = lengths(body);
    for (let index = rows.length - 1; index > 0; index--) rows[rows[index][1]][2] += Math.max(rows[index][2], 0);
    for (const selector of ["main,[role=main]", "article,[role=article]"]) {
      const chosen = new Set();
      const inside = new Array(rows.length).fill(false);
      rows.forEach(([element, parent, length], index) => {
        inside[index] = parent >= 0 && (inside[parent] || chosen.has(rows[parent][0]));
        if (!inside[index] && length > 0 && matches(element, selector)) chosen.add(element);
      });
      if (chosen.size) return [...chosen];
    }
    let best = 0;
    rows.forEach(([, parent, length], index) => {
      if (parent === best && length >= 0.7 * rows[0][2] && length > 0) best = index;
    });
    return [rows.length ? rows[best][0] : body];
  }

  // --- the parts ------------------------------------------------------------------------------------------

  function text(data, keeps) {
    data = data.toWellFormed();
    if (keeps === "collapse") {
      const collapsed = data.replace(/[ \t\n\r\f]+/g, " ");
      if (collapsed) parts.push(collapsed);
    } else if (keeps === "preserve-breaks") {
      data.split("\n").forEach((line, index) => {
        if (index) parts.push(3);
        parts.push(line.replace(/[ \t\r\f]+/g, " "));
      });
    } else if (data) {
      parts.push(["=", data]);
    }
  }

  function address(url) {
    return url.length <= LONGEST_ADDRESS && !/^(?:javascript|data|blob):/i.test(url) ? url.toWellFormed() : "";
  }

  function field(element, name) {
    if (name !== "progress" && name !== "meter" && isSecret(element)) return "";
    if (name === "select") {
      return Array.from(element.selectedOptions, (option) => option.label.trim()).join(", ");
    }
    if (name === "progress") return attribute(element, "value") === null ? "" : `${Math.round(element.position * 100)} %`;
    if (name === "meter") return `${element.value}`;
    if (name === "input") {
      const type = element.type;
      if (type === "checkbox") return element.indeterminate ? "[-]" : element.checked ? "[x]" : "[ ]";
      if (type === "radio") return element.checked ? "(x)" : "( )";
      if (UNTYPED.has(type)) return "";
      if (type === "submit" || type === "reset") return element.value || (type === "submit" ? "Submit" : "Reset");
    }
    return element.value;
  }

  // Whether a table has headings, or has rows and columns whose cells hold only words.
  function isData(table, within) {
    if (within || ["presentation", "none"].includes(role(table))) return false;
    const rows = Array.from(table.rows);
    if (table.caption || table.tHead || rows.some((row) => row.querySelector(":scope > th"))) return true;
    if (rows.length < 2 || rows.every((row) => row.cells.length < 2)) return false;
    return !table.querySelector("table,ul,ol,dl,p,pre,blockquote,h1,h2,h3,h4,h5,h6,form,iframe,section,article");
  }

  function language(pre) {
    for (const element of [pre, pre.querySelector("code")]) {
      const found = element && /(?:^|\s)(?:lang|language|highlight-source)-([\w+#.-]{1,30})/.exec(attribute(element, "class") || "");
      if (found) return found[1];
    }
    return "";
  }

  function opening(element, name, style, context) {
    const what = role(element);
    if (/^h[1-6]$/.test(name)) return ["h", Number(name[1])];
    if (what === "heading") return ["h", Math.min(Math.max(parseInt(attribute(element, "aria-level"), 10) || 2, 1), 6)];
    if (name === "ol") return ["ol"];
    if (name === "ul" || name === "menu" || name === "dir" || what === "list") return ["ul"];
    if (name === "li" || what === "listitem") return ["li", context.numbering === null ? 0 : numberOf(element, context.numbering)];
    if (name === "blockquote") return ["quote"];
    if (name === "dt" || name === "dd") return [name];
    if (name === "pre" && style.whiteSpaceCollapse === "preserve") return ["pre", language(element)];
    if (name === "table" && isData(element, context.table)) return ["table"];
    if (context.table && name === "caption") return ["caption"];
    if (context.table && name === "tr") return ["row"];
    if (context.table && (name === "td" || name === "th")) {
      return ["cell", name === "th" ? 1 : 0, Math.min(element.colSpan, 100), Math.min(element.rowSpan, 100)];
    }
    if (name === "a" && element instanceof HTMLAnchorElement) {
      const url = attribute(element, "href") === null ? "" : address(element.href);
      return url ? ["a", url] : null;
    }
    return name !== "a" && Object.hasOwn(MARKS, name) ? [MARKS[name]] : null;
  }

  // The numbering of an ordered list (HTML standard, "ordinal value"): the next number, and its step.
  function numberingOf(list) {
    const reversed = attribute(list, "reversed") !== null;
    const start = parseInt(attribute(list, "start"), 10);
    if (!Number.isNaN(start)) return { next: start, step: reversed ? -1 : 1 };
    if (!reversed) return { next: 1, step: 1 };
    const items = childrenOf(list, "ol").filter((each) => each instanceof HTMLLIElement && isDrawn(getComputedStyle(each)));
    return { next: items.length, step: -1 };
  }

  function numberOf(item, numbering) {
    const value = parseInt(attribute(item, "value"), 10);
    const number = Number.isNaN(value) ? numbering.next : value;
    numbering.next = number + numbering.step;
    return number;
  }

  // The name of a link without visible content.
  function unnamed(element, from) {
    const shows = (part) => (typeof part === "string" ? part.trim() !== "" : ["=", "img"].includes(part[0]) && part[1] !== "");
    if (parts.slice(from).some(shows)) return;
    text(attribute(element, "aria-label") || attribute(element, "title") || "", "collapse");
  }

  function picture(element) {
    const alt = attribute(element, "alt");
    if (alt === "" || ["presentation", "none"].includes(role(element))) return;
    if (element.complete && element.width <= 1 && element.height <= 1) return;
    const said = alt === null ? attribute(element, "aria-label") || attribute(element, "title") || "" : alt;
    const url = address(element.currentSrc || element.src);
    if (said || url) parts.push(["img", said.toWellFormed(), url]);
  }

  function show(element, context, stack) {
    const name = localNameOf.call(element);
    if (NEVER.has(name) && !(name === "object" && element.contentDocument !== undefined && isFrame(element))) return;
    if (context.main && element !== context.main && isAside(element, name)) return;
    const style = getComputedStyle(element);
    if (!isDrawn(style)) return;
    const visible = style.visibility === "visible" && parseFloat(style.fontSize) > 0;
    const block = !INLINE.test(style.display) && !(context.table && /^table-(?:row|cell|header|footer)/.test(style.display));
    const gap = block ? (PARAGRAPHS.has(name) ? 2 : 1) : 0;
    if (name === "br") return void parts.push(3);
    if (gap) parts.push(gap);
    if (isFrame(element)) {
      parts.push(["frame", frames.push(element) - 1]);
    } else if (name === "hr") {
      if (visible) parts.push(["hr"]);
    } else if (name === "img" || (name === "input" && element.type === "image")) {
      if (visible) picture(element);
    } else if (["input", "select", "textarea", "progress", "meter"].includes(name)) {
      if (visible) {
        parts.push(" ");
        text(field(element, name), name === "textarea" ? "preserve" : "collapse");
        parts.push(" ");
      }
    } else if (style.contentVisibility !== "hidden") {
      inside(element, name, style, visible, context, stack, gap);
      return;
    }
    if (gap) parts.push(gap);
  }

  const isFrame = (element) =>
    element instanceof HTMLIFrameElement ||
    element instanceof HTMLFrameElement ||
    (element instanceof HTMLObjectElement && element.contentDocument !== null);

  function inside(element, name, style, visible, context, stack, gap) {
    const opened = open < DEEPEST ? opening(element, name, style, context) : null;
    const spaced =
      name === "button" ||
      (/^inline-/.test(style.display) &&
        ["marginLeft", "marginRight", "paddingLeft", "paddingRight"].some((side) => parseFloat(style[side]) > 0));
    if (spaced) parts.push(" ");
    if (name === "rt") parts.push("(");
    if (opened) {
      parts.push(opened);
      open++;
    }
    const from = parts.length;
    stack.push(() => {
      if (opened && opened[0] === "a" && visible) unnamed(element, from);
      if (opened) {
        parts.push(0);
        open--;
      }
      if (name === "rt") parts.push(")");
      if (spaced) parts.push(" ");
      if (gap) parts.push(gap);
    });
    const below = {
      visible,
      veiled: style.webkitTextSecurity !== "none", // masked like the drawn text
      keeps: style.whiteSpaceCollapse,
      table: opened && opened[0] === "table" ? true : context.table && name !== "table",
      main: context.main,
      numbering: name === "ol" ? numberingOf(element) : opened && ["ul", "li"].includes(opened[0]) ? null : context.numbering,
    };
    const children = childrenOf(element, name);
    for (let index = children.length - 1; index >= 0; index--) stack.push([children[index], below]);
  }

  function read(from, context) {
    const stack = [[from, context]];
    while (stack.length) {
      const next = stack.pop();
      if (typeof next === "function") {
        next();
        continue;
      }
      cut ||= late();
      if (cut) continue;
      const [at, around] = next;
      if (at instanceof Text) {
        if (around.visible) text(around.veiled ? at.data.replace(/\S/g, "\u2022") : at.data, around.keeps);
      } else {
        show(at, around, stack);
      }
    }
  }

  const whole = Reflect.get(Document.prototype, "body", document) || Reflect.get(Document.prototype, "documentElement", document);
  const start = root instanceof Element || root instanceof Text ? root : whole;
  const starts = start === null || !isConnected.call(start) ? [] : main && start === whole ? mainOf(start) : [start];
  for (const each of starts) {
    parts.push(2);
    read(each, { visible: true, veiled: false, keeps: "collapse", table: false, main: main ? each : null, numbering: null });
    parts.push(2);
  }
  return [JSON.stringify({ parts, cut, seen }), document, ...frames];
})
