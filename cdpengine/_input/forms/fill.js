// Makes a form control ready to be filled, or fills those that take no typed text. Called on a node in an isolated
// world, with { texts, script, guard }: the text for each type of input, "" for all others; whether inputs that take no
// text are to be set here and now; what key_guard.js is to guard where keys or text come next; then that, and the parts
// secret_field.js, field_values.js and mask.js. With `select`, all is selected, also where a mask has put its caret.
// Answers with what the control is:
//   kind     "text": it has the focus, and all that it holds is selected; "set": it was set, and the page got its events;
//            "keys": it has the focus, and keys can give it its value (for a range those in `keys`; `focused`: it had
//            the focus before);
//            "toggle", "select", "listbox", "slider", "file", "sections": for those who know these; "none": it takes nothing (see reason)
//   reason   why it was refused; nothing was changed then
//   holds    what the control holds instead, where it was refused; null for a secret field
//   fresh    it is a field that held something else than the text until now
//   editor   it is a code editor, which has the focus: its text is elsewhere
//   masked   it looks like the field of a mask: it has the focus, and the caret where the page put it, or all is selected
//   typable  it is an input that a mask could be on
//   literals the characters that a mask shows between its blanks; `prefix`: what it shows before the first one
(function (request, keys, isSecret, values, masks) {
  "use strict";

  const TYPED = ["text", "search", "url", "tel", "email", "password", "number"];
  const MOST_STEPS = 100;
  const FIELDS = "input:not([type=hidden], [type=button], [type=submit], [type=reset], [type=image]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=spinbutton], [role=textbox]";
  const MOST_FIELDS = 8;
  const UNSAFE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu; // control characters and alike, for an error's message

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { kind: "none", reason: "it is no element", holds: null };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  const editor = keys.editorInput(element);
  if (editor) element = editor;

  const isInput = DOM.localName(element) === "input";
  const isField = isInput || DOM.localName(element) === "textarea";
  const secret = isSecret(element);

  function holds() {
    if (secret) return null;
    return isField ? element.value : DOM.innerText(element);
  }

  function answer(kind, reason) {
    return { kind, type: isInput ? element.type : DOM.localName(element), reason, holds: reason ? holds() : null };
  }

  // The keys that move a range to this value, from where it is or from one of its ends; none if that takes too many.
  function rangeKeys(value) {
    const limit = (name, otherwise) => {
      const number = parseFloat(DOM.getAttribute(element, name));
      return Number.isFinite(number) ? number : otherwise;
    };
    const least = limit("min", 0);
    const most = Math.max(least, limit("max", 100));
    // Standing upright, it takes ArrowUp for less, or for more, as it is styled.
    if (!getComputedStyle(element).writingMode.startsWith("horizontal")) return [];
    if ((DOM.getAttribute(element, "step") || "").toLowerCase() === "any") return [];
    const step = limit("step", 1) > 0 ? limit("step", 1) : 1;
    const end = least + Math.floor((most - least) / step + 1e-9) * step;
    // A page is a tenth of the range; it is counted with where it is a whole number of steps.
    const tenth = (most - least) / 10 / step;
    const page = tenth > 1 && Math.abs(tenth - Math.round(tenth)) < 1e-9 ? Math.round(tenth) : Infinity;
    const ways = [[Number(element.value)], [least, "Home"], [end, "End"]].map(([from, ...first]) => {
      const steps = Math.round((value - from) / step);
      const pages = Math.floor(Math.abs(steps) / page);
      const singles = pages ? Math.abs(steps) - pages * page : Math.abs(steps);
      if (singles > MOST_STEPS) return null;
      const [by, byPage] = steps < 0 ? ["ArrowDown", "PageDown"] : ["ArrowUp", "PageUp"];
      return [...first, ...Array(pages).fill(byPage), ...Array(singles).fill(by)];
    });
    return ways.reduce((one, other) => (one && (!other || one.length <= other.length) ? one : other)) || [];
  }

  function focused() {
    let host = element;
    while (DOM.isContentEditable(host) && DOM.parentElement(host) && DOM.isContentEditable(DOM.parentElement(host))) {
      host = DOM.parentElement(host);
    }
    const root = DOM.getRootNode(host);
    // A body that is edited is the active element of its frame, whether that has the focus or not.
    if (DOM.activeElement(root) !== host || !DOM.hasFocus(document)) DOM.focus(host, { preventScroll: false });
    return DOM.activeElement(root) === host && DOM.hasFocus(document) ? host : null;
  }

  // What can be filled in a group, such as the parts of a date; "" for nothing.
  function fieldsWithin() {
    const found = [element, DOM.shadowRoot(element)].filter(Boolean).flatMap((root) => Array.from(DOM.querySelectorAll(root, FIELDS)));
    const seen = found.filter((each) => DOM.checkVisibility(each, { visibilityProperty: true }) && !DOM.matches(each, "[aria-hidden=true]"));
    const fields = seen.slice(0, MOST_FIELDS).map((each) => {
      const kind = (DOM.getAttribute(each, "role") || DOM.localName(each)).trim();
      const label = DOM.getAttribute(each, "aria-label") || Array.from(each.labels || [], (one) => DOM.textContent(one)).join(" ");
      return [kind, label && JSON.stringify(label)].filter(Boolean).join(" ").replace(UNSAFE, " ").slice(0, 60);
    });
    if (!fields.length) return "";
    return "; fill in what is within it: " + fields.join(", ") + (seen.length > MOST_FIELDS ? ", and more" : "");
  }

  // A handler of the focus may take the element away, or replace the whole document.
  function unfocused() {
    return DOM.isConnected(element) ? "it does not take the keyboard focus" : "the page removed it when it got the focus";
  }

  const role = (DOM.getAttribute(element, "role") || "").trim().split(/\s+/)[0];
  if (DOM.localName(element) === "select" || DOM.localName(element) === "option") return answer("select", "");
  if (isInput && element.type === "file") return answer("file", "");
  if (isInput && (element.type === "checkbox" || element.type === "radio")) return answer("toggle", "");

  // A field that shows a choice and takes no typed text.
  const opens = role === "combobox" || ["listbox", "tree", "grid"].includes(DOM.getAttribute(element, "aria-haspopup"));
  if (isInput && opens && (element.readOnly || DOM.getAttribute(element, "aria-readonly") === "true")) return answer("listbox", "");

  // The input that a date field of sections keeps for forms: it passes the focus on to the first section.
  const unused = isInput && (element.tabIndex < 0 || DOM.getAttribute(element, "aria-hidden") === "true");
  const group = unused && DOM.closest(element, "[role=group]");
  if (group && DOM.querySelector(group, "[role=spinbutton][aria-valuemax]:not(input)")) return answer("sections", "");

  const text = request.texts[isInput ? element.type : ""] ?? request.texts[""];

  if (isInput && !values.isTyped(element.type)) {
    const taken = values.sanitized(element, text);
    if (text !== "" && !values.isSame(element, text, taken)) {
      const made = taken === "" ? "nothing" : secret ? "something else" : JSON.stringify(taken);
      return answer("set", "an input of type " + element.type + " makes " + made + " of that");
    }
    let scripted = false;
    const before = DOM.activeElement(DOM.getRootNode(element)) === element;
    if (!focused()) return answer("set", unfocused());
    if (element.value !== taken && !request.script && element.type !== "color") {
      const moves = element.type === "range" ? rangeKeys(Number(taken)) : [];
      const labelled = this !== element;
      keys.arm(request.guard, element, element);
      return { ...answer("keys", ""), keys: moves, focused: before, labelled, range: element.type === "range" };
    }
    // Segments may hold parts of a date that are no value yet.
    if (element.value !== taken || (taken === "" && element.validity.badInput)) {
      scripted = true;
      element.value = taken;
      DOM.dispatchEvent(element, new Event("input", { bubbles: true, composed: true }));
      DOM.dispatchEvent(element, new Event("change", { bubbles: true }));
    }
    const left = values.isSame(element, taken, element.value) ? "" : "the page put another value in its place";
    return { ...answer("set", left), scripted };
  }

  if (editor) {
    const host = focused();
    if (host) keys.arm(request.guard, host, host);
    return { ...answer("text", host ? "" : unfocused()), editor: true };
  }
  if (!DOM.isContentEditable(element) && !(isInput && TYPED.includes(element.type)) && DOM.localName(element) !== "textarea") {
    if (["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"].includes(role)) return answer("toggle", "");
    if (["listbox", "combobox"].includes(role) || DOM.getAttribute(element, "aria-haspopup") === "listbox") {
      return answer("listbox", "");
    }
    if (role === "slider") return answer("slider", "");
    const what = isInput ? "an input of type " + element.type : "a " + DOM.localName(element);
    return answer("none", what + " cannot be filled in" + fieldsWithin());
  }
  if (isInput) {
    if (/[\r\n]/.test(text)) return answer("text", "it has one line, and the text has line breaks");
    if (element.type === "number" && text !== "" && values.sanitized(element, text) === "") return answer("text", "that is no number");
  }
  if (isField && element.maxLength >= 0 && text.length > element.maxLength) {
    return answer("text", "it takes " + element.maxLength + " characters at most, not " + text.length);
  }
  const fresh = isField && !values.wasTaken(text, element.value, element.type === "number");
  const before = isField ? element.value : "";
  const already = DOM.activeElement(DOM.getRootNode(element)) === element;
  const host = focused();
  if (!host) return answer("text", unfocused());

  keys.before = before; // held.js compares
  const typable = isInput && masks.isTypable(element) && fresh;

  const labelled = this !== element;

  function take(masked) {
    // A mask that holds nothing yet has put the caret at its first blank.
    if (!isField) getSelection().selectAllChildren(element);
    else if (!masked || request.select || !masks.isBlank(element.value)) element.select();
    keys.arm(request.guard, host, host);
    const literals = masked ? element.value.replace(/[\p{L}\p{N}_#•·]/gu, "") : "";
    const [prefix] = masked && masks.isBlank(element.value) ? /^[^_#•·]*/.exec(element.value) : [""];
    return { ...answer("text", ""), fresh: fresh && !masked, masked, literals, prefix, typable, labelled, focused: already };
  }

  if (!isInput || !masks.isMasked(element, before)) return take(false);
  return masks.settle().then(() => (focused() ? take(true) : answer("text", unfocused())));
})
