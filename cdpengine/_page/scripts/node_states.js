// Makes the functions about the states of a node: the same rules for actions, reads and waits. Called with the
// node and its tools (node_tools.js) in an isolated world. A reason is "" if it does not apply.
(function (node, tools) {
  "use strict";

  const CHECKED = ["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio", "option", "treeitem"];
  const { element, imageOf, flatAncestors, describe, rects, editorInput, pseudo, hasArea } = tools;

  function isAttached() {
    return element !== null && DOM.isConnected(pseudo ? element : node) && DOM.ownerDocument(element) === document;
  }

  // The menu of an option, or null. The browser draws the options of menus itself, outside of the page. The options of a list box, or of a list
  // drawn by the page (appearance: base-select), are ordinary elements.
  function menu() {
    const select = DOM.matches(element, "option, optgroup") ? DOM.closest(element, "select") : null;
    const drawn = select && !select.multiple && select.size <= 1 && getComputedStyle(select).appearance !== "base-select";
    return drawn ? select : null;
  }

  function neverBecause() {
    return menu() ? "its list is drawn by the browser, outside of the page; choose it with select()" : "";
  }

  // Names an element for a reason. Describing an element reads its text, so it is only done for a reason.
  const whereIs = (at, start) => (at === start ? "it" : "its ancestor " + describe(at));

  function invisibleBecause() {
    if (pseudo) return "";
    const never = neverBecause();
    if (never) return never;
    if (DOM.localName(element) === "input" && element.type === "hidden") return "it is an input of type hidden";
    const shown = imageOf(element) ?? element;
    for (const at of flatAncestors(shown)) {
      const style = getComputedStyle(at);
      if (style.display === "none") return whereIs(at, shown) + " has display: none";
      if (at !== shown && style.contentVisibility === "hidden") return whereIs(at, shown) + " has content-visibility: hidden";
    }
    // Content that the browser hides with content-visibility, as in a closed <details>, still has boxes.
    if (!DOM.checkVisibility(shown) && getComputedStyle(shown).display !== "contents") return "it is not displayed";
    if (getComputedStyle(shown).visibility !== "visible") {
      return "it has visibility: " + getComputedStyle(shown).visibility;
    }
    const boxes = rects();
    if (boxes.length === 0) return "it has no box";
    if (!boxes.some((box) => box.width > 0 && box.height > 0) && !editorInput()) {
      return "its size is " + boxes[0].width + " x " + boxes[0].height;
    }
    return "";
  }

  function disabledBecause() {
    const form = "button, input, select, textarea, option, optgroup, label";
    for (const at of flatAncestors(element)) {
      const control = DOM.localName(at) === "label" ? at.control : at;
      if (DOM.matches(at, form) && control && DOM.matches(control, ":disabled")) {
        if (control !== at) return "its control " + describe(control) + " is disabled";
        const fieldset = DOM.hasAttribute(control, "disabled") ? null : DOM.closest(control, "fieldset[disabled]");
        return whereIs(at, element) + " is disabled" + (fieldset ? " by " + describe(fieldset) : "");
      }
      // A disabled form-associated custom element does not disable its content.
      if (at === element && DOM.matches(at, ":disabled")) return "it is disabled";
    }
    for (const at of flatAncestors(element)) {
      if (DOM.hasAttribute(at, "inert")) return whereIs(at, element) + " is inert";
      if (DOM.getAttribute(at, "aria-disabled") === "true") return whereIs(at, element) + " has aria-disabled";
    }
    return "";
  }

  // Whether the control's value is chosen from a list that it opens.
  function opensChoices(control) {
    const opens = ["listbox", "tree", "grid"].includes(DOM.getAttribute(control, "aria-haspopup"));
    return opens || DOM.getAttribute(control, "role") === "combobox";
  }

  // Why text can never be typed here, "" if it can. `readonly` is separate because it may be temporary.
  function editing() {
    const control = (DOM.localName(element) === "label" && element.control) || element;
    const textual = ["text", "search", "url", "tel", "email", "password", "number",
      "date", "datetime-local", "month", "time", "week"];
    const field = DOM.localName(control) === "textarea" || DOM.localName(control) === "input";
    if (DOM.localName(control) === "input" && !textual.includes(control.type)) {
      return { never: "an input of type " + control.type + " takes no typed text", readonly: "" };
    }
    if (!field && !DOM.isContentEditable(control) && !editorInput()) {
      return { never: "it is a " + describe(control) + ", which takes no typed text", readonly: "" };
    }
    const readonly = (field && control.readOnly) || DOM.getAttribute(control, "aria-readonly") === "true";
    return { never: "", readonly: readonly ? "it is read-only" : "", chooses: readonly && opensChoices(control) };
  }

  // An option of a menu is as visible as its menu.
  function isVisible() {
    if (!isAttached()) return false;
    const around = menu();
    if (!around) return !invisibleBecause();
    const shown = getComputedStyle(element).display !== "none" && DOM.checkVisibility(around, { visibilityProperty: true });
    return shown && hasArea(DOM.getBoundingClientRect(around));
  }

  const controlOf = () => (DOM.localName(element) === "label" && element.control) || element;

  // The kind of a control that can be checked, "" for others, and its state: true, false, or null for neither.
  // `drawnByPage` has the inputs whose state the page keeps in an attribute (see check.js). `custom`: the state may
  // be in the element's internals.
  function checkable(drawnByPage) {
    const control = controlOf();
    const native = DOM.localName(control) === "input" && ["checkbox", "radio"].includes(control.type);
    const role = (DOM.getAttribute(control, "role") || "").trim().split(/\s+/)[0];
    const value = DOM.getAttribute(control, "aria-checked");
    const attribute = value === "mixed" ? null : value === "true";
    const kind = native ? control.type : CHECKED.includes(role) && (value !== null || CHECKED.indexOf(role) < 5) ? role : "";
    const checked = native && !drawnByPage?.has(control) ? (control.indeterminate ? null : control.checked) : attribute;
    return { kind, checked, custom: !kind && DOM.localName(control).includes("-") };
  }

  // Whether the keyboard input of the page goes to the element. Of a label, its control counts.
  function isFocused() {
    const holder = editorInput() ?? controlOf();
    const root = DOM.getRootNode(holder);
    return DOM.hasFocus(document) && DOM.activeElement(root instanceof ShadowRoot ? root : document) === holder;
  }

  function all(drawnByPage) {
    if (!isAttached()) return { connected: false };
    const { never, readonly } = editing();
    const { kind, checked, custom } = checkable(drawnByPage);
    return {
      connected: true,
      visible: isVisible(),
      invisible: invisibleBecause(),
      disabled: disabledBecause(),
      uneditable: never,
      readonly,
      focused: isFocused(),
      kind,
      checked,
      custom,
    };
  }

  return { isAttached, isVisible, neverBecause, invisibleBecause, disabledBecause, editing, checkable, isFocused, all };
})
