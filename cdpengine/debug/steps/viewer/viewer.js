// The viewer: the list of steps, the chosen step, the address and the keyboard.
//   #action=3&tab=network&page=before   the address of a step

const stepsList = document.getElementById("steps");
const search = document.getElementById("search");
const kind = document.getElementById("kind");

let current = null;
let tab = "action";
let state = "after";
let listed = [];

// Return the element of a step, or the searched one: its role and name, URL, key or other arguments.
function targetOf(step) {
  const { args } = step;
  const named = step.nodes[0]?.name ?? args.target ?? args.source ?? args.url ?? args.key ?? args.expected;
  if (named !== undefined) return named;
  const { role, name, ...others } = given(step);
  const element = [role, name && `"${name}"`].filter(Boolean).join(" ");
  const rest = Object.entries(others).filter(([, value]) => value !== "[redacted]").map(([key, value]) => `${key} ${value}`);
  return [element, ...rest].filter(Boolean).join(", ");
}

function row(step) {
  const tags = [];
  if (step.error) tags.push(make("span.tag.bad", {}, step.error.kind));
  if (step.given) tags.push(make("span.tag", {}, `${step.given.tokens.toLocaleString("en")} tokens`));
  if (step.outcome?.navigation) tags.push(make("span.tag.good", {}, "navigation"));
  if (step.outcome?.popup) tags.push(make("span.tag.good", {}, "popup"));
  if (step.outcome?.dialogs) tags.push(make("span.tag.warn", {}, "dialog"));
  if (step.outcome?.download) tags.push(make("span.tag.good", {}, "download"));
  const button = make(
    `button.${step.error ? "failed" : step.read ? "read" : "action"}`,
    { type: "button", tabindex: "-1" },
    make("span.n", {}, String(step.n)),
    make("span.verb", {}, step.verb),
    make("span.ms", {}, step.end === undefined ? "…" : milliseconds(step.end - step.t)),
    make("span.target", {}, targetOf(step)),
    tags.length ? make("span.tags", {}, ...tags) : null,
  );
  return make("li", { "data-n": step.n }, button);
}

const rows = new Map(index.steps.map((step) => [step.n, row(step)]));

function textOfStep(step) {
  return (step.words ??= JSON.stringify([step.verb, step.args, step.url, step.error, step.outcome, step.nodes.map((node) => node.name), step.at]).toLowerCase());
}

function filter() {
  const wanted = search.value.trim().toLowerCase();
  const matches = { actions: (step) => !step.read, reads: (step) => step.read, failed: (step) => step.error }[kind.value] ?? (() => true);
  listed = index.steps.filter((step) => matches(step) && (!wanted || textOfStep(step).includes(wanted)));
  stepsList.replaceChildren(...listed.map((step) => rows.get(step.n)));
  document.getElementById("count").textContent = `${listed.length} of ${index.steps.length} steps`;
}

// --- the chosen step -------------------------------------------------------------------------------------------

function open(number, { state: wantedState = state, tab: wantedTab = tab, focus = false } = {}) {
  const step = index.steps.find((each) => each.n === number) ?? index.steps[0];
  if (!step) return;
  current = step;
  [state, tab] = [wantedState, wantedTab];
  for (const each of document.querySelectorAll("#steps [aria-current], #bars [aria-current]")) each.removeAttribute("aria-current");
  for (const each of document.querySelectorAll('#steps button[tabindex="0"]')) each.tabIndex = -1;
  const button = rows.get(step.n).firstElementChild;
  button.setAttribute("aria-current", "step");
  button.tabIndex = 0;
  if (focus) button.focus({ preventScroll: true });
  button.scrollIntoView({ block: "nearest" });
  takeBar(step).setAttribute("aria-current", "step");
  const address = `#action=${step.n}${tab === "action" ? "" : `&tab=${tab}`}${state === "after" ? "" : `&page=${state}`}`;
  if (location.hash !== address) history.replaceState(null, "", address);
  document.title = `${step.n}. ${step.verb} - ${index.name}`;
  drawStates();
  drawPanel();
}

