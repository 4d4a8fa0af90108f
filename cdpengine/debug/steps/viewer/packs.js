// The data in the page: the index, and packs that are read when they are first needed.

const index = JSON.parse(document.getElementById("index").textContent);
const read = new Map();

// Return the value of a pack, or null without one.
function pack(name) {
  if (!read.has(name)) read.set(name, unpack(document.getElementById(name)));
  return read.get(name);
}

async function unpack(element) {
  if (element === null) return null;
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// Return an entry of the trace as a data: URL, or "".
function dataUrl(name, type = "") {
  const element = document.getElementById(name);
  if (element === null) return "";
  const text = element.textContent;
  const kind = type || (text.startsWith("PHN2") || text.startsWith("PD94") ? "image/svg+xml" : "");
  return `data:${kind};base64,${text}`;
}

function textOf(name) {
  const element = document.getElementById(name);
  if (element === null) return "";
  return new TextDecoder().decode(Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0)));
}

// The snapshots that the program was given, as text: each is stored as the lines that differ from the one before.
const givenTexts = new Map();

async function givenText(number) {
  const all = await pack("given");
  const byNumber = new Map(all.map((each) => [each.n, each]));
  const chain = [];
  for (let each = byNumber.get(number); each && !givenTexts.has(each.n); each = byNumber.get(each.base)) chain.push(each);
  for (const each of chain.reverse()) {
    const before = givenTexts.get(each.base) ?? [];
    const tail = each.tail ? before.slice(before.length - each.tail) : [];
    givenTexts.set(each.n, [...before.slice(0, each.head), ...each.text, ...tail]);
  }
  return { lines: givenTexts.get(number) ?? [], diff: byNumber.get(number)?.diff ?? null };
}

// --- elements of the viewer ------------------------------------------------------------------------------------

// Return an element: `make("p.faint", { title }, "text", child)`.
function make(kind, properties = {}, ...content) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((each) => each !== null && each !== undefined));
  return element;
}

const milliseconds = (seconds) => (seconds >= 1 ? `${seconds.toFixed(2)} s` : `${Math.max(0, seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`);
