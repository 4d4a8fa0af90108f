// The timeline: a film strip, a bar for each step, marks of console and errors, and the time.

const film = document.getElementById("film");
const bars = document.getElementById("bars");

// Idle time is shortened, so that short steps stay visible: [[time, position], ...].
const scale = (() => {
  const times = index.steps.flatMap((step) => [step.t, step.end ?? step.t]).sort((a, b) => a - b);
  const points = [];
  let position = 0;
  let before = times[0] ?? 0;
  for (const time of times) {
    position += Math.min(time - before, 1) + (time > before ? 0.01 : 0);
    points.push([time, position]);
    before = time;
  }
  return points;
})();
const whole = (scale.at(-1)?.[1] ?? 0) || 1;

function placeOf(time) {
  let low = 0;
  let high = scale.length - 1;
  if (high < 0 || time <= scale[0][0]) return 0;
  if (time >= scale[high][0]) return 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scale[middle][0] <= time) low = middle;
    else high = middle;
  }
  const [t0, p0] = scale[low];
  const [t1, p1] = scale[high];
  return (p0 + ((p1 - p0) * (time - t0)) / (t1 - t0 || 1)) / whole;
}

const percent = (value) => `${(value * 100).toFixed(3)}%`;

function barOf(step) {
  const kind = step.error ? "failed" : step.read ? "read" : "action";
  const left = placeOf(step.t);
  const size = placeOf(step.end ?? step.t) - left;
  return make(`button.${kind}`, { type: "button", tabindex: "-1", "data-n": step.n, title: `${step.n}. ${step.verb} ${targetOf(step)}`, "aria-label": `Step ${step.n}`, style: `left:${percent(left)};width:${percent(size)}` });
}

// The bar of a step. Of very many steps, only some have one until they are chosen.
function takeBar(step) {
  const drawn = bars.querySelector(`[data-n="${step.n}"]`);
  return drawn ?? bars.appendChild(barOf(step));
}

function drawTimeline() {
  const width = bars.clientWidth || 1000;
  const few = index.steps.length <= width / 3;
  const stride = few ? 1 : Math.ceil(index.steps.length / (width / 3));
  bars.replaceChildren(...index.steps.filter((step, at) => at % stride === 0 || step.error).map(barOf));
  for (const event of index.events.slice(0, 2000)) {
    if (event.kind === "error" || event.level === "error" || event.level === "warning") {
      bars.append(make(event.level === "warning" ? "i" : "i.error", { style: `left:${percent(placeOf(event.t))}`, title: event.text.slice(0, 100) }));
    }
  }
  drawFilm(width);
  drawAxis(width);
}

function drawFilm(width) {
  if (!index.pictures.length) return film.replaceChildren();
  let next = 0;
  const shots = [];
  for (const picture of index.pictures) {
    const left = placeOf(picture.t);
    const size = (54 * picture.size[0]) / (picture.size[1] || 1) + 3;
    if (left * width < next) continue;
    next = left * width + size;
    if (next > width + size / 2) break;
    const image = make("img", { src: dataUrl(picture.name, "image/jpeg"), alt: "", loading: "lazy", decoding: "async" });
    shots.push(make("button", { type: "button", tabindex: "-1", "aria-label": `Picture at ${picture.t.toFixed(1)} s`, "data-t": picture.t, style: `left:${Math.min(left * width, width - size)}px` }, image));
  }
  film.replaceChildren(...shots);
}

function drawAxis(width) {
  const ticks = [];
  const count = Math.max(2, Math.floor(width / 160));
  const first = scale[0]?.[0] ?? 0;
  for (let at = 0; at < count; at++) {
    const wanted = at / count;
    const time = scale.find(([, position]) => position / whole >= wanted)?.[0] ?? first;
    ticks.push(make("span", { style: `left:${percent(placeOf(time))}` }, `${time.toFixed(time < 10 ? 1 : 0)} s`));
  }
  document.getElementById("axis").replaceChildren(...ticks);
}

bars.addEventListener("click", (event) => {
  const number = event.target.closest("button")?.dataset.n;
  if (number) open(Number(number));
});
film.addEventListener("click", (event) => {
  const time = Number(event.target.closest("button")?.dataset.t);
  if (!Number.isFinite(time)) return;
  const step = index.steps.findLast((each) => each.t <= time) ?? index.steps[0];
  if (step) open(step.n, { state: "picture" });
});