async function drawStates() {
  const step = current;
  for (const button of document.querySelectorAll("#states button")) {
    const name = button.dataset.state;
    button.setAttribute("aria-pressed", String(name === state));
    button.disabled = name === "picture" ? !index.pictures.length : false;
  }
  const words = { before: "before", after: "after", picture: "at" };
  document.getElementById("caption").textContent = `Page ${words[state]} step ${step.n}, ${step.verb} ${targetOf(step)}`;
  await showState(step, state);
}

function openTab(name) {
  tab = name;
  open(current.n);
}

let drawn = 0;
async function drawPanel() {
  const mine = ++drawn;
  const counts = { console: during(current, index.events).length, network: during(current, index.requests).length, messages: current.messages };
  for (const button of document.querySelectorAll("#tabs button")) {
    const chosen = button.dataset.tab === tab;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    const count = counts[button.dataset.tab];
    button.textContent = PANES[button.dataset.tab] + (count ? ` ${count}` : "");
  }
  const parts = await RENDER[tab](current);
  if (mine !== drawn) return;
  panel.setAttribute("aria-label", PANES[tab]);
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

// --- the keyboard and the address ------------------------------------------------------------------------------

function move(by) {
  const at = listed.indexOf(current);
  const step = listed[Math.min(Math.max(at + by, 0), listed.length - 1)];
  if (step) open(step.n, { focus: stepsList.contains(document.activeElement) });
}

const names = Object.keys(PANES);
const KEYS = {
  ArrowDown: () => move(1),
  j: () => move(1),
  ArrowUp: () => move(-1),
  k: () => move(-1),
  Home: () => move(-Infinity),
  End: () => move(Infinity),
  PageDown: () => move(10),
  PageUp: () => move(-10),
  b: () => open(current.n, { state: "before" }),
  a: () => open(current.n, { state: "after" }),
  p: () => open(current.n, { state: "picture" }),
  "/": () => search.focus(),
};
for (const [at, name] of names.entries()) KEYS[String(at + 1)] = () => openTab(name);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !current) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") {
      search.value = "";
      filter();
      event.target.blur();
    }
    return;
  }
  const inTabs = event.target.closest("#tabs");
  if (inTabs && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
    const next = names[(names.indexOf(tab) + (event.key === "ArrowRight" ? 1 : names.length - 1)) % names.length];
    openTab(next);
    document.querySelector(`#tabs [data-tab="${next}"]`).focus();
    return event.preventDefault();
  }
  if (event.target.closest("#panel") && /^(Arrow|Page|Home|End)/.test(event.key)) return;
  const action = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (action) {
    action();
    event.preventDefault();
  }
});

function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const first = index.steps.findLast((step) => step.error) ?? index.steps[0];
  const number = Number(wanted.get("action")) || first?.n;
  if (number === undefined) return;
  open(number, { tab: PANES[wanted.get("tab")] ? wanted.get("tab") : tab, state: wanted.get("page") ?? state });
}

// --- beginning -------------------------------------------------------------------------------------------------

const dark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const theme = document.getElementById("theme");
function nameTheme() {
  theme.textContent = dark() ? "Light" : "Dark";
}
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  nameTheme();
});
nameTheme();

document.getElementById("name").textContent = index.name;
const last = Math.max(0, ...index.steps.map((step) => step.end ?? step.t));
const failures = index.steps.filter((step) => step.error).length;
const about = [`${index.product}`, new Date(index.started).toLocaleString(), `${last.toFixed(1)} s`];
if (failures) about.push(`${failures} failed`);
if (index.redacted) about.push("secrets redacted");
if (!index.complete) about.push("the trace has no end: the program was ended early");
document.getElementById("about").textContent = about.join(" · ");
document.getElementById("tabs").append(
  ...names.map((name) => make("button", { type: "button", role: "tab", "data-tab": name, "aria-controls": "panel", onclick: () => openTab(name) }, PANES[name])),
);
for (const button of document.querySelectorAll("#states button")) button.addEventListener("click", () => open(current.n, { state: button.dataset.state }));
stepsList.addEventListener("click", (event) => {
  const number = event.target.closest("li")?.dataset.n;
  if (number) open(Number(number), { focus: true });
});
search.addEventListener("input", filter);
kind.addEventListener("change", filter);
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", followAddress);
addEventListener("resize", drawTimeline);

filter();
drawTimeline();
if (index.steps.length) followAddress();
else nothing("The trace has no steps.");
