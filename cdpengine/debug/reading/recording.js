// Shows a recording as a filterable table and a timeline. The document contains only the visible rows.
"use strict";
(async () => {
  const ROW = 22;
  const DETAIL = 300;
  const BEYOND = 12;
  const LANES = 8;
  const SLOW = 100;
  const NOTES = new Set(["target", "span", "span-end", "http", "entered", "end"]);
  const ERRORS = new Set(["error", "stray", "lost"]);
  const get = (id) => document.getElementById(id);

  // --- the data: zlib in base64; one row a line; the last line has the objects that rows refer to -------------

  const bytesOf = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return bytes;
  };
  const facts = JSON.parse(get("facts").textContent);
  const packed = new Blob([bytesOf(get("data").textContent.trim())]).stream();
  const text = await new Response(packed.pipeThrough(new DecompressionStream("deflate"))).text();
  get("data").remove();
  const lines = text.split("\n");
  const { methods, sessions } = JSON.parse(lines.pop());
  const rows = lines.map((line) => JSON.parse(line));
  const [TIME, DIRECTION, KIND, SESSION, METHOD, ID, MS, SIZE, SPAN, PAYLOAD, LENGTH] = rows.length ? rows[0].keys() : Array(11).keys();
  const ends = rows.reduce((latest, row) => Math.max(latest, row[TIME]), 0);
  const classOf = (kind) => (ERRORS.has(kind) ? "error" : NOTES.has(kind) ? "note" : kind);

  get("about").textContent = facts.about;
  for (const [number, session] of sessions.entries()) get("session").append(new Option(session.label, String(number)));

  // --- filtering ---------------------------------------------------------------------------------------------------

  let shown = [];
  let open = -1;
  let current = -1;
  let range = null;
  let view = [0, Math.max(ends, 1e-6)];

  const globbed = (glob) => {
    const parts = glob.trim().split(/([*?])/).map((part) => ({ "*": ".*", "?": "." })[part] ?? part.replace(/[\\^$.|+()[\]{}]/g, "\\$&"));
    return new RegExp(`^${parts.join("")}$`, "i");
  };

  const refilter = () => {
    const words = get("text").value.toLowerCase();
    const kind = get("kind").value;
    const session = get("session").value;
    const slow = get("slow").value === "" ? null : Number(get("slow").value);
    const glob = get("method").value.trim();
    const wanted = glob === "" ? null : methods.map((method) => globbed(glob).test(method));
    const kept = [];
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at];
      if (kind !== "" && classOf(row[KIND]) !== kind) continue;
      if (session !== "" && row[SESSION] !== Number(session)) continue;
      if (wanted !== null && !wanted[row[METHOD]]) continue;
      if (slow !== null && (row[MS] === null || row[MS] < slow)) continue;
      if (range !== null && (row[TIME] < range[0] || row[TIME] > range[1])) continue;
      if (words !== "" && ![row[PAYLOAD], methods[row[METHOD]], facts.actions[row[SPAN]] ?? ""].some((text) => text.toLowerCase().includes(words))) continue;
      kept.push(at);
    }
    shown = kept;
    open = -1;
    current = -1;
    get("count").textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} lines`;
    get("table").setAttribute("aria-rowcount", String(shown.length + 1));
    get("table").scrollTop = 0;
    drawTimeline();
    drawRows();
  };

  // --- the table: positions follow from the row's number, as all rows have the same height ----------------------

  const detailHeight = () => (open < 0 ? 0 : DETAIL);
  const topOf = (place) => place * ROW + (open >= 0 && place > open ? DETAIL : 0);

  const cell = (content) => {
    const element = document.createElement("span");
    element.setAttribute("role", "gridcell");
    element.textContent = content;
    return element;
  };

  const rowAt = (place) => {
    const row = rows[shown[place]];
    const element = document.createElement("div");
    element.className = `row ${classOf(row[KIND])}${row[MS] >= SLOW ? " slow" : ""}${place === current ? " current" : ""}`;
    element.setAttribute("role", "row");
    element.setAttribute("aria-rowindex", String(place + 2));
    element.setAttribute("aria-expanded", String(place === open));
    element.dataset.place = String(place);
    element.style.top = `${topOf(place)}px`;
    element.append(
      cell(row[TIME].toFixed(3)),
      cell(row[SESSION] < 0 ? "" : sessions[row[SESSION]].short),
      cell(row[ID] === null ? "" : `#${row[ID]}`),
      cell(row[DIRECTION] === ">" ? "→" : row[DIRECTION] === "<" ? "←" : "·"),
      cell(methods[row[METHOD]] || row[KIND]),
      cell(row[MS] === null ? "" : row[MS].toFixed(1)),
      cell(row[SIZE] ? row[SIZE].toLocaleString("en") : ""),
      cell(row[PAYLOAD].slice(0, 400)),
    );
    return element;
  };

  const pretty = (payload) => {
    try {
      return JSON.stringify(JSON.parse(payload), null, 2);
    } catch {
      return payload;
    }
  };

  const detailOf = (place) => {
    const row = rows[shown[place]];
    const element = document.createElement("div");
    element.className = "detail";
    element.style.top = `${(place + 1) * ROW}px`;
    element.style.height = `${DETAIL}px`;
    const what = document.createElement("p");
    const session = row[SESSION] < 0 ? "" : `, session ${sessions[row[SESSION]].label}`;
    const span = row[SPAN] ? `, action ${row[SPAN]}: ${facts.actions[row[SPAN]] ?? ""}` : "";
    what.textContent = `${`${row[KIND]} ${methods[row[METHOD]]}`.trim()}${session}${span}`;
    const payload = document.createElement("pre");
    payload.textContent = pretty(row[PAYLOAD]);
    element.append(what, payload);
    if (row[LENGTH] > 0) {
      const more = document.createElement("p");
      more.textContent = `The payload has ${row[LENGTH].toLocaleString("en")} bytes; this page holds the first of them.`;
      element.append(more);
    }
    return element;
  };

  const drawRows = () => {
    const table = get("table");
    const top = table.scrollTop - BEYOND * ROW - detailHeight();
    const bottom = table.scrollTop + table.clientHeight + BEYOND * ROW;
    const first = Math.max(0, Math.floor(top / ROW));
    const last = Math.min(shown.length, Math.ceil(bottom / ROW));
    const drawn = [];
    for (let place = first; place < last; place += 1) {
      drawn.push(rowAt(place));
      if (place === open) drawn.push(detailOf(place));
    }
    get("rows").style.height = `${shown.length * ROW + detailHeight()}px`;
    get("rows").replaceChildren(...drawn);
  };

  const toggle = (place) => {
    open = open === place ? -1 : place;
    current = place;
    drawRows();
  };

  const goTo = (place) => {
    current = Math.min(Math.max(place, 0), shown.length - 1);
    const table = get("table");
    const top = topOf(current);
    if (top < table.scrollTop) table.scrollTop = top;
    if (top + 2 * ROW > table.scrollTop + table.clientHeight) table.scrollTop = top + 2 * ROW - table.clientHeight;
    drawRows();
  };

  // --- the timeline: a lane for the actions and one for each of the busiest sessions, calls above events --------

  const canvas = get("canvas");
  const busiest = sessions.map((_, number) => number).sort((a, b) => sessions[b].count - sessions[a].count);
  const actions = rows.some((row) => row[KIND] === "span-end") ? 1 : 0;
  const lanes = new Map(busiest.map((number, place) => [number, actions + Math.min(place, LANES - 1)]));
  const laneCount = actions + Math.max(1, Math.min(LANES, sessions.length));
  const LANE = 20;
  const LEFT = 200;
  const AXIS = 16;
  const xOf = (time, width) => LEFT + ((time - view[0]) / (view[1] - view[0])) * (width - LEFT);
  const timeAt = (x, width) => view[0] + (Math.max(0, x - LEFT) / (width - LEFT)) * (view[1] - view[0]);

  const drawAction = (paint, name, x, long) => {
    paint.globalAlpha = 0.35;
    paint.fillRect(x, 2, Math.max(1.5, long - 1), LANE - 4);
    if (long < 40) return;
    paint.globalAlpha = 1;
    paint.save();
    paint.beginPath();
    paint.rect(x, 0, long - 3, LANE);
    paint.clip();
    paint.fillText(name, x + 3, LANE / 2);
    paint.restore();
  };

  const drawTimeline = () => {
    const width = canvas.clientWidth;
    const height = laneCount * LANE + AXIS;
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`);
    const paint = canvas.getContext("2d");
    paint.scale(scale, scale);
    paint.font = "11px system-ui, sans-serif";
    paint.textBaseline = "middle";
    for (let lane = 0; lane < laneCount; lane += 1) {
      paint.fillStyle = colour(lane % 2 ? "paper" : "raised");
      paint.fillRect(LEFT, lane * LANE, width - LEFT, LANE);
      paint.fillStyle = colour("faint");
      const place = lane - actions;
      const rest = place === LANES - 1 && sessions.length > LANES;
      const name = place < 0 ? "actions" : rest ? `${sessions.length - LANES + 1} others` : sessions[busiest[place]]?.label ?? "";
      paint.save();
      paint.beginPath();
      paint.rect(0, lane * LANE, LEFT - 8, LANE);
      paint.clip();
      paint.fillText(name, 0, lane * LANE + LANE / 2);
      paint.restore();
    }
    const colours = Object.fromEntries(["call", "reply", "event", "error", "note"].map((name) => [name, colour(name)]));
    const drawn = new Set();
    for (const at of shown) {
      const row = rows[at];
      const kind = classOf(row[KIND]);
      const action = row[KIND] === "span-end";
      if ((row[SESSION] < 0 && !action) || row[TIME] < view[0]) continue;
      const began = row[MS] === null ? row[TIME] : row[TIME] - row[MS] / 1000;
      if (began > view[1] || kind === "call") continue;
      const top = action ? 0 : (lanes.get(row[SESSION]) ?? laneCount - 1) * LANE;
      const x = Math.max(LEFT, xOf(began, width));
      const long = Math.max(1.5, Math.min(width, xOf(row[TIME], width)) - x);
      // Skip a mark that would be drawn over an identical one.
      const key = `${top} ${kind} ${Math.round(x * 2)} ${Math.round(long * 2)}`;
      if (drawn.has(key)) continue;
      drawn.add(key);
      paint.fillStyle = colours[kind === "reply" ? "call" : kind];
      paint.globalAlpha = kind === "reply" ? 0.55 : 0.85;
      if (action) drawAction(paint, row[PAYLOAD], x, long);
      else if (row[KIND] === "reply" || row[KIND] === "error") paint.fillRect(x, top + 2, long, 8);
      else paint.fillRect(x, top + 12, 1.5, 6);
    }
    paint.globalAlpha = 1;
    paint.fillStyle = colour("faint");
    for (let tick = 0; tick <= 5; tick += 1) {
      const time = view[0] + (tick / 5) * (view[1] - view[0]);
      paint.textAlign = tick === 0 ? "left" : tick === 5 ? "right" : "center";
      paint.fillText(`${time.toFixed(view[1] - view[0] < 1 ? 4 : 2)} s`, xOf(time, width), laneCount * LANE + AXIS / 2);
    }
    if (range !== null) {
      paint.fillStyle = colour("range");
      const from = Math.max(LEFT, xOf(range[0], width));
      paint.fillRect(from, 0, Math.max(1, xOf(range[1], width) - from), laneCount * LANE);
    }
    get("range").textContent = range === null ? "Drag over the timeline to choose a range; click to go to a moment." : `${range[0].toFixed(3)} s to ${range[1].toFixed(3)} s`;
    get("zoom").disabled = range === null;
    get("whole").disabled = range === null && view[0] === 0 && view[1] >= ends;
  };

  let pressed = null;
  const xIn = (event) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener("pointerdown", (event) => {
    pressed = xIn(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (pressed === null || Math.abs(xIn(event) - pressed) < 4) return;
    range = [pressed, xIn(event)].map((x) => timeAt(x, canvas.clientWidth)).sort((a, b) => a - b);
    drawTimeline();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (pressed === null) return;
    if (Math.abs(xIn(event) - pressed) >= 4) refilter();
    else {
      const time = timeAt(pressed, canvas.clientWidth);
      const place = shown.findIndex((at) => rows[at][TIME] >= time);
      get("table").scrollTop = topOf(Math.max(0, place));
      goTo(place < 0 ? shown.length - 1 : place);
    }
    pressed = null;
  });
  canvas.addEventListener("pointercancel", () => { pressed = null; });
  get("zoom").addEventListener("click", () => {
    view = range[1] - range[0] > 1e-6 ? range : view;
    drawTimeline();
  });
  get("whole").addEventListener("click", () => {
    range = null;
    view = [0, Math.max(ends, 1e-6)];
    refilter();
  });

  // --- input of the user -------------------------------------------------------------------------------------------

  let waiting = 0;
  const later = (work) => () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(work);
  };
  get("filters").addEventListener("input", later(refilter));
  get("filters").addEventListener("submit", (event) => event.preventDefault());
  get("filters").addEventListener("reset", () => {
    range = null;
    setTimeout(refilter, 0);
  });
  get("table").addEventListener("scroll", later(drawRows), { passive: true });
  get("rows").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row !== null) toggle(Number(row.dataset.place));
  });
  get("table").addEventListener("keydown", (event) => {
    const pageful = Math.floor(get("table").clientHeight / ROW) - 2;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: pageful, PageUp: -pageful, Home: -rows.length, End: rows.length };
    if (event.key in moves) goTo(current + moves[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && current >= 0) toggle(current);
    else if (event.key === "Escape" && open >= 0) toggle(open);
    else return;
    event.preventDefault();
  });
  addEventListener("resize", drawTimeline);
  new ResizeObserver(() => drawRows()).observe(get("table"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
  refilter();
  document.documentElement.dataset.ready = "true";
})();
