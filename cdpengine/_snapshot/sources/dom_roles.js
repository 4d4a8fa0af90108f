// Computes from the DOM alone the role that Chrome would give an element. Returns a new { roleOf, ... }.
// `tell(element)`, if given, returns the facts of Chrome's tree about a custom element (walk_internals.js).
//
// `roleOf(element)` equals `element.computedRole`, including "" for the roles without an ARIA name. Results
// are cached, so make a new instance for each walk. The cost is linear: each fact about an element's
// ancestors is computed once and shared by all its descendants.
// `moves` are the moves by aria-owns (walk_owners.js).
(function (tell, moves) {
  "use strict";

  const given = tell || (() => undefined);
  const WITH_BOX = { contentVisibilityAuto: true };
  const VALID = new Set(
    ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
      "combobox comment complementary contentinfo definition deletion dialog document emphasis feed figure form " +
      "generic grid gridcell group heading image insertion link list listbox listitem log main mark marquee math " +
      "menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph " +
      "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox sectionfooter " +
      "sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table " +
      "tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem graphics-document " +
      "graphics-object graphics-symbol doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink " +
      "doc-biblioentry doc-bibliography doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit " +
      "doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example " +
      "doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice " +
      "doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote " +
      "doc-qna doc-subtitle doc-tip doc-toc").split(" "),
  );
  const SYNONYMS = { img: "image", presentation: "none", directory: "list" };

  // Roles that require a container. Groups in between are allowed.
  const LISTS = /^(?:ul|ol|menu|dir)$/;
  const CONTEXTS = { option: "listbox", treeitem: "tree", listitem: "list" };

  const GLOBAL =
    "[aria-atomic],[aria-braillelabel],[aria-brailleroledescription],[aria-busy],[aria-controls],[aria-current]," +
    "[aria-describedby],[aria-description],[aria-details],[aria-dropeffect],[aria-flowto],[aria-grabbed]," +
    "[aria-keyshortcuts],[aria-label],[aria-labelledby],[aria-live],[aria-owns],[aria-relevant]," +
    "[aria-roledescription]";

  // Elements whose role does not depend on their surroundings. Others are generic.
  const NATIVE = {
    abbr: "", address: "group", article: "article", audio: "", blockquote: "blockquote", br: "", button: "button",
    canvas: "", caption: "caption", code: "code", col: "", colgroup: "", datalist: "listbox", dd: "definition",
    del: "deletion", details: "group", dfn: "term", dialog: "dialog", dir: "list", dl: "", dt: "term",
    em: "emphasis", embed: "", fieldset: "group", figcaption: "", figure: "figure", form: "form", h1: "heading",
    h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", hgroup: "group", hr: "separator",
    iframe: "", img: "image", ins: "insertion", label: "", legend: "", main: "main", map: "",
    mark: "mark", menu: "list", meter: "meter", nav: "navigation", object: "", ol: "list", optgroup: "group",
    option: "option", output: "status", p: "paragraph", progress: "progressbar", rt: "", ruby: "", s: "deletion",
    search: "search", strong: "strong", sub: "subscript", sup: "superscript", textarea: "textbox", time: "time",
    ul: "list", video: "",
  };

  const INPUTS = {
    button: "button", checkbox: "checkbox", color: "", date: "", "datetime-local": "", email: "textbox",
    file: "button", image: "button", month: "", number: "spinbutton", password: "textbox", radio: "radio",
    range: "slider", reset: "button", search: "searchbox", submit: "button", tel: "textbox", text: "textbox",
    time: "", url: "textbox", week: "",
  };

  const GRAPHICS = {
    circle: "graphics-symbol", ellipse: "graphics-symbol", foreignObject: "group", image: "image",
    line: "graphics-symbol", path: "graphics-symbol", polygon: "graphics-symbol", polyline: "graphics-symbol",
    rect: "graphics-symbol", use: "graphics-object",
  };
  // Content that makes a drawing more than one picture: parts that can be read or used separately.
  const READABLE = "text,a,foreignObject,[role],[aria-label],[aria-labelledby],:scope :not(symbol) > title";

  const SVG = "http://www.w3.org/2000/svg";
  const MATHML = "http://www.w3.org/1998/Math/MathML";

  // A page's names reach into this world: <input name=parentNode> is its form's parentNode here too. So the
  // prototypes' getters and methods are used on any element that may be a form.
  const method = (proto, name) => Function.prototype.call.bind(proto[name]);
  const getter = (proto, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(proto, name).get);
  const own = {
    getAttribute: method(Element.prototype, "getAttribute"),
    hasAttribute: method(Element.prototype, "hasAttribute"),
    matches: method(Element.prototype, "matches"),
    closest: method(Element.prototype, "closest"),
    checkVisibility: method(Element.prototype, "checkVisibility"),
    getRootNode: method(Node.prototype, "getRootNode"),
    contains: method(Node.prototype, "contains"),
    childNodes: getter(Node.prototype, "childNodes"),
    parentNode: getter(Node.prototype, "parentNode"),
    textContent: getter(Node.prototype, "textContent"),
    innerText: getter(HTMLElement.prototype, "innerText"),
    localName: getter(Element.prototype, "localName"),
    assignedSlot: getter(Element.prototype, "assignedSlot"),
    control: getter(HTMLLabelElement.prototype, "control"),
    search: (root, selector) =>
      (root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element)
        .prototype.querySelectorAll.call(root, selector),
    byId: (root, id) =>
      (root instanceof Document ? Document : DocumentFragment).prototype.getElementById.call(root, id),
  };
  const { getAttribute, hasAttribute, matches, closest, getRootNode } = own;

  const roles = new WeakMap();
  const explicit = new WeakMap();
  const containers = new WeakMap();
  const scopes = new WeakMap();
  const dataTables = new WeakMap();

  // The parent in the flat tree: through slots and out of shadow roots. Closed shadow roots are invisible
  // here.
  function parentOf(element) {
    const slot = own.assignedSlot(element);
    if (slot) return slot;
    const parent = own.parentNode(element);
    if (!parent || parent instanceof Element) return parent;
    return parent instanceof ShadowRoot ? parent.host : null;
  }

  function isFocusable(element) {
    if (element.tabIndex >= 0) return !element.disabled;
    return hasAttribute(element, "tabindex") || DOM.isContentEditable(element);
  }

  // Whether the author named the element, which makes a section a region.
  function isNamed(element) {
    const label = getAttribute(element, "aria-label");
    if (label && label.trim()) return true;
    if (hasAttribute(element, "aria-labelledby") && (DOM.ariaLabelledByElements(element) || []).length) return true;
    const title = getAttribute(element, "title");
    return Boolean(title && title.trim());
  }

  // The element that owns this one by aria-owns.
  function ownerOf(element) {
    moves.note(getRootNode(element));
    return moves.ownerOf(element);
  }

  // The parent after moves by aria-owns.
  const parentAfterMoves = (element) => ownerOf(element) ?? parentOf(element);

  // The role of the nearest ancestor with a significant role. An explicit "group" is skipped, and returned
  // only if no container is above it. An element with the implicit role group (a fieldset) counts like any
  // other.
  function containerOf(element) {
    const path = [];
    let found = "";
    for (let at = parentAfterMoves(element); at; at = parentAfterMoves(at)) {
      if (containers.has(at)) {
        found = containers.get(at);
        break;
      }
      path.push(at);
    }
    for (let index = path.length - 1; index >= 0; index -= 1) {
      const at = path[index];
      const role = roleOf(at);
      if (role === "group" && explicitRole(at) !== "group") {
        found = "native group";
      } else if (role === "group") {
        if (found !== "listbox" && found !== "tree" && found !== "list") found = "group";
      } else if (role !== "generic" && role !== "none") {
        found = role;
      }
      containers.set(at, found);
    }
    return found;
  }

  function isInContext(element, role) {
    const wanted = CONTEXTS[role];
    if (role === "listitem" && own.localName(element) === "li" && LISTS.test(parentOf(element)?.localName)) return true;
    const container = containerOf(element);
    return container === wanted || container === "group";
  }

  // The first token that is a valid role here; "" if none exists.
  function explicitRole(element) {
    const known = explicit.get(element);
    if (known !== undefined) return known;
    const chrome = given(element)?.role;
    let role = chrome && chrome !== "generic" ? chrome : "";
    const own = chrome ? null : getAttribute(element, "role");
    if (own) {
      explicit.set(element, ""); // for recursive calls
      for (const token of own.toLowerCase().split(/[ \t\n\f\r]+/)) {
        const name = Object.hasOwn(SYNONYMS, token) ? SYNONYMS[token] : token;
        if (!VALID.has(name)) continue;
        if ((name === "region" || name === "form") && !isNamed(element)) continue;
        if (Object.hasOwn(CONTEXTS, name) && !isInContext(element, name)) continue;
        role = name;
        break;
      }
    }
    explicit.set(element, role);
    return role;
  }

  // --- surroundings -----------------------------------------------------------------------------------

  // 2: within sectioning content, which has its own header and aside; 1: within main, whose asides belong to
  // the page; 0: neither.
  function scopeOf(element) {
    const path = [];
    let scope = 0;
    for (let at = parentOf(element); at; at = parentOf(at)) {
      if (scopes.has(at)) {
        scope = scopes.get(at);
        break;
      }
      path.push(at);
    }
    for (let index = path.length - 1; index >= 0; index -= 1) {
      const at = path[index];
      const what = explicitRole(at) || own.localName(at);
      if (/^(?:article|aside|complementary|nav|navigation|section)$/.test(what)) scope = 2;
      else if (what === "main" && scope === 0) scope = 1;
      scopes.set(at, scope);
    }
    return scope;
  }

  function listItem(element) {
    const parent = parentOf(element);
    if (parent === null || !LISTS.test(parent.localName)) return "listitem";
    const own = getAttribute(parent, "role"); // a role that a list cannot have leaves it a list
    return own && !/^(?:list|directory)$/i.test(own.trim()) ? "none" : "listitem";
  }

  // --- tables -------------------------------------------------------------------------------------------

  // Whether a table holds data, as opposed to layout. Follows Chrome's heuristics.
  function isDataTable(table) {
    let known = dataTables.get(table);
    if (known === undefined) {
      known = guessDataTable(table);
      dataTables.set(table, known);
    }
    return known;
  }

  function guessDataTable(table) {
    if (table.caption || table.tHead || table.tFoot || table.summary || table.rules) return true;
    if (table.isContentEditable || hasAttribute(table, "role")) return true;
    if (table.querySelector(":scope > colgroup, :scope > col")) return true;
    const rows = table.rows;
    if (rows.length >= 20 && rows[0].cells.length >= 2) return true;
    const style = getComputedStyle(table);
    let cells = 0, bordered = 0, differing = 0;
    for (let row = 0; row < rows.length; row += 1) {
      for (const cell of rows[row].cells) {
        if (cell.headers || cell.abbr || cell.scope || cell.axis) return true;
        // No reliable size is known of content that content-visibility: auto skips.
        if ((cell.offsetWidth < 1 || cell.offsetHeight < 1) && cell.checkVisibility(WITH_BOX)) continue;
        cells += 1;
        if (cell.localName === "th" && cells + rows[row].cells.length + rows.length > 3) return true;
        const own = getComputedStyle(cell);
        if (own.emptyCells === "hide") return true;
        if (
          (parseFloat(own.borderTopWidth) > 0 && parseFloat(own.borderBottomWidth) > 0) ||
          (parseFloat(own.borderLeftWidth) > 0 && parseFloat(own.borderRightWidth) > 0)
        ) {
          bordered += 1;
        }
        const filled = own.backgroundColor !== "rgba(0, 0, 0, 0)" && own.backgroundColor !== style.backgroundColor;
        if (filled && parseFloat(style.borderSpacing) > 0) differing += 1;
        if (bordered >= 10 || differing >= 10) return true;
      }
    }
    return cells > 1 && Math.max(bordered, differing) >= cells / 2;
  }

  // The role of the enclosing table; null if the element is not, or no longer, part of a table.
  function tableOf(element) {
    const table = closest(element, "table");
    if (!table) return null;
    const role = roleOf(table);
    return role === "" || role === "table" || role === "grid" || role === "treegrid" ? role : null;
  }

  function tablePart(element, tag) {
    const table = tableOf(element);
    if (table === null) return "generic";
    if (tag === "thead" || tag === "tbody" || tag === "tfoot") return table === "" ? "generic" : "rowgroup";
    if (tag === "tr") return table === "" ? "" : "row";
    const row = roleOf(element.parentElement);
    if (row !== "" && row !== "row") return "generic";
    if (table === "") return "";
    if (tag === "th") return headerCell(element);
    return table === "table" ? "cell" : "gridcell";
  }

  function headerCell(cell) {
    const scope = (getAttribute(cell, "scope") || "").toLowerCase();
    if (scope === "row" || scope === "rowgroup") return "rowheader";
    if (scope === "col" || scope === "colgroup") return "columnheader";
    const before = cell.previousElementSibling;
    const after = cell.nextElementSibling;
    if (!before && !after) return "columnheader";
    if ((before && before.localName === "td") || (after && after.localName === "td")) return "rowheader";
    const row = cell.parentElement;
    const table = closest(row, "table");
    return table.rows.length > 1 && row.querySelector(":scope > td") ? "rowheader" : "columnheader";
  }

  // --- one element --------------------------------------------------------------------------------------

  function inputRole(element) {
    const role = INPUTS[element.type];
    if (role === undefined) return "generic";
    if ((role === "textbox" || role === "searchbox") && element.list) return "combobox";
    return role;
  }

  function svgRole(element, tag) {
    if (tag === "svg") return element.querySelector(READABLE) ? "" : "image";
    if (tag === "a") {
      return hasAttribute(element, "href") || hasAttribute(element, "xlink:href") ? "link" : "generic";
    }
    if (tag === "g") {
      const named = isNamed(element) || element.querySelector(":scope > title");
      return named ? "group" : "generic";
    }
    return Object.hasOwn(GRAPHICS, tag) ? GRAPHICS[tag] : "generic";
  }

  function implicitRole(element) {
    const tag = own.localName(element);
    if (element.namespaceURI === SVG) return svgRole(element, tag);
    if (element.namespaceURI === MATHML) return "";
    switch (tag) {
      case "a":
      case "area":
        return hasAttribute(element, "href") ? "link" : "generic";
      case "aside":
        return scopeOf(element) < 2 || isNamed(element) ? "complementary" : "generic";
      case "footer":
        return scopeOf(element) ? "sectionfooter" : "contentinfo";
      case "header":
        return scopeOf(element) ? "sectionheader" : "banner";
      case "input":
        return inputRole(element);
      case "li":
        return listItem(element);
      case "section":
        return isNamed(element) ? "region" : "generic";
      case "select":
        return element.multiple || element.size > 1 ? "listbox" : "combobox";
      case "summary":
        return element.parentElement && element.parentElement.localName === "details" ? "" : "generic";
      case "table":
        return isDataTable(element) ? "table" : "";
      case "tbody":
      case "td":
      case "tfoot":
      case "th":
      case "thead":
      case "tr":
        return tablePart(element, tag);
      default:
        return Object.hasOwn(NATIVE, tag) ? NATIVE[tag] : "generic";
    }
  }

  function computeRole(element) {
    let role = explicitRole(element);
    if (role === "none" && (isFocusable(element) || matches(element, GLOBAL) || element.localName === "iframe")) {
      role = "";
    }
    if (role === "cell" && /^(?:grid|treegrid)$/.test(gridOf(element))) return "gridcell";
    if (role) return role;
    role = implicitRole(element);
    const grouped = getAttribute(element, "draggable") === "true" || hasAttribute(element, "popover");
    return role === "generic" && grouped ? "group" : role;
  }

  // The role of the enclosing table, grid or treegrid; "" if none exists.
  function gridOf(element) {
    for (let at = parentOf(element); at; at = parentOf(at)) {
      const role = roleOf(at);
      if (role === "grid" || role === "treegrid" || role === "table") return role;
      if (!/^(?:row|rowgroup|generic|none)$/.test(role)) break;
    }
    return "";
  }

  function roleOf(element) {
    let role = roles.get(element);
    if (role === undefined) {
      role = given(element)?.role || computeRole(element);
      roles.set(element, role);
    }
    return role;
  }

  return { roleOf, gridOf, isFocusable, parentOf, ownerOf, ownedBy: moves.ownedBy, given, own };
})
