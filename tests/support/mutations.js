// Random page changes of every kind that can affect a snapshot. Runs in the page's main world.
// `mutate(seed)` makes one change and returns its name. The same seed on the same page makes the same change.
(function () {
  "use strict";

  let state = 1;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(random() * n);
  const pick = (list) => list[below(list.length)];
  const word = () => pick(["alpha", "beta", "gamma", "delta", "one two", "Zed", "x", "", "Q & A", "n" + below(50)]);

  const closed = [];
  const roots = () => {
    const found = [document];
    for (let i = 0; i < found.length; i++) {
      for (const each of found[i].querySelectorAll("*")) {
        if (!(each instanceof HTMLFormElement) && each.shadowRoot) found.push(each.shadowRoot);
      }
    }
    return found.concat(closed.filter((root) => root.host.isConnected));
  };
  const all = () =>
    roots().flatMap((root) => [...root.querySelectorAll(root === document ? "body, body *" : "*")])
      .filter((e) => !["SCRIPT", "STYLE", "TEMPLATE"].includes(e.tagName));
  const some = (selector) => pick(all().filter((e) => e.matches(selector)));
  const inner = () => pick(all().filter((e) => e !== document.body));
  const ids = () => [...document.querySelectorAll("[id]")].map((e) => e.id);
  const anId = () => (random() < 0.2 ? "new" + below(9) : pick(ids()) || "none");
  const call = (e, name, ...rest) => Element.prototype[name].apply(e, rest);

  const MARKUP = [
    () => `<button>${word()}</button>`,
    () => `<p>${word()} <b>${word()}</b></p>`,
    () => `<label>${word()} <input type=checkbox ${random() < 0.5 ? "checked" : ""}></label>`,
    () => `<label for="${anId()}">${word()}</label>`,
    () => `<input id="${anId()}" aria-labelledby="${anId()} ${anId()}">`,
    () => `<a href="/x/${below(9)}">${word()}</a>`,
    () => `<ul><li>${word()}</li><li>${word()}</li></ul>`,
    () => `<table><tr><th>${word()}</th><td>${word()}</td></tr></table>`,
    () => `<select><option>${word()}</option><option selected>${word()}</option></select>`,
    () => `<span class="flag">${word()}</span>`,
    () => `<details><summary>${word()}</summary>${word()}</details>`,
    () => `<div><template shadowrootmode=open><slot></slot><i>${word()}</i></template>${word()}</div>`,
    () => `<q>${word()}</q>`,
    () => `<span aria-disabled=true role=button>${word()}</span>`,
    () => `<h3 id="${anId()}">${word()}</h3>`,
    () => `<fieldset disabled><legend>${word()}</legend><input></fieldset>`,
  ];

  const flip = (e, name, value) => (call(e, "hasAttribute", name) ? call(e, "removeAttribute", name) : call(e, "setAttribute", name, value));
  const put = (e, name, value) => call(e, "setAttribute", name, value);
  const sheets = () => [...document.styleSheets].filter((s) => s.ownerNode && s.ownerNode.tagName === "STYLE");
  const RULES = [
    ".row span { display: none }", ".tip { visibility: hidden }", "button { text-transform: uppercase }",
    "li::before { content: '* ' }", "p { content-visibility: hidden }", "b { display: block }",
    ".row:nth-child(2n) .third { display: none }", "i::after { content: attr(class) }", ".x { display: contents }",
  ];

  const OPS = {
    text: () => { const e = inner(); const t = [...e.childNodes].find((n) => n.nodeType === 3); if (t) t.data = word(); else e.append(word()); },
    textContent: () => { const e = some("button,b,span,li,td,th,p,label,legend,summary,h1,h2,h3,option,a"); if (e) e.textContent = word(); },
    insert: () => inner().insertAdjacentHTML(pick(["beforebegin", "afterbegin", "beforeend", "afterend"]), pick(MARKUP)()),
    innerHTML: () => { const e = some("li,p,span,td,div.row,section section"); if (e) e.innerHTML = pick(MARKUP)() + pick(MARKUP)(); },
    unsafe: () => { const e = some("li,p,td"); if (e && e.setHTMLUnsafe) e.setHTMLUnsafe(pick(MARKUP)()); },
    remove: () => { const e = pick(all().filter((e) => e !== document.body && e.querySelectorAll("*").length < 12)); if (e) call(e, "remove"); },
    move: () => { const e = pick(all().filter((e) => e !== document.body && e.querySelectorAll("*").length < 40)); const to = inner(); if (e && !e.contains(to) && to !== e) call(to, pick(["append", "before", "after", "prepend"]), e); },
    appendRow: () => { const e = some("ul,ol,tbody,main,section"); const c = e && e.lastElementChild; if (c) e.append(c.cloneNode(true)); },
    sort: () => { const e = some("ul,ol,tbody"); if (e) [...e.children].reverse().slice(0, 5).forEach((c) => e.append(c)); },
    class: () => call(inner(), "getAttribute", "class") !== undefined && inner().classList.toggle(pick(["hide", "ghost", "up", "veil", "block", "flag", "deco", "inlined", "vanish", "far"])),
    bodyClass: () => document.body.classList.toggle(pick(["night", "hide-tips", "calm"])),
    style: () => { inner().style.cssText = pick(["", "display:none", "visibility:hidden", "text-transform:uppercase", "content-visibility:hidden", "display:contents"]); },
    hidden: () => flip(inner(), "hidden", pick(["", "until-found"])),
    ariaHidden: () => flip(inner(), "aria-hidden", "true"),
    inert: () => flip(inner(), "inert", ""),
    role: () => flip(inner(), "role", pick(["button", "none", "list", "listitem", "table", "row", "cell", "grid", "heading", "group", "tree", "treeitem", "presentation", "menu", "tab", "region"])),
    ariaLabel: () => flip(inner(), "aria-label", word()),
    labelledby: () => flip(inner(), "aria-labelledby", `${anId()} ${anId()}`),
    describedby: () => flip(inner(), "aria-describedby", anId()),
    owns: () => { if (random() < 0.3) flip(inner(), "aria-owns", anId()); else for (const e of document.querySelectorAll("[aria-owns]")) e.removeAttribute("aria-owns"); },
    states: () => flip(inner(), pick(["aria-disabled", "aria-checked", "aria-pressed", "aria-expanded", "aria-selected", "aria-busy", "aria-haspopup", "aria-invalid", "aria-modal", "aria-readonly", "aria-required"]), "true"),
    level: () => put(inner(), pick(["aria-level", "aria-valuenow"]), String(below(6))),
    id: () => { const e = inner(); if (random() < 0.5) put(e, "id", anId()); else call(e, "removeAttribute", "id"); },
    for: () => { const e = some("label"); if (e) flip(e, "for", anId()); },
    title: () => flip(inner(), "title", word()),
    placeholder: () => { const e = some("input,textarea"); if (e) e.placeholder = word(); },
    tabindex: () => flip(inner(), "tabindex", pick(["0", "-1"])),
    editable: () => { const e = some("p,span,li"); if (e) flip(e, "contenteditable", ""); },
    lang: () => flip(inner(), pick(["lang", "dir", "data-x", "is", "translate"]), pick(["fr", "rtl", "no"])),
    focus: () => { const e = some("button,input,select,textarea,a,[tabindex],summary"); if (e) e.focus(); },
    blur: () => document.activeElement && document.activeElement.blur(),
    value: () => { const e = some("input,textarea"); if (e && e.type !== "file") try { e.value = pick(["", "typed", "7", "2024-01-02", "secret"]); } catch {} },
    validity: () => { const e = some("input,textarea,select,button"); if (e) e.setCustomValidity(pick(["", "bad"])); },
    check: () => { const e = some("input[type=checkbox],input[type=radio]"); if (e) e.checked = !e.checked; },
    indeterminate: () => { const e = some("input[type=checkbox]"); if (e) e.indeterminate = !e.indeterminate; },
    select: () => { const e = some("select"); if (e && e.options.length) e.options[below(e.options.length)].selected = random() < 0.7; },
    type: () => { const e = some("input"); if (e) e.type = pick(["text", "checkbox", "radio", "password", "number", "range", "button", "date", "email"]); },
    attribute: () => { const e = some("input,select,textarea,button,fieldset,option"); if (e) flip(e, pick(["disabled", "required", "readonly", "multiple", "checked", "selected", "value", "min", "pattern", "name", "size", "list"]), pick(["3", "t1", "opts"])); },
    reset: () => { const e = document.querySelectorAll("form"); if (e.length) HTMLFormElement.prototype.reset.call(pick([...e])); },
    click: () => { const e = some("button:not([popovertarget]),label,summary,input[type=checkbox],input[type=radio]"); if (e) e.click(); },
    details: () => { const e = some("details"); if (e) e.open = !e.open; },
    dialog: () => { const e = some("dialog"); if (!e || !e.isConnected) return; if (e.open) e.close(); else if (random() < 0.3) try { e.showModal(); } catch {} else e.show(); },
    closeModal: () => { for (const e of document.querySelectorAll("dialog")) if (e.matches(":modal")) e.close(); },
    popover: () => { const e = some("[popover]"); if (e) try { e.togglePopover(); } catch {} },
    href: () => { const e = some("a"); if (e) flip(e, "href", `/y/${below(9)}`); },
    alt: () => { const e = some("img"); if (e) e.alt = word(); },
    insertRule: () => { const s = pick(sheets()); if (s) try { s.insertRule(pick(RULES), 0); } catch {} },
    deleteRule: () => { const s = pick(sheets()); if (s && s.cssRules.length > 25) s.deleteRule(0); },
    editRule: () => { const s = pick(sheets()); const r = s && pick([...s.cssRules].filter((r) => r.style)); if (r) r.style.display = pick(["", "none", "block", "inline"]); },
    disableSheet: () => { const s = pick(sheets()); if (s) s.disabled = !s.disabled; },
    styleText: () => { const e = pick([...document.querySelectorAll("style")].slice(1)); if (e) e.textContent = pick(RULES); },
    adopt: () => { const s = new CSSStyleSheet(); s.replaceSync(pick(RULES)); const r = pick(roots()); r.adoptedStyleSheets = random() < 0.5 ? [s] : []; },
    addStyle: () => { const e = document.createElement("style"); e.textContent = pick(RULES); if (random() < 0.5) inner().append(e); else { const old = document.body.querySelector("style"); if (old) old.remove(); } },
    attachShadow: () => { const e = some("div,span,p,section,x-card"); if (e && !e.shadowRoot) try { const r = e.attachShadow({ mode: "open" }); r.innerHTML = `<button>${word()}</button><slot></slot>`; } catch {} },
    shadowEdit: () => { const r = pick(roots().filter((r) => r !== document)); if (r) r.append(Object.assign(document.createElement("button"), { textContent: word() })); },
    slot: () => { const e = inner(); flip(e, "slot", pick(["a", "b"])); },
    assign: () => { const r = pick(roots().filter((r) => r !== document)); const s = r && r.querySelector("slot"); if (s) try { s.assign(...[...r.host.children].slice(0, below(3))); } catch {} },
    internals: () => { const e = some("x-card"); if (e && e.internals) { e.internals.role = pick(["button", "group", null]); e.internals.ariaLabel = word() || null; } },
    reference: () => { const e = inner(); e.ariaLabelledByElements = random() < 0.6 ? [inner()] : null; },
    scroll: () => { document.scrollingElement.scrollTop = below(4000); const e = inner(); e.scrollTop = below(200); },
    hash: () => { location.hash = pick(["", "t1", "t2", "nowhere"]); },
    push: () => history.replaceState(null, "", pick(["/deep/page", "/other", "?q=1"])),
    base: () => { const b = document.querySelector("base"); if (b) b.remove(); else { const n = document.createElement("base"); n.href = "https://elsewhere.test/"; document.head.append(n); } },
    documentTitle: () => { document.title = word(); },
    design: () => { document.designMode = document.designMode === "on" ? "off" : "on"; },
    animate: () => { const e = inner(); if (random() < 0.5) e.animate([{ visibility: "hidden" }, { visibility: "hidden" }], { duration: 1e6, fill: "both" }); else for (const a of document.getAnimations()) a.cancel(); },
    normalize: () => document.body.normalize(),
    split: () => { const e = inner(); const t = [...e.childNodes].find((n) => n.nodeType === 3 && n.length > 2); if (t) t.splitText(1); },
    swapText: () => { const e = some("li,p,div"); if (e) e.append(" ", word(), " "); },
    define: () => { if (!customElements.get("x-late")) customElements.define("x-late", class extends HTMLElement { connectedCallback() { this.attachInternals().role = "button"; } }); },
    burst: () => { for (let i = 0; i < 5; i++) { OPS.text(); OPS.class(); OPS.value(); } },
  };
  const LIVELY = new Set(["text", "textContent", "insert", "appendRow", "class", "value", "check", "focus", "label", "hidden", "select", "ariaLabel"]);
  const BAG = Object.keys(OPS).flatMap((name) => (LIVELY.has(name) ? [name, name, name] : [name]));

  window.mutate = (seed, only) => {
    state = seed;
    random();
    const name = only || pick(BAG);
    try {
      OPS[name]();
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
    }
    return name;
  };
})();
