// The stage: a state of the page, with marks for the action, for refs and for the element under the mouse.

const stage = document.getElementById("stage");
const scaled = document.getElementById("scaled");
const marks = document.getElementById("marks");
const glass = document.getElementById("glass");

let shown = null; // { built, step, when, scale }
let turn = 0;

// Show the documents of a step, before or after it, or the nearest picture.
async function showState(step, when) {
  const mine = ++turn;
  const frames = step[when] ?? [];
  document.getElementById("nothing").hidden = true;
  if (when === "picture") return showPicture(step);
  const top = frames.find(([, , , above]) => above === "" || !frames.some(([id]) => id === above));
  if (top === undefined) {
    scaled.replaceChildren();
    return nothing(when === "before" ? "The page was not read before this step." : "The page was not read after this step.");
  }
  const [id, number, version] = top;
  const same = shown?.key === JSON.stringify(frames);
  if (!same) {
    const tree = await treeOf(number, version);
    if (mine !== turn) return;
    const frame = await makeFrame(tree.facts);
    if (mine !== turn) return;
    const all = [];
    await new Built(tree, number, frame, { id, frames, all }).build();
    if (mine !== turn) return;
    shown = { key: JSON.stringify(frames), built: all, view: tree.facts.view, url: tree.facts.url, title: tree.facts.title };
  }
  Object.assign(shown, { step, when });
  document.getElementById("address").textContent = shown.url;
  document.getElementById("address").title = shown.title;
  fit();
}

function nothing(text) {
  shown = null;
  const note = document.getElementById("nothing");
  note.textContent = text;
  note.hidden = false;
  marks.replaceChildren();
}

function makeFrame(facts) {
  const frame = make("iframe", { sandbox: "allow-same-origin", title: "The page, as it was", tabindex: "-1", "aria-hidden": "true" });
  const [width, height] = facts.view;
  scaled.style.width = `${width || 1}px`;
  scaled.style.height = `${height || 1}px`;
  return new Promise((resolve) => {
    frame.addEventListener("load", () => resolve(frame), { once: true });
    if (!facts.quirks) frame.srcdoc = "<!doctype html><title></title>";
    scaled.replaceChildren(frame);
  });
}

function showPicture(step) {
  shown = null;
  const of = index.pictures.filter((each) => each.page === step.page);
  const picture = of.findLast((each) => each.t <= (step.end ?? step.t) + 0.3) ?? of[0];
  if (!picture) {
    scaled.replaceChildren();
    return nothing("There is no picture of this step.");
  }
  const [width, height] = picture.size;
  scaled.style.width = `${width}px`;
  scaled.style.height = `${height}px`;
  scaled.replaceChildren(make("img", { src: dataUrl(picture.name, "image/jpeg"), alt: `The page at ${picture.t.toFixed(2)} s` }));
  document.getElementById("address").textContent = step.url;
  fit();
}

function fit() {
  const width = parseFloat(scaled.style.width) || 1;
  const height = parseFloat(scaled.style.height) || 1;
  const scale = Math.min((stage.clientWidth - 24) / width, (stage.clientHeight - 24) / height, 1);
  scaled.style.transform = `translate(${Math.max(12, (stage.clientWidth - width * scale) / 2)}px, 12px) scale(${scale})`;
  mark();
}

// --- marks -----------------------------------------------------------------------------------------------------

// Return the rectangle of an element in CSS pixels of the stage, or null.
function rectangleOf(built, element) {
  let box = element.getBoundingClientRect?.();
  if (!box || (box.width === 0 && box.height === 0)) return null;
  let { left, top } = box;
  for (let view = built.frame; view.ownerDocument !== document; view = view.ownerDocument.defaultView.frameElement) {
    const outer = view.getBoundingClientRect();
    left += outer.left + view.clientLeft;
    top += outer.top + view.clientTop;
  }
  return onStage(left, top, box.width, box.height);
}

