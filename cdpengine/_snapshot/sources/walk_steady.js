// Facts that must be compared because no observer reports them: styles and the states of controls. A part of
// walk.js, which calls it once with `dom`, its document readers.
//
// `takeDown` records these facts for the elements of a part (see walk_reuse.js). `isSteady` returns whether
// they still hold.
(function (dom) {
  "use strict";

  const WITH_BOX = { contentVisibilityAuto: true };
  const VISIBLE = { contentVisibilityAuto: true, visibilityProperty: true };
  // Elements in which `display` alone does not reveal whether descendants have a box.
  const BOXLESS = new Set(["details", "meter", "noscript", "optgroup", "option", "progress", "select", "summary"]);
  const UNTYPED = new Set("{UNTYPED}");
  const CONTROLS = new Set(["button", "fieldset", "input", "option", "output", "select", "textarea"]);

  const [STYLE, DISPLAY, SIGHT, CURSOR, TRANSFORM, SPACES, LENGTH] = [1, 2, 3, 4, 5, 6, 7];

  // Mark of facts that were not read and are not compared: the cursor in native controls, the text style of
  // elements without text.
  const UNREAD = "";
  const WITHOUT_TEXT = { transform: UNREAD, spaces: UNREAD };

  const { getter, mayHost, styleOf, textStyleOf } = dom;
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const firstChild = getter(Node.prototype, "firstChild");
  const firstElementChild = getter(Element.prototype, "firstElementChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const parentNode = getter(Node.prototype, "parentNode");
  const { checkVisibility } = Element.prototype;

  // The state of a control. Passwords are not kept.
  function stateOf(at, tag, style) {
    let state = `${at.matches(":disabled")} ${at.matches(":invalid")} `;
    if (tag === "input") {
      const { type, validity } = at;
      const secret = type === "password";
      state += `${at.checked} ${at.indeterminate} ${validity.valueMissing} ${type} `;
      if (UNTYPED.has(type)) state += at.value;
      else state += secret ? at.value !== "" : `${style.webkitTextSecurity} ${at.value}`;
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

  // The options of a closed list have no box. They are shown unless their visibility hides them.
  function sight(at, style) {
    if (checkVisibility.call(at, VISIBLE)) return "shown";
    return `${checkVisibility.call(at, WITH_BOX)} ${style.visibility}`;
  }

  // `checks` has LENGTH consecutive entries for each element, because memory access dominates the time.
  // `inBoxes`: everything around the part has boxes, so its root has one if its own style allows it.
  function isSteady(part, inBoxes = false) {
    const { checks, plain, holders, controls, pseudos, hosts } = part;
    if (plain && !inBoxes && !checkVisibility.call(part.root, VISIBLE)) return false;
    for (let i = 0; i < hosts.length; i++) if (shadowRoot.call(hosts[i]) !== null) return false;
    for (let i = 0; i < checks.length; i += LENGTH) {
      const at = checks[i];
      const style = checks[i + STYLE];
      if (style.display !== checks[i + DISPLAY]) return false;
      if ((plain ? style.visibility : sight(at, style)) !== checks[i + SIGHT]) return false;
      const cursor = checks[i + CURSOR];
      if (cursor !== UNREAD && style.cursor !== cursor) return false;
      const transform = checks[i + TRANSFORM];
      if (transform === null) continue; // it has no content
      if (skips(style)) return false;
      if (transform === UNREAD) continue;
      if (style.textTransform !== transform || style.whiteSpaceCollapse !== checks[i + SPACES]) return false;
    }
    if (holders !== null) {
      for (let i = 0; i < holders.length; i++) if (holders[i].content !== "normal") return false;
    }
    if (controls !== null) {
      for (let i = 0; i < controls.length; i += 3) {
        const at = controls[i];
        if (stateOf(checks[at], controls[i + 1], checks[at + STYLE]) !== controls[i + 2]) return false;
      }
    }
    if (pseudos !== null) {
      for (let i = 0; i < pseudos.length; i += 2) {
        if (`${pseudos[i].content} ${pseudos[i].display}` !== pseudos[i + 1]) return false;
      }
    }
    return true;
  }

  function skips(style) {
    const skipping = style.contentVisibility;
    return skipping !== "visible" && skipping !== "";
  }

  // Whether the element has text of its own, or `isWorded` that its white space counts.
  function hasText(at, isWorded) {
    if (isWorded(at)) return true;
    for (let child = firstChild.call(at); child !== null; child = nextSibling.call(child)) {
      if (child.nodeType === 3 && /\S/.test(child.data)) return true;
    }
    return false;
  }

  // Adds to the part, which has a root, elements and whether it is decorated:
  //   plain     whether `display` and the root's box determine which elements have boxes
  //   checks    element, style, display, visibility or sight, cursor, text-transform, white-space-collapse, ...
  //   hosts     elements that the page can give a shadow root
  //   holders   the styles of elements with child elements
  //   controls  index in checks, tag, state, ...
  //   pseudos   style, content and display, ...
  // The part becomes stale if it can't be compared, or if `isRestless` is true for an element. The last three
  // may be null. `ways` are the walk's tests: whether an element is a native control, and whether its text
  // style was read.
  function takeDown(part, isRestless, { isNative, isWorded }) {
    const { elements, root, decorated } = part;
    const [checks, hosts, holders, controls, pseudos] = [[], [], [], [], []];
    let controlled = null; // native controls and their descendants
    const plain = checkVisibility.call(root, VISIBLE) && elements.every((at) => !BOXLESS.has(localName.call(at)));
    for (const at of elements) {
      const tag = localName.call(at);
      const style = styleOf(at);
      if (isRestless(at, tag, style)) part.stale = true;
      if (part.stale) break;
      if (firstElementChild.call(at) !== null) {
        holders.push(style);
        if (style.content !== "normal") part.stale = true;
      }
      if (mayHost(tag)) hosts.push(at);
      if (CONTROLS.has(tag)) controls.push(checks.length, tag, stateOf(at, tag, style));
      const native = (controlled !== null && controlled.has(parentNode.call(at))) || isNative(at, tag);
      if (native) (controlled ??= new Set()).add(at);
      const text = hasText(at, isWorded) ? textStyleOf(at) : WITHOUT_TEXT;
      checks.push(
        at, style, style.display, plain ? style.visibility : sight(at, style), native ? UNREAD : style.cursor,
        firstChild.call(at) === null ? null : text.transform, text.spaces,
      );
      if (!decorated) continue;
      for (const which of ["::before", "::after"]) {
        const pseudo = getComputedStyle(at, which);
        const content = pseudo.content;
        if (content.includes("counter") || content.includes("quote")) part.stale = true;
        pseudos.push(pseudo, `${content} ${pseudo.display}`);
      }
    }
    part.elements = []; // `checks` has the rest
    part.plain = plain;
    part.checks = checks;
    part.hosts = hosts;
    part.holders = holders.length ? holders : null;
    part.controls = controls.length ? controls : null;
    part.pseudos = pseudos.length ? pseudos : null;
  }

  return { isSteady, skips, takeDown };
})
