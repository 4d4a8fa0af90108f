// The details of a step: one pane for each tab.

const PANES = { action: "Action", given: "Snapshot", console: "Console", network: "Network", messages: "Protocol", element: "Element" };
const panel = document.getElementById("panel");

let selected = null; // the inspected element

function list(facts) {
  const rows = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, textFor(value))]));
}

function textFor(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textFor).join(", ");
  return value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
}

const DEFAULTS = { button: "left", count: "1", delay: "0", wait_until: "load", mode: "role", refs: "actions", steps: "5", hold: "0", world: "main", recover: "terminate", state: "visible" };

// The arguments of a step that are not their defaults.
function given(step) {
  return Object.fromEntries(Object.entries(step.args).filter(([name, value]) => DEFAULTS[name] !== value && name !== "url"));
}

const duration = (step) => (step.end === undefined ? "did not end" : milliseconds(step.end - step.t));

async function actionPane(step) {
  const parts = [];
  if (step.error) parts.push(make("p.failure", {}, make("b", {}, step.error.kind), ` ${step.error.message}`, ...step.error.notes.map((note) => make("div", {}, note))));
  const page = index.pages.length > 1 ? `page ${step.page}` : null;
  parts.push(
    make("h2", {}, `${step.n}. ${step.verb}`),
    list({ ...(step.args.url ? { url: step.args.url } : {}), ...given(step), begins: `${step.t.toFixed(3)} s`, duration: duration(step), timeout: step.timeout ? `${step.timeout} s` : null, called: step.at, page, address: step.url }),
  );
  if (step.outcome) parts.push(make("h2", {}, "Outcome"), typeof step.outcome === "string" ? make("pre", {}, step.outcome) : list(step.outcome));
  if (step.log?.length) {
    const items = step.log.map(([at, text]) => make("li", {}, make("time", {}, `+${milliseconds(at - step.t)}`), make("span", {}, text)));
    parts.push(make("h2", {}, "Log"), make("ol.log", {}, ...items));
  }
  const picture = dataUrl(`given/${step.n}`, "image/png");
  if (picture) parts.push(make("h2", {}, "What the caller was given"), make("img", { src: picture, alt: "The picture", style: "max-width:100%" }));
  return parts;
}

// --- snapshots -------------------------------------------------------------------------------------------------

const REF = /\[ref=(e\d+)\]|^\s*\[(\d+)\] /;

// The last snapshot that the program was given up to a step.
function lastGiven(step) {
  return index.steps.findLast((each) => each.n <= step.n && each.page === step.page && each.given);
}

const refsByPlace = Object.fromEntries(
  Object.entries(index.refs).map(([page, refs]) => [page, new Map(Object.entries(refs).map(([ref, place]) => [place.join(" "), ref]))]),
);

async function givenPane(step) {
  const given = lastGiven(step);
  if (!given) return [make("p.faint", {}, "The program has been given no snapshot of this page yet.")];
  const { lines, diff } = await givenText(given.n);
  const { tokens, chars, lines: count, mode, gaps, sources, whole } = given.given;
  const facts = [`${tokens.toLocaleString("en")} tokens`, `${chars.toLocaleString("en")} characters`, `${count} lines`, `mode ${mode}`, `from ${sources.join(", ")}`];
  const parts = [];
  if (given !== step) parts.push(make("p.faint", {}, "The program knew the page from ", make("a", { href: `#action=${given.n}` }, `step ${given.n}`), "."));
  parts.push(make("p.facts", {}, ...facts.map((text) => make("span.tag", {}, text)), ...gaps.map((text) => make("span.tag.warn", {}, text))));
  if (diff !== null) {
    const kinds = { "+": "add", "-": "del", "~": "mod" };
    const changed = diff.split("\n").map((line) => lineOf(line, kinds[line[0]] && line[1] === " " ? kinds[line[0]] : "", given));
    parts.push(make("h2", {}, "Diff"), make("div.lines.mono", {}, ...changed), make("h2", {}, whole ? "Whole snapshot" : "Whole snapshot, of which the program was given the diff"));
  }
  parts.push(make("div.lines.mono", {}, ...lines.map((line) => lineOf(line, "", given))));
  return parts;
}