function onStage(left, top, width = 0, height = 0) {
  const outer = scaled.getBoundingClientRect();
  const around = stage.getBoundingClientRect();
  const scale = outer.width / (parseFloat(scaled.style.width) || 1);
  return { left: outer.left - around.left + left * scale, top: outer.top - around.top + top * scale, width: width * scale, height: height * scale };
}

function find(place) {
  const built = shown?.built.find((each) => each.number === place?.[0]);
  const element = built?.elements.get(place[1]);
  return element ? { built, element } : null;
}

function markBox(place, label, kind = "box") {
  const found = find(place);
  const box = found && rectangleOf(found.built, found.element);
  if (!box) return false;
  const item = make(`div.${kind}`, {}, ...(label ? [make("span", {}, label)] : []));
  Object.assign(item.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` });
  marks.append(item);
  return true;
}

// Draw the target and the point of the action, and the element of `hovered`: [place, label].
function mark(hovered = null) {
  marks.replaceChildren();
  if (shown === null) return;
  for (const node of shown.step.nodes) markBox(node.node, node.name);
  const point = shown.step.outcome?.point;
  if (point && shown.when === "before") {
    const { left, top } = onStage(...pointOf(shown.step, point));
    marks.append(make("div.point", { style: `left:${left}px;top:${top}px` }));
  }
  if (hovered) markBox(...hovered, "box.hover");
}

// The point is relative to the frame of the action's process.
function pointOf(step, [x, y]) {
  const built = shown.built.find((each) => each.id === step.frame);
  if (built === undefined || built.tree.facts.index < 0) return [x, y];
  const found = find(step.nodes[0]?.node);
  const box = found?.element.getBoundingClientRect();
  if (box && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) {
    const outer = built.frame.getBoundingClientRect();
    return [x + outer.left, y + outer.top];
  }
  return [x, y];
}

// --- inspecting ------------------------------------------------------------------------------------------------

// Return the innermost element at a point of the stage: { built, element }.
function elementAt(event) {
  if (shown === null) return null;
  const outer = scaled.getBoundingClientRect();
  const scale = outer.width / (parseFloat(scaled.style.width) || 1);
  let [x, y] = [(event.clientX - outer.left) / scale, (event.clientY - outer.top) / scale];
  let built = shown.built[0];
  for (;;) {
    let element = built.document.elementFromPoint(x, y);
    while (element?.shadowRoot) {
      const inner = element.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === element) break;
      element = inner;
    }
    if (!element) return null;
    const next = shown.built.find((each) => each.frame === element);
    if (next === undefined) return { built, element };
    const box = element.getBoundingClientRect();
    [x, y] = [x - box.left - element.clientLeft, y - box.top - element.clientTop];
    built = next;
  }
}

glass.addEventListener("mousemove", (event) => {
  const found = elementAt(event);
  const number = found && found.built.numbers.get(found.element);
  if (!number) return mark();
  mark([[found.built.number, number], describe(found.element)]);
  lightRef(refAround(found));
});
glass.addEventListener("mouseleave", () => mark());
glass.addEventListener("click", (event) => {
  const found = elementAt(event);
  if (found) inspect(found);
});
glass.addEventListener("wheel", (event) => {
  const found = elementAt(event);
  if (!found) return;
  for (let element = found.element; element; element = element.parentElement) {
    const before = element.scrollTop;
    element.scrollTop += event.deltaY;
    if (element.scrollTop !== before) break;
  }
  event.preventDefault();
  mark();
}, { passive: false });
addEventListener("resize", fit);

function describe(element) {
  const classes = [...element.classList].slice(0, 3).map((name) => `.${name}`).join("");
  return `${element.localName}${element.id ? `#${element.id}` : ""}${classes}`;
}

// Return the ref of an element or of the nearest one above it.
function refAround({ built, element }) {
  const refs = refsByPlace[current.page];
  for (let each = element; refs && each; each = each.parentNode ?? each.host) {
    const ref = refs.get(`${built.number} ${built.numbers.get(each)}`);
    if (ref) return ref;
  }
  return null;
}
