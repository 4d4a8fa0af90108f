// Reports a person's actions in one document. Runs once per document, in an isolated world. Arguments: the name of the
// binding for reports, the key of the observer's object in this world, and the functions of secret_field.js and
// field_facts.js. Only trusted events count. The observer reports a field's value when the person leaves or submits the
// field. It does so only for fields that are not secret and that the engine has allowed after a check of their facts.
// For all other fields, it reports only that the person entered a value.
(function (binding, key, isSecret, factsOf) {
  "use strict";

  const report = globalThis[binding];
  if (typeof report !== "function" || globalThis[key] !== undefined) return;

  const LONGEST = 10000;
  const MOST = 40;
  const numbers = new WeakMap();
  const known = new Map(); // the latest reported elements, by number
  const dirty = new Set();
  const allowed = new WeakSet();
  const listeners = [];
  let last = 0;
  let near = null;
  let keyAt = -Infinity;
  let chosen = null; // the last checkbox or radio button that the person clicked
  let changed = false;

  const send = (kind, more) => report(JSON.stringify({ kind, ...more }));
  const facts = (element) => factsOf.call(element, {}, isSecret);

  function number(element) {
    let found = numbers.get(element);
    if (found === undefined) {
      found = ++last;
      numbers.set(element, found);
    }
    known.delete(found);
    known.set(found, element);
    if (known.size > 200) known.delete(known.keys().next().value);
    return found;
  }

  const elementOf = (event) => event.composedPath().find((each) => each instanceof Element) || null;
  const isChoice = (element) => DOM.localName(element) === "input" && ["checkbox", "radio"].includes(element.type);
  const UNTYPED = ["button", "checkbox", "file", "image", "radio", "reset", "submit"];

  // The field of an event: an input, a textarea, or the outermost editable element.
  function fieldOf(element) {
    if (DOM.localName(element) === "textarea") return element;
    if (DOM.localName(element) === "input") return UNTYPED.includes(element.type) ? null : element;
    if (!DOM.isContentEditable(element)) return null;
    let host = element;
    while (DOM.parentElement(host) && DOM.isContentEditable(DOM.parentElement(host))) host = DOM.parentElement(host);
    return host;
  }

  // The label of a link or a button. It identifies an element that is gone before the engine can look it up.
  function labelOf(element) {
    const control = DOM.closest(element, "a, button, summary, [role=button], [role=link], [role=tab], [role=menuitem]");
    if (control === null || DOM.isContentEditable(control)) return {};
    const label = Element.prototype.getAttribute.call(control, "aria-label") || DOM.innerText(control) || "";
    const role = Element.prototype.getAttribute.call(control, "role") || (DOM.localName(control) === "a" ? "link" : "button");
    return { label: label.replace(/\s+/g, " ").trim().slice(0, 200), role };
  }

  // A password field stays secret, even if the page later shows its value as plain characters.
  function rememberPasswords(root) {
    for (const each of DOM.querySelectorAll(root, "input[type=password]")) isSecret(each);
  }

  function seen(element) {
    if (element === null || element === near) return;
    near = element;
    send("near", { number: number(element) });
  }

  function enter(field) {
    dirty.add(field);
  }

  function flush(field) {
    if (!dirty.delete(field)) return;
    const may = allowed.has(field) && !isSecret(field);
    const text = may ? String("value" in field ? field.value : DOM.innerText(field)) : null;
    const more = { number: number(field), facts: facts(field), text: text === null ? null : text.slice(0, LONGEST) };
    send("entered", more);
  }

  function flushAll() {
    for (const field of [...dirty]) flush(field);
  }

  function on(type, listener) {
    const trusted = (event) => {
      if (event.isTrusted) listener(event);
    };
    globalThis.addEventListener(type, trusted, { capture: true, passive: true });
    listeners.push([type, trusted]);
  }

  on("pointerover", (event) => seen(elementOf(event)));
  on("focusin", (event) => {
    const element = elementOf(event);
    if (element === null) return;
    rememberPasswords(DOM.getRootNode(element));
    const field = fieldOf(element);
    if (field !== null) send("focus", { number: number(field), facts: facts(field) });
    else seen(element);
  });
  on("pointerdown", (event) => {
    const element = elementOf(event);
    if (element === null) return;
    rememberPasswords(DOM.getRootNode(element));
    near = null;
    seen(element);
  });

  function click(event) {
    const element = elementOf(event);
    if (element === null) return;
    const label = DOM.closest(element, "label");
    const control = label === null ? null : label.control;
    if (event.type === "click" && event.button <= 0) {
      const choice = [element, control].find((each) => each !== null && isChoice(each));
      if (choice !== undefined) {
        chosen = choice; // its change event becomes the step
        return;
      }
      if (event.detail === 0 && performance.now() - keyAt < 1000) return; // the key press becomes the step
      if (["select", "option"].includes(DOM.localName(element))) return;
      if (control !== null && control !== element && !DOM.closest(element, "button, a")) return; // the click on the control follows
    }
    flushAll();
    send("click", {
      number: number(element),
      facts: facts(element),
      ...labelOf(element),
      button: ["left", "middle", "right", "back", "forward"][event.button] || "left",
      count: event.detail === 2 ? 2 : 1,
      modifiers: ["Alt", "Control", "Meta", "Shift"].filter((name) => event[`${name === "Control" ? "ctrl" : name.toLowerCase()}Key`]),
    });
  }
  on("click", click);
  on("auxclick", (event) => {
    if (event.button !== 2) click(event);
  });
  on("contextmenu", (event) => {
    if (event.button === 2) click(event);
  });

  on("input", (event) => {
    const element = elementOf(event);
    const field = element === null ? null : fieldOf(element);
    if (field !== null) enter(field);
  });
  on("change", (event) => {
    const element = elementOf(event);
    if (element === null) return;
    if (isChoice(element)) {
      if (chosen !== element) return; // a script caused the change, although the event is trusted
      flushAll();
      send("check", { number: number(element), checked: element.checked });
    } else if (DOM.localName(element) === "select") {
      flushAll();
      const secret = isSecret(element);
      const values = Array.from(element.selectedOptions, (each) => each.label || each.text).slice(0, 1000);
      send("select", { number: number(element), facts: facts(element), values: secret ? null : values });
    } else if (DOM.localName(element) === "input" && element.type === "file") {
      send("files", { number: number(element), names: Array.from(element.files || [], (each) => each.name).slice(0, 20) });
    } else {
      const field = fieldOf(element);
      if (field !== null && DOM.localName(field) === "input" && ["color", "range"].includes(field.type)) flush(field);
    }
  });
  on("focusout", (event) => {
    const element = elementOf(event);
    const field = element === null ? null : fieldOf(element);
    if (field !== null) flush(field);
  });
  on("pagehide", flushAll);

  const COMMANDING = ["ctrlKey", "metaKey", "altKey"];
  on("keydown", (event) => {
    const element = elementOf(event);
    if (element === null || event.isComposing || event.repeat || ["Shift", "Control", "Alt", "Meta", "AltGraph"].includes(event.key)) return;
    keyAt = performance.now();
    const field = fieldOf(element);
    const commanding = COMMANDING.some((name) => event[name]) && !event.getModifierState("AltGraph");
    const modifiers = ["Control", "Meta", "Alt", "Shift"].filter((name) => event[`${name === "Control" ? "ctrl" : name.toLowerCase()}Key`]);
    const chord = [...(event.key.length === 1 && !commanding ? [] : modifiers), event.key === " " ? "Space" : event.key].join("+");
    const press = (sure) => send("key", { number: number(element), facts: facts(element), ...labelOf(element), key: chord, sure });
    if (event.key === "Enter" && !(field !== null && (DOM.localName(field) === "textarea" || DOM.isContentEditable(field)) && !commanding)) {
      flushAll();
      press(true);
    } else if (event.key === "Escape") {
      flushAll();
      press(false);
    } else if (event.key === " " && field === null && DOM.closest(element, "button, summary, [role=button], [role=menuitem], [role=option], [role=tab]")) {
      press(true);
    } else {
      // Only a key that the page handles is a step. Keys that edit, scroll or move the focus are not.
      const text = field !== null && (event.key.length === 1 || ["Backspace", "Delete"].includes(event.key)) && !commanding;
      if (text || event.key === "Tab" || isChoice(element) || DOM.localName(element) === "select") return;
      const character = event.key.length === 1 && !commanding; // outside a field, it may belong to a secret
      setTimeout(() => {
        if (!event.defaultPrevented) return;
        if (character) send("characters", {});
        else press(true);
      });
    }
  });

  const observer = new MutationObserver(() => {
    if (changed) return;
    changed = true;
    send("changed", {});
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

  Object.defineProperty(globalThis, key, {
    configurable: true,
    value: {
      // The element with this number and its ancestors, innermost first. Null if the element is no longer known.
      around(number) {
        const found = [];
        for (let node = known.get(number); node && found.length < MOST; node = DOM.parentNode(node) || DOM.host(node)) {
          if (DOM.nodeType(node) === 1) found.push(node);
        }
        return found.length ? found : null;
      },
      allow(number) {
        const field = known.get(number);
        if (field) allowed.add(field);
      },
      // The value of a field with input from before its approval. Null for a secret field.
      inputOf(number) {
        const field = known.get(number);
        if (!field || isSecret(field)) return null;
        return String("value" in field ? field.value : DOM.innerText(field)).slice(0, LONGEST);
      },
      flush: flushAll,
      // Discards pending input that the engine entered.
      reset() {
        dirty.clear();
      },
      watch() {
        changed = false;
      },
      stop() {
        observer.disconnect();
        for (const [type, listener] of listeners) globalThis.removeEventListener(type, listener, { capture: true });
        delete globalThis[key];
        delete globalThis[binding];
      },
    },
  });
  send("hello", {});
  const focused = DOM.hasFocus(document) && DOM.activeElement(document) ? fieldOf(DOM.activeElement(document)) : null;
  if (focused !== null) send("focus", { number: number(focused), facts: facts(focused) });
})