function lineOf(line, kind, given) {
  const found = REF.exec(line.replace(/"(?:[^"\\]|\\.)*"/g, (text) => " ".repeat(text.length)));
  const ref = found && (found[1] ?? `e${found[2]}`);
  const place = ref && index.refs[given.page]?.[ref];
  const element = make(kind ? `div.${kind}` : "div", { "data-ref": ref }, line);
  if (place) {
    element.addEventListener("mouseenter", () => mark([place, ref]));
    element.addEventListener("mouseleave", () => mark());
  }
  return element;
}

function lightRef(ref) {
  for (const each of panel.querySelectorAll(".lit")) each.classList.remove("lit");
  if (!ref) return;
  for (const each of panel.querySelectorAll(`[data-ref="${ref}"]`)) each.classList.add("lit");
}

// --- console and network ---------------------------------------------------------------------------------------

// Things at the time of a step, up to the beginning of the next one on the page. `ends` returns the end of a thing.
function during(step, things, ends = (each) => each.t) {
  const next = index.steps.find((each) => each.n > step.n && each.page === step.page);
  const first = step.n === index.steps[0].n ? -Infinity : step.t;
  return things.filter((each) => each.page === step.page && ends(each) >= first && each.t < (next?.t ?? Infinity));
}

// The end of a request. A body that no script reads has none, so its response counts as the end.
function endOf(request) {
  if (request.ended) return request.t + request.ended - request.at;
  return request.status ? request.t : Infinity;
}

async function consolePane(step) {
  const events = during(step, index.events);
  if (!events.length) return [make("p.faint", {}, "Nothing was written to the console during this step.")];
  const items = events.map((event) => {
    const level = event.kind === "error" ? "error" : event.level;
    const tag = { error: "tag.bad", warning: "tag.warn" }[level] ?? "tag";
    const text = make("span", {}, event.text, event.at ? make("div.faint", {}, event.at) : null);
    return make("li", {}, make("time", {}, `+${milliseconds(event.t - step.t)}`), make(`span.${tag}`, {}, level), text);
  });
  return [make("ol.log", {}, ...items)];
}

const sizeOf = (bytes) => (bytes < 0 || bytes === undefined ? "" : bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

async function networkPane(step) {
  const requests = during(step, index.requests, endOf);
  if (!requests.length) return [make("p.faint", {}, "No request was under way during this step.")];
  const began = Math.min(...requests.map((each) => each.began ?? each.at));
  const ended = Math.max(...requests.map((each) => each.ended ?? each.began ?? each.at), began + 0.001);
  const details = make("div");
  const rows = requests.map((request) => {
    const left = ((request.began ?? request.at) - began) / (ended - began);
    const width = ((request.ended ?? ended) - (request.began ?? request.at)) / (ended - began);
    const name = request.url.startsWith("data:") ? request.url.slice(0, 60) : request.url.replace(/^[a-z]+:\/\/[^/]*\/(?=.)/, "/");
    const failed = request.failure || request.status >= 400;
    const status = [request.status, request.failure && "failed"].filter(Boolean).join(" ") || "…";
    const row = make(
      "tr",
      {},
      make("td.wide", { title: request.url }, make("button", { type: "button", onclick: () => choose(row, request) }, `${request.method} ${name}`)),
      make("td", {}, make(failed ? "span.tag.bad" : "span.tag", {}, status)),
      make("td", {}, request.type),
      make("td", {}, sizeOf(request.size)),
      make("td", { title: request.ended ? milliseconds(request.ended - request.began) : "" }, make("div.fall", {}, make("i", { style: `left:${left * 100}%;width:${width * 100}%` }))),
    );
    return row;
  });
  async function choose(row, request) {
    for (const each of rows) each.setAttribute("aria-selected", String(each === row));
    details.replaceChildren(...(await requestDetails(request)));
    details.scrollIntoView({ block: "nearest" });
  }
  const head = make("tr", {}, ...["request", "status", "type", "size", "time"].map((name) => make("th", { scope: "col" }, name)));
  return [make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)), details];
}

