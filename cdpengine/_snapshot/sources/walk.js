// Makes the walk: a function that reads a document, column by column, into one string, and its store of
// elements. Evaluated once for each document in an isolated world, and called there with
//   kit     null if elements have Chrome's computedRole and computedName; otherwise a function, see below
//   makeSecret    the function of secret_field.js
//   makeDom, ...  the functions of walk_dom.js, walk_elements.js, walk_columns.js and so on
//   tables  { bits: { role: bits } }: how a snapshot treats each role (made by columns.py)
// Each walk calls `kit` with a function that returns the facts of Chrome's tree about a custom element
// (walk_internals.js), and with the owners of elements (walk_owners.js). It returns the replacement of computedRole and computedName, { roleOf(element),
// nameOf(element) }.
//
// It returns an array that holds the document, so the reply to the installation also identifies the document.
// The engine keeps the array by its remote object id. Its `walk` is one function that takes one request; its
// `element` returns the element with a number, for actions. The world's global scope holds nothing but the
// data of secret_field.js and, in documents that were created with it, `cdpengineWalk`, which makes the walk
// (see walk.py).
//
// The requests:
//   { do: "walk", milliseconds, after, boxes, clickables, pointer, mark, known, held, plain, waited },
//   element
//       Reads the element, or the document, and returns JSON: see the end of walk(). With `held`, the number
//       of the last walk, unchanged parts are only named; with null, no part is kept. With `mark`, elements
//       without known ids are marked (walk_marks.js), and the answer has `marks`. Other answers:
//       { number, same: true, last } if the result has not changed since walk `held`
//       { bare: true, last } if Chrome has not laid out the document, unless `waited`
//       { notPlain: true, last } with `plain`, if the document is not plain (walk_plain.js)
//       { lacking: true, last } if it needs the kit of "help" and has none
//   { do: "clickables", milliseconds, after, known }, element
//       Returns the numbers of clickables in document order, as a string.
//   { do: "hear", numbers, ids, captures, gone, refuted }, element, ...
//       Updates the elements that listen to presses: those with the numbers, then the given elements, each
//       with its id; `gone` are the ids of ended listeners, `refuted` the numbers of elements wrongly
//       presumed to listen. Returns the number of elements that changed.
//   { do: "internals", numbers, told, wrong }
//       Stores the facts of Chrome's tree about custom elements (walk_internals.js). The last walk was wrong
//       about those with the numbers `wrong`.
//   { do: "owners", numbers, owners }
//       Stores the owners of elements that several others claim by aria-owns; 0 for none.
//   { do: "places", numbers }
//       Returns the places of these elements, as a string: see placesOf.
//   { do: "take", ranges: [from, to, ...] }
//       Returns the elements with these numbers; null for one that is gone. They are kept until "forget".
//   { do: "forget", known }
//       Reports that the ids of the numbers up to `known` are known.
//   { do: "hosts" }
//       Returns [number, element, ...] of the kept elements that may have a closed shadow root.
//   { do: "help" }, kit
//       Sets a kit for content that content-visibility: auto skips, if the first kit is null.
//   { do: "wait", milliseconds }
//       Returns a promise that resolves when the document is laid out, or after this time.
//   { do: "frames" }
//       Returns the number of child frames.
//   { do: "adopt", hosts: [number, ...] }, root, ...
//       Makes the walk treat closed shadow roots like open ones.
//
// Each element with a line has a number from 1 up, for its whole lifetime. The page can observe none of this.
(function (
  kit, tables, makeSecret, makeDom, makeElements, makeClickables, makeColumns, makeDetails, makeLabels, makeStyles,
  makeSteady, makeReuse, makeMarks, makePlain, makeBeyond, makeInternals, makeOwners,
) {
  "use strict";

  const INLINE = 1; // folded, and its text continues the surrounding sentence
  const FOLDED = 2; // folded unless it has a name or is focusable
  const INTERACTIVE = 4;
  const BY_ATTRIBUTE = 32; // its name comes from attributes only
  const DROPPED = 64;
  const CAPTION = 128;
  const LAYOUT = 512; // folded even with a name
  const REPEATED = 256; // named by its content: text inside that repeats the name is omitted

  const REUSED = -4; // an unchanged part
  const OPENED = -5; // the start of a reusable part
  const CLOSED = -6; // its end

  const DEEPEST = 1000; // Chrome's parser nests at most 512 deep; twice that nears the stack's limit

  // Fields whose values are part of Chrome's names of enclosing elements.
  const EXPOSED_FIELDS = "input:not([type=checkbox i],[type=radio i]),select,textarea";
  const PUSHED = new Set(["button", "reset", "submit"]); // buttons whose label is their value
  const NAMED = new Set(["area", "fieldset", "img", "svg", "table"]); // named by HTML whatever their role
  const FRAMING = new Set(["embed", "fencedframe", "frame", "iframe", "object"]);
  const WITH_BOX = { contentVisibilityAuto: true };
  const VISIBLE = { contentVisibilityAuto: true, visibilityProperty: true };
  const LEGIBLE = /[^\s\p{Co}]/u; // a character that is not white space or a letter of an icon font
  const KEPT_SPACES = new Set(["preserve", "break-spaces"]);
  const NOT_HIDDEN = { visibilityProperty: true };
  const MATHML = "http://www.w3.org/1998/Math/MathML";

  const SEMANTIC = /^(?:id|role|title|aria-.*)$/;

  const owner = document;
  let help = null; // a kit for elements without Chrome's roles and names
  const { checkVisibility, querySelectorAll } = Element.prototype;
  const isSkipped = (at) => !checkVisibility.call(at, WITH_BOX) && checkVisibility.call(at);
  const frameCount = () => Number(Reflect.get(globalThis, "length")); // frames of any process, in shadow trees too
  const bits = new Map(Object.entries(tables.bits));
  const numbers = new WeakMap();
  const kept = new Map(); // number -> element, until the engine knows its id
  const numbered = new Map(); // number -> a reference to the element, afterwards
  let last = 0;

  const dom = makeDom();
  const { flatParent, read, byId, query, ofDocument, getAttribute, closedRoots } = dom;
  const { nextSibling, getRootNode, contains, deepFocus, topModal, styleOf, textStyleOf, forgetStyles } = dom;
  const elements = makeElements(dom);
  const { UNSEEN, EMPTY, sureRole, namelessRole, mayHideShadow, shownWithoutBox } = elements;
  const { isBlock, repeatsName, isFocusable, hasNameAttribute, isPointer } = elements;
  const { hear, unhear, presume, presumed, presumeNothing, refute, handling, ...clicks } = makeClickables(dom);
  const { isNative, isPointing, isClickable, isDraggable, isLooseOption, placesOf } = clicks;
  const { controlOf, findScripted, areasOf, boxOfArea, mayCount, isCounted } = makeBeyond(dom, elements, clicks.listens);
  const isSecret = makeSecret();
  const detailsFor = makeDetails(dom, isSecret);
  const labelsFor = makeLabels(dom, elements);
  const styles = makeStyles(dom);
  const plain = makePlain(dom, styles);
  const worded = new WeakSet(); // elements whose text style (white space, transform) was read
  // Elements whose line depends on other elements: labels of hidden controls, aria-hidden.
  const looked = new WeakSet();
  const ways = { isNative, isWorded: (at) => worded.has(at), isLooked: (at) => looked.has(at) };
  const reuse = makeReuse(dom, makeSteady(dom), ways);
  const internals = makeInternals(reuse, dom);
  const { isHider } = internals;
  const allOwners = makeOwners(dom, elements, isHider);
  const { mark, unmark, mayHost } = makeMarks(dom);

  function numberOf(element) {
    let number = numbers.get(element);
    if (number === undefined) {
      number = ++last;
      numbers.set(element, number);
      kept.set(number, element);
    }
    return number;
  }

  const elementCount = (start) => (start instanceof Element ? querySelectorAll.call(start, "*") : query(document, "*")).length;
  const elementOf = (number) => kept.get(number) || numbered.get(number)?.deref();

  // Updates the listeners to presses.
  function listen(request, objects) {
    const changed = [];
    request.ids.forEach((id, index) => {
      const known = index < request.numbers.length;
      const element = known ? elementOf(request.numbers[index]) : objects[index - request.numbers.length];
      if (element instanceof Element && hear(id, element, request.captures[index])) changed.push(element);
    });
    for (const id of request.gone) {
      const element = unhear(id);
      if (element !== undefined) changed.push(element);
    }
    for (const number of request.refuted) {
      const element = elementOf(number);
      if (element !== undefined && refute(element)) changed.push(element);
    }
    reuse.spoilAround(changed);
    return changed.length;
  }

  function forget(known) {
    for (const [number, element] of kept) {
      if (number > known) break; // a Map keeps the order of insertion
      unmark(number, element);
      numbered.set(number, new WeakRef(element));
      kept.delete(number);
    }
  }

  // Whether Chrome has laid out the document. A frame of another process that content-visibility: auto skips
  // is laid out late.
  function isLaidOut() {
    const root = ofDocument("documentElement");
    return root === null || root.checkVisibility() || getComputedStyle(root).display === "none";
  }

  function whenLaidOut(until, resolve) {
    if (isLaidOut() || performance.now() > until) resolve(true);
    else setTimeout(() => whenLaidOut(until, resolve), 5);
  }

  // With the list `request.found`, the walk only adds the numbers of clickables to it.
  function walk(request, start) {
    forget(request.known);
    const began = performance.now();
    const deadline = began + request.milliseconds;
    // Each new element must also be numbered later, which takes `request.after` times as long as reading it.
    const isLate = () => {
      const now = performance.now();
      return now + (request.after * (now - began) * kept.size) / (seen || 1) > deadline;
    };
    const globals = () => `${ofDocument("baseURI")} ${ofDocument("designMode")} ${request.clickables}`;
    const only = request.found;
    // With `only`: numbers of elements that Chrome's tree lacks, each with the number of the element at its
    // place there.
    const beyond = [];
    if (!only && !request.waited && start === null && !isLaidOut()) return `{"bare":true,"last":${last}}`;
    const state = () => `${ofDocument("URL")} ${ofDocument("title")} ${innerWidth} ${innerHeight} ${globals()}`;
    if (request.held !== null && kit === null && presumed.size === 0) {
      if (reuse.isStill(request.held, state(), deepFocus(), deadline, () => styles.sheetsDecorate(document))) {
        return `{"number":${request.held},"same":true,"last":${last}}`;
      }
    }
    if (only) {
      if (presumed.size > 0) reuse.forgetAll();
      presumeNothing(); // the engine has sent the listeners already
    } else if (request.clickables && (start !== null || request.held === null || kit !== null || reuse.mayHandle())) {
      reuse.spoilAround(presume(start === null ? document : getRootNode.call(start)));
    }
    const owners = allOwners.find();
    const { ownerOf, ownedBy, ownedWithin, areMoved, note: noteOwners } = owners;
    const names = kit === null ? null : kit(internals.ofElement, owners);
    const draggables = []; // with `only`: numbers of draggable elements, which Chrome's tree may call groups
    const concealed = []; // with `only`: numbers of secret fields, whose values Chrome's tree contains
    const secrets = []; // secret fields and their values, which Chrome includes in names of enclosing elements
    const isPlain = request.plain && names === null; // roles and names come from walk_plain.js
    const roleOf = names !== null ? names.roleOf : isPlain ? plain.roleOf : (element) => element.computedRole;
    const chromeName = isPlain ? (element) => plain.nameOf(element, decorated) : (element) => element.computedName;
    const ownName = names === null ? chromeName : names.nameOf;
    const isVeiling = names === null || internals.mayName(); // Chrome's names can contain secret values
    const nameOf = isVeiling ? (element) => veil(element, ownName(element)) : ownName;
    const near = { roleOf, nameOf, textIn: names?.textIn, textOfAll: names?.textOfAll };
    let far = null; // the kit for content that content-visibility: auto skips
    let lacking = false; // such content exists, and no kit for it
    let skippedCount = 0; // elements that it skips, with `only`
    let skippedActing = 0; // interactive ones among them

    function farNames() {
      if (names !== null) return near;
      if (isPlain) plain.giveUp();
      lacking = help === null;
      if (far === null && !lacking) far = help(internals.withNames, owners);
      return far || near;
    }

    // Whether the name of a rendered element comes from skipped content, which Chrome leaves out of the name.
    function isNamedFromAfar(at, attributed, what, name) {
      if (attributed && at.hasAttribute("aria-labelledby")) {
        const root = getRootNode.call(at);
        for (const id of at.getAttribute("aria-labelledby").split(/\s+/)) {
          const target = byId(root, id);
          if (target && isSkipped(target)) return true;
        }
      }
      if (name !== "") return false;
      if (at.labels && Array.from(at.labels).some(isSkipped)) return true;
      if (!(what & REPEATED)) return false;
      return getComputedStyle(at).contentVisibility === "auto" || Array.from(query(at, "*")).some(isSkipped);
    }

    // Whether content-visibility: auto skips an element without a box (display: contents, an option). If the
    // parent may skip it, the element is skipped when Chrome has no role and no name for the parent.
    function isSkippedWithoutBox(at) {
      for (let above = flatParent(at); above !== null; above = flatParent(above)) {
        if (isSkipped(above)) return true;
        if (!checkVisibility.call(above, WITH_BOX)) continue;
        if (getComputedStyle(above).contentVisibility !== "auto") return false;
        if (isPlain) plain.giveUp();
        return names !== null ? styles.isFarOff(above) : at.computedRole === "" && at.computedName === "";
      }
      return false;
    }

    const { columns, roleNumber, row, addText, addPreformatted, addBreak, addHint, ...made } = makeColumns();
    const { runningText, isPreformatted, addEdge, extra, noteBox, shorten } = made;
    const { labels, captionOf, controls, captionNumber, noteLabels, nameCaptions } = labelsFor();
    let seen = 0;
    let cut = false;
    let deep = false; // the reason is depth, not time
    let framed = false; // whether any element may contain a document

    let styled = null; // the element whose style the next four describe
    let transform = "none";
    let spaces = "collapse"; // white-space-collapse
    let veiled = false;
    let contentVisibility = "visible";
    let decorated = styles.hasDecorations(document);
    let scrolling = styles.hasCarousels(document); // whether there may be carousels
    let carousels = 0; // rows for their buttons and markers
    let disabling = internals.mayDisable() || query(document, "[aria-disabled]").length > 0;

    let pointing = false; // whether the cursor is a pointer over the current element
    let within = false; // whether the current element is in a native control
    if (request.clickables && start instanceof Element) {
      const above = flatParent(start);
      pointing = above !== null && isPointing(above);
      for (let at = above; at !== null && !within; at = flatParent(at)) within = isNative(at, at.localName);
    }

    let bare = false; // whether the current element is in an interactive element without a name
    let holder = null; // the nearest custom element around the current one, if it has no line
    // Numbers of custom elements about which Chrome's tree may have facts that no script can read.
    const customs = new Set();
    const leaves = []; // numbers of custom elements to query only for being hidden
    const around = []; // numbers of the custom elements around these
    let texts = 0; // text nodes read that are not only white space
    let covering = 0; // how many of all these would also reveal a hidden ancestor
    const isCustom = isPlain ? () => false : internals.isCustom;

    const focused = deepFocus();
    const modal = topModal();
    const parts =
      request.held === null || kit !== null || modal !== null
        ? null
        : reuse.begin(request.held, globals(), focused);
    // By a modal dialog in a shadow root: Chrome may have dropped the names of the rest of the document.
    let disturbed = false;
    let about = ""; // the trunk's current element, in words, as its content may depend on it
    const told = internals.ofElement;
    const parentOf = (at) => ownerOf(at) ?? flatParent(at);
    const textIn = (at) => farNames().textIn?.(at) ?? "";
    const textOfAll = (found) => farNames().textOfAll?.(found) ?? "";
    const { details, descriptionOf } = detailsFor({ extra, focused, told, parentOf, isDisabling: () => disabling, textIn, textOfAll });
    const scripted = new Map(); // element -> the hidden control that it names
    const behind = new Set(); // hidden controls that already have a line
    let beneath = false; // whether the current element is visible content under aria-hidden

    function noteSecrets(root) {
      if (!isVeiling && !only) return;
      for (const each of query(root, EXPOSED_FIELDS)) {
        // Chrome masks these itself.
        if (each.type === "hidden" || each.type === "password" || !isSecret(each)) continue;
        if (getComputedStyle(each).display === "") continue; // without a slot, it is part of no name
        if (only) {
          concealed.push(numberOf(each));
          continue;
        }
        const isSelect = each.localName === "select";
        const held = isSelect ? Array.from(each.selectedOptions, (option) => option.label).join(" ") : each.value;
        if (held.trim() !== "") secrets.push(each, held.replace(/\s+/g, " ").trim());
      }
    }

    // Masks the values of secret fields in a name.
    function veil(at, name) {
      for (let i = 0; i < secrets.length; i += 2) {
        const [field, value] = [secrets[i], secrets[i + 1]];
        if (at === field || !name.includes(value)) continue;
        const labelled = getAttribute.call(at, "aria-labelledby") !== null || (at.labels && at.labels.length > 0) ||
          isCustom(at, at.localName); // its internals may refer to the field
        if (labelled || contains.call(at, field)) name = name.replaceAll(value, "\u2022".repeat(value.length));
      }
      return name;
    }

    // --- the tree ---------------------------------------------------------------------------------------------

    function children(element, depth, level, visible) {
      if (level > DEEPEST) {
        cut = deep = true;
        return;
      }
      if (element.namespaceURI === MATHML) {
        for (const at of element.childNodes) {
          if (at.nodeType !== 3 || at.data.trim() !== "") visit(at, depth, level, visible);
        }
        return;
      }
      const root = element.shadowRoot || closedRoots.get(element);
      if (root && isPlain) plain.giveUp();
      let from = element;
      if (!root && mayHideShadow(element)) numberOf(element);
      const above = parts === null || parts.inside ? null : parts.context;
      if (above !== null) parts.context = parts.below(element.localName, `${about} ${visible} ${pointing}`);
      if (root) {
        if (parts !== null && root.querySelector(":modal") !== null) disturbed = true;
        if (above !== null) parts.watch(root);
        noteOwners(root);
        noteSecrets(root);
        findScripted(root, scripted);
        // A number makes their later "hear" request cheap.
        if (request.clickables) handling(root).forEach(numberOf);
        decorated = decorated || styles.hasDecorations(root);
        scrolling = scrolling || styles.hasCarousels(root);
        disabling = disabling || query(root, "[aria-disabled]").length > 0;
        from = root;
      }
      const tag = element.localName;
      const slotted = tag === "slot" && element.assignedNodes ? element.assignedNodes() : [];
      if (visible && decorated) pseudo(element, "::before", depth);
      if (tag === "details" && !element.open && styles.isClosed(element)) {
        for (const at of element.children) {
          if (at.localName === "summary") {
            visit(at, depth, level, visible);
            break;
          }
        }
      } else if (slotted.length) {
        for (const at of slotted) visit(at, depth, level, visible);
      } else {
        for (let at = from.firstChild; at !== null; at = nextSibling.call(at)) visit(at, depth, level, visible);
      }
      for (const target of ownedBy(element)) visit(target, depth, level, visible, element);
      if (visible && decorated) pseudo(element, "::after", depth);
      if (above !== null) parts.context = above;
    }

    function text(node, depth) {
      if (only) {
        const parent = node.parentElement;
        if (parent === null || !/\S/.test(node.data) || getComputedStyle(parent).contentVisibility !== "auto") return;
        if (read(parent, Element.prototype, "firstElementChild") === null && styles.isFarOff(parent)) skippedCount++;
        return;
      }
      const data = node.data;
      const above = node.parentNode;
      const parent = above instanceof ShadowRoot ? above.host : above instanceof Element ? above : null;
      const solid = /\S/.test(data);
      if (solid) texts++;
      if (parent !== null && (solid || (data.includes("\n") ? runningText(depth) !== 0 : isPreformatted(depth)))) {
        if (parent !== styled) {
          styled = parent;
          worded.add(parent);
          ({ transform, spaces, veiled, contentVisibility } = textStyleOf(parent));
        }
        if (contentVisibility === "hidden") return;
        // As drawn, and as in Chrome's tree.
        if (veiled && solid) return addText(depth, "\u2022".repeat(data.length));
        const drawn = transform === "none" ? data : styles.transformed(data, transform);
        if (KEPT_SPACES.has(spaces)) return addPreformatted(depth, drawn);
        if (spaces !== "preserve-breaks") return addText(depth, drawn);
        return addPreformatted(depth, drawn.replace(/[ \t]*\n[ \t]*/g, "\n").replace(/[ \t]+/g, " "));
      }
      addText(depth, data);
    }

    function pseudo(element, which, depth) {
      const found = styles.decoration(element, which);
      if (found === null) return;
      if (found.apart) addEdge(depth, 0);
      addText(depth, found.text);
      if (found.apart) addEdge(depth, 0);
    }

    function visit(node, depth, level, visible, by) {
      if (areMoved() && ownerOf(node) !== null && ownerOf(node) !== by) return;
      if (node instanceof HTMLFormElement) return void (cut || part(node, depth, level, form));
      const type = node.nodeType;
      if (type === 3) {
        if (visible) text(node, depth);
      } else if (type === 1 && !cut) {
        if (parts === null || parts.inside || UNSEEN.has(node.localName)) element(node, depth, level);
        else part(node, depth, level, element);
      }
    }

    // Reads an element of the trunk, or a part unless it is unchanged.
    function part(at, depth, level, read) {
      if (parts === null || parts.inside || areMoved()) return read(at, depth, level);
      about = "";
      const known = parts.open(at, decorated, disabling);
      if (known === null) return read(at, depth, level);
      if (!parts.inside) {
        row(depth, REUSED, known.number, "");
        seen += known.seen;
        for (let i = 0; i < known.labels.length; i++) labels.push(known.labels[i]);
        for (const [label, control, name] of known.captions) {
          captionOf.push(label, control);
          controls.set(control, name);
        }
        if (isLate()) cut = true;
        return;
      }
      const [seenBefore, labelsBefore, captionsBefore] = [seen, labels.length, captionOf.length];
      row(depth, OPENED, known.number, "");
      read(at, depth, level);
      row(depth, CLOSED, known.number, "");
      known.seen = seen - seenBefore;
      known.labels = labels.slice(labelsBefore);
      for (let i = captionsBefore; i < captionOf.length; i += 2) {
        const name = controls.get(captionOf[i + 1]);
        if (name !== undefined) known.captions.push([captionOf[i], captionOf[i + 1], name]);
      }
      parts.close(known);
    }

    function element(at, depth, level) {
      const around = pointing;
      const inControl = within;
      const inBare = bare;
      const inHidden = beneath;
      const inHolder = holder;
      const carousel = scrolling && !only && !UNSEEN.has(at.localName) && isShown(at) ? styles.carouselOf(at) : null;
      if (carousel !== null) {
        looked.add(at);
        if (carousel.buttons) carouselRow(at, "ScrollButtons", depth);
        if (carousel.markers === "before") carouselRow(at, "ScrollMarkers", depth);
      }
      elementAndInside(at, depth, level);
      if (carousel !== null && carousel.markers === "after") carouselRow(at, "ScrollMarkers", depth);
      holder = inHolder;
      pointing = around;
      within = inControl;
      bare = inBare;
      beneath = inHidden;
    }

    const isShown = (at) => at.checkVisibility(VISIBLE) && !isHider(at) &&
      !at.inert && (modal === null || insideModal(at));

    // Adds a row for a carousel's pseudo elements, whose details no script can read: see carousels.py.
    function carouselRow(at, what, depth) {
      carousels++;
      const line = row(depth, roleNumber(what) * 2 + 1, numberOf(at), "");
      extra(line, "scrolled", `${at.scrollLeft} ${at.scrollTop}`);
    }

    function elementAndInside(at, depth, level) {
      if ((++seen & 63) === 0 && isLate()) {
        cut = true;
        return;
      }
      const tag = at.localName;
      if (UNSEEN.has(tag)) return;
      if (FRAMING.has(tag)) framed = true;
      let visible = true;
      let boxless = false; // display: contents, which is not focusable
      let away = false; // skipped by content-visibility: auto; Chrome has no role or name for it
      if (!at.checkVisibility(VISIBLE)) {
        if (!at.checkVisibility(WITH_BOX)) {
          if (at.checkVisibility()) away = true;
          else if (!shownWithoutBox(at, tag)) return movedOut(at, depth, level);
          else away = isSkippedWithoutBox(at);
          boxless = !away && styleOf(at).display === "contents";
        }
        const { visibility } = styleOf(at);
        visible = visibility === "visible" || visibility === ""; // the options of a closed list have the style ""
      }
      const attributed = at.hasAttributes();
      let unhidden = false; // the outermost shown element under aria-hidden
      const custom = isCustom(at, tag);
      if ((attributed || custom) && isHider(at) && tag !== "body" && tag !== "html") {
        if (custom) customs.add(numberOf(at)); // so that Chrome is asked whether it is still hidden
        if (!unhide(at, visible)) return;
        unhidden = !beneath;
        beneath = true;
      }
      if (attributed && at.inert && !(modal !== null && at.contains(modal))) return movedOut(at, depth, level);
      const around = pointing;
      const inControl = within;
      let native = false;
      if (request.clickables && !within) {
        native = within = isNative(at, tag);
        pointing = native || isPointing(at);
      }
      if (modal !== null && at !== modal && !insideModal(at)) {
        if (at.contains(modal) || at.shadowRoot) children(at, depth, level + 1, false);
        return;
      }
      if (!visible) {
        if (!EMPTY.has(tag) && tag !== "select") children(at, depth, level + 1, false);
        return;
      }
      const control = tag === "label" ? controlOf(at) : scripted.size ? scripted.get(at) ?? null : null;
      const leading = control !== null && hiddenControl(control, at, depth);
      if (leading) depth++;
      const clickable =
        request.clickables &&
        !native &&
        (control === null || tag === "label") &&
        (isClickable(at, tag, pointing, around, inControl) ||
          (attributed && !inControl && (isDraggable(at, tag) || isLooseOption(at, tag, roleOf))));
      if (only) {
        if (unhidden) return void beyond.push(numberOf(at), numberOf(at));
        if (leading) return;
        if (away) {
          skippedCount++;
          if (clickable || native || isFocusable(at, attributed)) skippedActing++;
        } else if (clickable || (request.pointer && isPointer(at))) {
          only.push(numberOf(at));
          if (clickable && isDraggable(at, tag) && !at.hasAttribute("role")) draggables.push(numberOf(at));
        }
        if (!EMPTY.has(tag)) inside(at, custom, depth, level);
        return;
      }
      const strange = away || beneath; // Chrome has no role or name for it
      const replaced = !EMPTY.has(tag) && styles.isReplaced(styleOf(at));
      if (replaced && isPlain) plain.giveUp();
      let role = replaced ? undefined : sureRole(at, tag, attributed);
      if (role === undefined) role = (strange ? farNames() : near).roleOf(at);
      // Chrome has a paragraph without a box only if it has semantic attributes.
      if (boxless && tag === "p" && !at.getAttributeNames().some((name) => SEMANTIC.test(name))) role = "generic";
      if (replaced && role === "generic") role = "image";
      if (tag === "foreignObject") role = "generic";
      if (role === "") role = namelessRole(at, tag);
      if (clickable && (role === "none" || role === "presentation")) role = "generic";
      if (role === "LineBreak" || tag === "br") {
        if (tag === "br") addBreak(depth);
        return;
      }
      const what = bits.get(role) || 0;
      if (what & DROPPED) return;
      const focusable = !boxless && isFocusable(at, attributed);
      let name = "";
      if (!(what & BY_ATTRIBUTE) || focusable || custom || (attributed && (hasNameAttribute(at) || NAMED.has(tag)))) {
        name = (strange ? farNames() : near).nameOf(at);
        if (!strange && names === null && !isPlain && isNamedFromAfar(at, attributed, what, name)) name = farNames().nameOf(at);
      }
      if (parts !== null && !parts.inside) about = `${role} ${focusable} ${name}`;
      const fullName = name;
      // Chrome's name of a file input ends with the chosen files, which are its value in the tree.
      if (tag === "input" && at.type === "file") {
        const end = at.files.length === 1 ? name.lastIndexOf(": " + at.files[0].name) : name.lastIndexOf(": ");
        if (end >= 0) name = name.slice(0, end);
      }
      const marked = clickable || (request.pointer && isPointer(at));
      if (replaced && role === "image" && name === "" && !focusable && !marked) return;
      // Items of a list with another role: Chrome shows none of them, even interactive ones.
      const unlisted = tag === "li" && role === "none" && !marked;
      const areas = tag === "img" && attributed && at.hasAttribute("usemap") ? areasOf(at) : [];
      if (!unhidden && !areas.length && ((!focusable && !marked) || unlisted) && (what & (INLINE | LAYOUT) || (what & FOLDED && name === ""))) {
        if (EMPTY.has(tag) || replaced) return;
        if (custom) holder = at;
        if (bare && attributed) {
          const hint = descriptionOf(at);
          if (hint !== "") addHint(depth, hint);
        }
        if (what & INLINE) {
          inside(at, custom, depth, level);
        } else {
          const caption = what & CAPTION ? captionNumber(at) : 0;
          if (tag === "label" && at.control) captionOf.push(at, at.control);
          const block = caption !== 0 || isBlock(at, tag);
          if (block) addEdge(depth, caption);
          inside(at, custom, depth, level);
          if (block) addEdge(depth, 0);
        }
        return;
      }
      if (role === "none") role = tag === "img" ? "image" : "generic"; // it is interactive despite its role
      const uid = numberOf(at);
      const line = row(depth, roleNumber(role) * 2 + (focusable ? 1 : 0), uid, name);
      if (custom) {
        ask(at);
        holder = null;
      }
      if (request.boxes) {
        noteBox(line, at.getBoundingClientRect());
      }
      if (marked) extra(line, "clickable", true);
      if (unhidden) extra(line, "aria-hidden", true);
      if (name !== "" && (attributed || tag !== "a")) noteLabels(at, tag, name, attributed);
      const interactive = focusable || clickable || (what & INTERACTIVE) !== 0;
      if (interactive) bare = !LEGIBLE.test(name);
      if (interactive && holder !== null) ask(holder); // disabling the holder disables this too
      details(at, tag, role, what, interactive, focusable, name, line, attributed, fullName);
      if (tag === "input" && PUSHED.has(at.type) && at.value) addText(depth + 1, at.value);
      for (const each of areas) area(each, at, depth + 1);
      if (EMPTY.has(tag) || replaced) return;
      if (what & REPEATED && name !== "" && repeatsName(at, name)) return;
      inside(at, custom, depth + 1, level);
    }

    // Reads elements that aria-owns moves into a hidden or inert element.
    function movedOut(at, depth, level) {
      if (!areMoved()) return;
      for (const [target, owner] of ownedWithin(at)) visit(target, depth, level + 1, true, owner);
    }

    // Adds a custom element to the queries. The answer also reveals whether it is in one that hides itself.
    function ask(at) {
      customs.add(numberOf(at));
      if (!beneath) covering++;
    }

    function inside(at, custom, depth, level) {
      const [before, rows] = [covering, columns.kinds.length + texts];
      children(at, depth, level + 1, true);
      if (!custom) return;
      around.push(numberOf(at));
      if (names !== null && !only) return ask(at); // its role and name come from the answer only
      if (covering > before || (!only && columns.kinds.length + texts === rows)) return;
      leaves.push(numberOf(at));
      if (!beneath) covering++;
    }

    // Whether an element with aria-hidden is shown anyway.
    function unhide(at, visible) {
      if (!visible || !mayCount(at)) return false;
      looked.add(at);
      if (!isCounted(at)) return false;
      if (isPlain) plain.giveUp();
      const far = only ? null : farNames();
      if (far?.unhide) far.unhide(at);
      return true;
    }

    // Gives a control hidden behind a label its line, once. The label's content follows below it.
    function hiddenControl(at, label, depth) {
      looked.add(label);
      if (behind.has(at)) return false;
      behind.add(at);
      if (only) {
        beyond.push(numberOf(at), numberOf(label));
        return true;
      }
      const far = farNames();
      const role = sureRole(at, "input", true) ?? far.roleOf(at);
      let name = far.nameOf(at);
      if (at.type === "file") name = name.slice(0, Math.max(0, name.lastIndexOf(": ")));
      const line = row(depth, roleNumber(role) * 2 + 1, numberOf(at), name);
      if (request.boxes) noteBox(line, label.getBoundingClientRect());
      details(at, "input", role, bits.get(role) || 0, true, true, name, line, true, far.nameOf(at));
      return true;
    }

    function area(at, image, depth) {
      if (isPlain) plain.giveUp();
      const clickable = !at.hasAttribute("href") && request.clickables && isClickable(at, "area", false, false, false);
      if (!at.hasAttribute("href") && !clickable) return;
      seen++;
      const { roleOf, nameOf } = beneath ? farNames() : near;
      const role = at.hasAttribute("href") ? "link" : roleOf(at) || "generic";
      const name = nameOf(at);
      const line = row(depth, roleNumber(role) * 2 + (clickable ? 0 : 1), numberOf(at), name);
      if (request.boxes) noteBox(line, boxOfArea(at, image));
      if (clickable) extra(line, "clickable", true);
      details(at, "area", role, bits.get(role) || 0, true, !clickable, name, line, true, name);
    }

    // Reads a form, whose properties the page may shadow.
    function form(at, depth, level) {
      seen++;
      const own = (key) => read(at, HTMLFormElement.prototype, key);
      const visible = own("checkVisibility")(VISIBLE);
      if (!visible && !own("checkVisibility")() && getComputedStyle(at).display !== "contents") return movedOut(at, depth, level);
      const away = !own("checkVisibility")(WITH_BOX) && own("checkVisibility")();
      if (own("inert") && modal === null) return movedOut(at, depth, level);
      let unhidden = false;
      const inHidden = beneath;
      if (own("getAttribute")("aria-hidden") === "true") {
        if (!unhide(at, visible)) return;
        if (only && !beneath) return void beyond.push(numberOf(at), numberOf(at));
        unhidden = !beneath;
        beneath = true;
      }
      let below = depth;
      const around = pointing;
      pointing = request.clickables && isPointing(at);
      const shown = (visible || (away && own("checkVisibility")(NOT_HIDDEN))) && (modal === null || insideModal(at));
      if (shown && away && only) skippedCount++;
      if (shown && !only) {
        const chrome = kit === null && !away && !beneath;
        if (isPlain) {
          if (away) plain.giveUp();
          plain.checkForm(at);
        }
        const role = isPlain ? "form" : (chrome ? own("computedRole") : farNames().roleOf(at)) || "generic";
        const name = isPlain ? "" : chrome ? veil(at, own("computedName")) : farNames().nameOf(at);
        const what = bits.get(role) || 0;
        const focusable = own("hasAttribute")("tabindex");
        if (!unhidden && !focusable && (what & INLINE || (what & FOLDED && name === ""))) {
          addEdge(depth, 0);
        } else {
          const line = row(depth, roleNumber(role) * 2 + (focusable ? 1 : 0), numberOf(at), name);
          if (unhidden) extra(line, "aria-hidden", true);
          if (request.boxes) noteBox(line, own("getBoundingClientRect")());
          details(at, "form", role, what, focusable || (what & INTERACTIVE) !== 0, focusable, name, line, true, name);
          below = depth + 1;
        }
        about = `${role} ${focusable} ${name}`;
      }
      const above = parts === null || parts.inside ? null : parts.context;
      if (above !== null) parts.context = parts.below("form", `${about} ${shown} ${pointing}`);
      if (level > DEEPEST) cut = deep = true;
      else {
        for (const child of own("childNodes")) visit(child, below, level + 1, shown || modal !== null);
        for (const target of ownedBy(at)) visit(target, below, level + 1, shown || modal !== null, at);
      }
      if (above !== null) parts.context = above;
      if (shown && below === depth) addEdge(depth, 0);
      pointing = around;
      beneath = inHidden;
    }

    function insideModal(at) {
      for (let node = at; node !== null; node = flatParent(node)) {
        if (node === modal) return true;
      }
      return false;
    }

    try {
      if (isPlain) plain.begin(parts !== null && reuse.hasSameStructure());
      const whole = start === null || start === document;
      const root = whole ? ofDocument("documentElement") : start;
      noteOwners(whole ? document : getRootNode.call(start));
      noteSecrets(whole ? document : getRootNode.call(start));
      findScripted(whole ? document : getRootNode.call(start), scripted);
      if (root !== null) visit(root, 0, 0, true);
    } catch (error) {
      if (error === plain.NOT_PLAIN) {
        reuse.forgetAll();
        return `{"notPlain":true,"last":${last}}`;
      }
      if (!(error instanceof RangeError)) throw error;
      cut = deep = true; // out of stack: keep the complete rows
      shorten();
    }
    if (only) return JSON.stringify({ numbers: only, customs: Array.from(customs).concat(leaves), around, last, cut, skipped: skippedCount, acting: skippedActing, beyond, draggables, secrets: concealed, ...kindOfDocument() });
    if (lacking) return `{"lacking":true,"last":${last}}`;
    if (disturbed) {
      reuse.forgetAll();
      return walk({ ...request, held: null }, start);
    }
    nameCaptions();
    const unsure = Array.from(presumed, numberOf);
    const marking = request.mark && kept.size > 0 ? `,"marks":"${mark(kept)}"` : "";
    const said = JSON.stringify({
      url: ofDocument("URL"),
      title: ofDocument("title"),
      viewport: [innerWidth, innerHeight],
      seen,
      cut,
      deep,
      unread: cut && !deep ? Math.max(0, elementCount(start) - seen) : 0,
      last,
      ...columns, // see walk_columns.js
      labels,
      presumed: unsure,
      ...(carousels ? { carousels } : {}),
      ...kindOfDocument(),
      customs: Array.from(customs),
      leaves,
      around,
      ...(owners.contested.size ? contestedBy(owners) : {}),
    });
    const number = parts === null ? 0 : parts.end(cut); // the number under which the walk is kept; 0 if it is not
    if (number === 0) return `{${marking.slice(1)}${marking && ","}${said.slice(1)}`;
    if (reuse.isRepeated(request.held, number, said) && !framed && !unsure.length) {
      parts.rest(state(), decorated, owners.areSeen());
      return `{"number":${number},"same":true,"last":${last}${marking}}`;
    }
    return `{"number":${number}${marking},${said.slice(1)}`;
  }

  // The elements that several others claim by aria-owns, each with its owner or 0, and the claimants.
  function contestedBy({ contested, claimants, ownerOf }) {
    const number = (at) => (at === null ? 0 : numberOf(at));
    return { contested: Array.from(contested).flatMap((at) => [numberOf(at), number(ownerOf(at))]), claimants: Array.from(claimants, numberOf) };
  }

  // The document's kind if it is not an HTML page: its MIME type, and the size of a picture.
  function kindOfDocument() {
    const type = ofDocument("contentType");
    if (type === "text/html") return {};
    const image = type.startsWith("image/") ? query(document, "body > img:only-child")[0] : undefined;
    return image === undefined || image.naturalWidth === 0 ? { type } : { type, size: [image.naturalWidth, image.naturalHeight] };
  }

  function answer(request, ...objects) {
    try {
      return answerTo(request, objects);
    } finally {
      forgetStyles();
      plain.end();
    }
  }

  function answerTo(request, objects) {
    if (document !== owner) return null; // the world has another document now
    switch (request.do) {
      case "walk":
        return walk(request, objects[0] || null);
      case "help":
        help = objects[0];
        return reuse.forgetAll();
      case "wait":
        return new Promise((resolve) => whenLaidOut(performance.now() + request.milliseconds, resolve));
      case "frames":
        return frameCount();
      case "clickables":
        return walk({ ...request, clickables: true, found: [], held: null }, objects[0] || null);
      case "hear":
        return listen(request, objects);
      case "internals":
        return internals.note(request.numbers.map(elementOf), request.told, request.wrong.map(elementOf));
      case "owners":
        return allOwners.tell(request.numbers.map(elementOf), request.owners.map(elementOf));
      case "places": {
        const found = request.numbers.map(elementOf);
        const places = placesOf(found.filter((element) => element instanceof Element), numberOf);
        return JSON.stringify({ places, last });
      }
      case "take": {
        const taken = [];
        for (let i = 0; i < request.ranges.length; i += 2) {
          for (let at = request.ranges[i]; at <= request.ranges[i + 1]; at++) taken.push(kept.get(at) || null);
        }
        return taken;
      }
      case "forget":
        return forget(request.known);
      case "adopt":
        reuse.forgetAll();
        request.hosts.forEach((number, index) => kept.has(number) && closedRoots.set(kept.get(number), objects[index]));
        return true;
      case "hosts":
        return Array.from(kept).filter(([, element]) => mayHost(element)).flat();
      default:
        throw new Error(`unknown request ${request.do}`);
    }
  }

  return Object.assign([owner], { walk: answer, element: (number) => (document === owner ? elementOf(number) : undefined) });
})