async function requestDetails(request) {
  const entry = request.pack === undefined ? null : (await pack(`requests-${request.pack}`))[request.id];
  if (!entry) return [make("h2", {}, request.url), make("p.faint", {}, request.failure || "It had not ended.")];
  const pairs = (headers) => (headers.length ? list(Object.fromEntries(headers.map(({ name, value }) => [name, value]))) : make("p.faint", {}, "none"));
  const { content } = entry.response;
  const phases = Object.entries(entry.timings).filter(([, time]) => time > 0).map(([name, time]) => make("span.tag", {}, `${name} ${time.toFixed(1)} ms`));
  const parts = [make("h2", {}, `${request.method} ${request.url.slice(0, 300)}`)];
  if (request.failure) parts.push(make("p.failure", {}, request.failure));
  parts.push(make("p.facts", {}, ...phases), make("h2", {}, "Response headers"), pairs(entry.response.headers), make("h2", {}, "Request headers"), pairs(entry.request.headers));
  if (entry.request.postData) parts.push(make("h2", {}, "Posted data"), make("pre", {}, entry.request.postData.text));
  const resource = index.resources[request.url];
  if (content.text !== undefined && !content.encoding) parts.push(make("h2", {}, "Body"), make("pre", {}, pretty(content.text)));
  else if (resource && /^image\//.test(content.mimeType)) parts.push(make("h2", {}, "Body"), make("img", { src: dataUrl(resource, content.mimeType), alt: request.url, style: "max-width:100%" }));
  else if (resource && /^text\//.test(content.mimeType)) parts.push(make("h2", {}, "Body"), make("pre", {}, textOf(resource)));
  else if (content.comment) parts.push(make("p.faint", {}, content.comment));
  return parts;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// --- messages --------------------------------------------------------------------------------------------------

async function messagesPane(step) {
  const lines = step.pack === undefined ? [] : ((await pack(`messages-${step.pack}`))[step.n] ?? []);
  if (!lines.length) return [make("p.faint", {}, "No message belongs to this step.")];
  const sessions = [...new Set(lines.map((line) => line.s ?? ""))];
  const items = lines.map((line) => {
    const arrow = { call: "→", reply: "←", error: "✗", event: "·" }[line.k];
    const session = sessions.length > 1 && line.s ? ` ${line.s.slice(0, 4)}` : "";
    const item = make(
      "details.message",
      {},
      make(
        "summary",
        {},
        make("time", {}, `+${milliseconds(line.t - step.t)}`),
        make(`span.${line.k}`, { "aria-label": line.k }, arrow),
        make("b", {}, line.m ?? ""),
        make("small", {}, `${line.ms === undefined ? "" : `${line.ms.toFixed(1)} ms  `}${sizeOf(line.z)}${session}`),
      ),
    );
    item.addEventListener("toggle", () => item.children.length < 2 && item.append(make("pre", {}, JSON.stringify(line.msg, null, 2))), { once: true });
    return item;
  });
  const calls = lines.filter((line) => line.k === "call").length;
  return [make("p.facts", {}, make("span.tag", {}, `${lines.length} messages`), make("span.tag", {}, `${calls} commands`)), ...items];
}

// --- the inspected element -------------------------------------------------------------------------------------

const STYLES = ["display", "position", "visibility", "opacity", "color", "background-color", "font-family", "font-size", "font-weight", "line-height", "margin", "padding", "border", "width", "height", "overflow", "z-index", "pointer-events", "cursor"];

function inspect(found) {
  selected = found;
  openTab("element");
}

async function elementPane() {
  if (!selected || !selected.element.isConnected) return [make("p.faint", {}, "Click an element of the page to inspect it.")];
  const { built, element } = selected;
  const path = [];
  for (let each = element; each; each = each.parentNode ?? each.host) if (each.localName) path.unshift(describe(each));
  const style = built.document.defaultView.getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const value = "value" in element && element.localName !== "li" ? element.value : null;
  const attributes = Object.fromEntries([...element.attributes].map(({ name, value: text }) => [name, text.slice(0, 300)]));
  const parts = [
    make("h2", {}, describe(element)),
    list({ ref: refAround(selected), path: path.join(" › "), box: `${box.width.toFixed(1)} × ${box.height.toFixed(1)} at ${box.left.toFixed(1)}, ${box.top.toFixed(1)}`, value, scrolled: element.scrollTop ? `${element.scrollTop} px` : null, text: element.textContent.trim().slice(0, 300) }),
  ];
  if (element.attributes.length) parts.push(make("h2", {}, "Attributes"), list(attributes));
  parts.push(make("h2", {}, "Computed style"), list(Object.fromEntries(STYLES.map((name) => [name, style.getPropertyValue(name)]))));
  return parts;
}

const RENDER = { action: actionPane, given: givenPane, console: consolePane, network: networkPane, messages: messagesPane, element: elementPane };
