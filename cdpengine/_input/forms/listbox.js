// Finds the options of a page's list. Called in an isolated world on a list, on an element that opens one (a
// combobox, a button), or on one of its options; with a request, then the parts option_lists.js and
// displayed_choices.js:
//   wanted    { text } or { label, value, index }; null: the node is the option itself
//   node      "option", "opener" or "chip": return that element, or null, instead of the state. The chip is the
//             button that removes the first choice that is not in `keep`
//   search    focus the field in which options are searched by text, and select its content
//   scan      scroll the list for at most `wait` milliseconds until the option appears. "start": from the
//             beginning; "on": further; "jump": to its position in a sorted list
//   until     "": return immediately. "open", "closed": wait until the list exists, or does not. "there": until
//             the option is visible, or the list closes. "chosen": until the control or the option shows that
//             the option is chosen. "changed": until the control shows something else than `before`
//   before    the state that the control showed and held before the choice, as returned by this function.
//             `label`, `labels`: the labels of this option and of others
//   wait      maximum time to wait, in milliseconds; the state is checked after each change in the document
(function (request, tools, choicesOf) {
  "use strict";

  const MOST_LABELS = 20;
  const PAUSE = 50; // milliseconds between checks, because values of fields change without a mutation
  const FRAME = 100; // milliseconds, used instead of frames where the page gets none
  const MOST_FRAMES = 4; // maximum number of frames for a list to draw the options it was scrolled to
  const PART = 0.8; // minimum scroll step, as a fraction of the list's height
  const MOST_VIEWS = 10; // maximum scroll step in heights of the list; longer lists may be searched by bisection

  const inOrder = new Intl.Collator(undefined, { numeric: true });

  const { plain, roleOf, isList, isOption, shown, boxed, flat, flatAncestors, isIn, label, values, roots } = tools;
  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (DOM.localName(element) === "label" && element.control) element = element.control;
  const isOpener = tools.isOpener(element);

  function match(list) {
    if (!request.wanted) return element;
    const all = tools.options(list);
    const wanted = request.wanted;
    if ("text" in wanted) {
      return all.find((each) => values(each).includes(wanted.text)) || all.find((each) => label(each) === plain(wanted.text)) || null;
    }
    const fits = (each, index) =>
      (!("value" in wanted) || values(each).includes(wanted.value)) &&
      (!("label" in wanted) || label(each) === plain(wanted.label)) &&
      (!("index" in wanted) || placeOf(each, index) === wanted.index);
    return all.find(fits) || null;
  }

  // The index of an option. In a list that draws only some of its options, the index that the option declares.
  function placeOf(option, index) {
    const place = Number(DOM.getAttribute(option, "aria-posinset"));
    return Number(DOM.getAttribute(option, "aria-setsize")) > 0 && place > 0 ? place - 1 : index;
  }

  const wantedText = () => plain(request.wanted?.label ?? request.wanted?.text);

  // The current list, option, visible element of the option, and choices.
  function look() {
    const list = tools.listOf(element);
    const option = list || !request.wanted ? match(list) : null;
    const visible = list ? tools.seen(list, option, option ? label(option) : wantedText()) : option;
    return { list, option: option || visible, visible, choices: choicesOf(element, list, tools) };
  }

  const isDisabled = (each) =>
    Array.from(flatAncestors(each)).slice(0, 3).some((at) => DOM.getAttribute(at, "aria-disabled") === "true" && !isList(at)) || DOM.inert(each);

  const active = () => openersOf().some((each) => DOM.getAttribute(each, "aria-activedescendant"));
  const openersOf = () => [element, ...DOM.querySelectorAll(element, "[aria-activedescendant]"), DOM.activeElement(document)].filter(Boolean);

  // Whether an option declares itself chosen. Some comboboxes do so for the option that the arrow keys are at.
  function isDeclaredChosen(option, multiple) {
    if (DOM.getAttribute(option, "aria-checked") === "true") return true;
    if (DOM.getAttribute(option, "aria-selected") !== "true") return false;
    if (!isOpener || multiple) return true;
    return !(active() && openersOf().some((each) => DOM.getAttribute(each, "aria-activedescendant") === option.id));
  }

  function isMultiple({ list, choices }) {
    return (list !== null && DOM.getAttribute(list, "aria-multiselectable") === "true") || Boolean(choices.native()?.multiple);
  }

  const count = (all, one) => all.filter((each) => each === one).length;

  // Whether the control holds a label among its choices: in a chip, or in a hidden list.
  function holds({ choices }, text, option) {
    const list = choices.native();
    const chosen = list ? Array.from(list.selectedOptions) : [];
    const known = option ? values(option) : [];
    return (
      choices.chips().some(([each]) => each === text) ||
      chosen.some((each) => plain(each.label) === text || (each.value !== "" && known.includes(each.value)))
    );
  }

  function isChosen(at) {
    const { option, visible, choices } = at;
    const multiple = isMultiple(at);
    const text = option ? label(option) : wantedText();
    if (option && (isDeclaredChosen(option, multiple) || (visible && visible !== option && isDeclaredChosen(visible, multiple)))) {
      const list = choices.native();
      return !list || holds(at, text, option);
    }
    return isOpener && text !== "" && holds(at, text, option);
  }

  // The choices that the control shows and holds, as numbers.
  function held({ choices }) {
    return { texts: choices.texts().map(([text]) => choices.number(text)), values: choices.values().map(choices.number) };
  }

  // Whether the choice was accepted. The option is identified by its text, because a page may redraw it or
  // remove the whole list after the choice.
  function taken(at) {
    const { list, option, visible, choices } = at;
    const { before, label: text } = request;
    const there = visible && DOM.isConnected(visible) && boxed(visible);
    if (there && option && isChosen(at)) return true;
    if (!isOpener) return !there;
    const now = held(at);
    const wanted = choices.number(text);
    if (count(now.texts, wanted) > count(before.texts, wanted) || holds(at, text, option)) return true;
    const value = String(element.value ?? (list && isIn(list, element) ? "" : DOM.innerText(element)) ?? "");
    if (!there && plain(value).toLowerCase().includes(text.toLowerCase())) return true;
    const fresh = (name) => now[name].filter((each) => !before[name].includes(each));
    if (now.values.length !== before.values.length || fresh("values").length) return !choices.native() || holds(at, text, option);
    // The control shows a new text that is not another option's label: a short form of the choice, such as "+
    // 2". While the list is open, the option itself must declare that it is chosen.
    const others = request.labels.filter((each) => each !== text).map(choices.number);
    const declared = there && option && DOM.getAttribute(option, "aria-selected") === "true";
    return (!there || declared) && fresh("texts").length > 0 && !fresh("texts").some((each) => others.includes(each));
  }

  function isOpen({ list }) {
    if (!list) return false;
    if (!isOpener) return shown(list);
    const expanded = [element, ...DOM.querySelectorAll(element, "[aria-expanded]")].map((each) => DOM.getAttribute(each, "aria-expanded")).find(Boolean);
    return expanded === "true" ? shown(list) : tools.options(list).some(boxed);
  }

  // The focused element, or null if it is the body.
  function holder() {
    let at = DOM.activeElement(document);
    for (let inner = at; inner; inner = DOM.shadowRoot(at) && DOM.activeElement(DOM.shadowRoot(at))) at = inner;
    return at === DOM.body(document) ? null : at;
  }

  // Whether Escape only closes the list. In a dialog, it could close the dialog.
  function closable() {
    return !Array.from(flatAncestors(holder() ?? element)).some((each) => DOM.matches(each, "dialog, [role=dialog], [role=alertdialog]"));
  }

  // A list need not declare a multiple selection. It may be one if choices are shown as chips or next to an input.
  function mayTakeSeveral(list, choices) {
    if (!isOpener || (list && DOM.getAttribute(list, "aria-multiselectable") === "false")) return false;
    return element instanceof HTMLInputElement || choices.typable() !== null || choices.chips().length > 0;
  }

  // The other chosen options. A hidden list takes precedence over the options' states. A control with chips may
  // show only some of the choices.
  function others(at, all, multiple) {
    if (!multiple && isOpener && at.choices.chips().length === 0) return [];
    const known = at.choices.native() !== null;
    // If more are chosen than chips and options show, the option that the arrow keys are at counts as chosen.
    const counted = at.choices.texts().map(([text]) => /^\+\s*(\d+)$/.exec(text)).find(Boolean);
    const more = counted && at.choices.chips().length + Number(counted[1]) > all.filter((each) => isDeclaredChosen(each, multiple)).length;
    const isOther = (each) => each !== at.option && isDeclaredChosen(each, multiple || more) && (!known || holds(at, label(each), each));
    return all.flatMap((each, index) => (isOther(each) ? [[index, label(each)]] : []));
  }

  function state(at) {
    const { list, option, visible, choices } = at;
    const all = tools.options(list);
    const text = option && !isOption(option) && request.wanted ? wantedText() : option ? label(option) : "";
    const multiple = isMultiple(at);
    return {
      open: isOpen(at),
      multiple,
      several: multiple || mayTakeSeveral(list, choices),
      found: option !== null || isChosen(at),
      shown: visible !== null && boxed(visible),
      label: text.slice(0, 200) || wantedText(),
      disabled: option !== null && isDisabled(visible),
      chosen: isChosen(at),
      taken: request.before ? taken(at) : false,
      labels: all.slice(0, MOST_LABELS).map((each) => label(each).slice(0, 60)),
      others: others(at, all, multiple),
      place: option ? all.indexOf(option) : -1,
      searchable: choices.typable() !== null,
      scrollable: tools.scroller(list) !== null,
      closable: closable(),
      focused: holder() !== null,
      shows: request.label !== "" && held(at).texts.includes(choices.number(request.label)),
      held: held(at),
    };
  }

  // The element whose click opens the list: the control itself, or an element that the page draws over or around
  // it.
  function opener() {
    const { choices } = look();
    const whole = choices.whole;
    if (!whole) return element;
    const hits = (each) => {
      const box = DOM.getBoundingClientRect(each);
      let hit = null;
      for (const root of roots(element).reverse()) hit = DOM.elementFromPoint(root, box.x + box.width / 2, box.y + box.height / 2) || hit;
      return hit;
    };
    const style = getComputedStyle(element);
    const box = DOM.getBoundingClientRect(element);
    const apparent = box.width > 2 && box.height > 2 && style.pointerEvents !== "none";
    if (apparent) {
      DOM.scrollIntoView(element, { block: "nearest", inline: "nearest", behavior: "instant" });
      const hit = hits(element);
      if (!hit || isIn(hit, element) || !isIn(hit, whole)) return element;
    }
    for (const at of flatAncestors(element)) {
      if (at !== element && boxed(at) && at.offsetWidth > 10) {
        const hit = hits(at);
        const removing = hit && Array.from(flatAncestors(hit)).some((each) => isIn(each, whole) && each !== whole && DOM.matches(each, choices.removes));
        if (hit && isIn(hit, at) && !removing) return at;
      }
      if (at === whole) break;
    }
    return element;
  }

  function chip() {
    const keep = request.keep.map(plain);
    const found = look().choices.chips().find(([text]) => !keep.includes(text));
    return found ? found[1] : null;
  }

  function search() {
    const field = look().choices.typable();
    if (!field) return false;
    if (DOM.activeElement(DOM.getRootNode(field)) !== field) DOM.focus(field, { preventScroll: true });
    field.select();
    return DOM.activeElement(DOM.getRootNode(field)) === field;
  }

  if (request.node === "option") return look().visible;
  if (request.node === "opener") return opener();
  if (request.node === "chip") return chip();
  if (request.search) return search();

  function nextFrame() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, FRAME);
      requestAnimationFrame(() => setTimeout(() => (clearTimeout(timer), resolve())));
    });
  }

  const drawn = (list) => Array.from(flat(tools.holder(list)), (each) => tools.ownText(each)).join("\n");

  // The visible options. For a list that is only for assistive technology, the visible elements that scroll
  // instead.
  function rows(list, by) {
    const own = tools.options(list).filter(boxed);
    return own.length ? own : flat(by).filter((each) => !isIn(each, list) && boxed(each) && tools.ownText(each));
  }

  // The next scroll distance: to the last drawn option in a gapless sequence below the visible ones.
  function step(list, by) {
    const view = DOM.getBoundingClientRect(by);
    const least = Math.max(10, by.clientHeight * PART);
    const boxes = rows(list, by).map((each) => DOM.getBoundingClientRect(each)).sort((one, other) => one.top - other.top);
    let end = view.bottom;
    let height = 0;
    for (const box of boxes) {
      if (box.top > end + Math.max(1, box.height / 2)) break;
      [end, height] = [Math.max(end, box.bottom), box.height];
    }
    return Math.max(least, Math.min(end - view.top - height, MOST_VIEWS * by.clientHeight));
  }

  // Scrolls to a position and waits a few frames for the list to draw other options. Returns whether it scrolled.
  async function scrollTo(list, by, place) {
    const [from, text] = [by.scrollTop, drawn(list)];
    by.scrollTop = place;
    if (by.scrollTop === from) return false;
    for (let frame = 0; frame < MOST_FRAMES; frame++) {
      await nextFrame();
      const now = tools.listOf(element);
      if (!now || drawn(now) !== text || by.scrollTop === from) break;
    }
    return true;
  }

  // Compares the wanted option with the first and the last drawn one: negative means before it, positive after it.
  function compared(list, by) {
    const boxes = rows(list, by).map((each, index) => [DOM.getBoundingClientRect(each).top, each, index]);
    const drawnNow = boxes.sort(([one], [other]) => one - other).map(([, each, index]) => [each, index]);
    if (!drawnNow.length) return null;
    const key = ([each, index]) => ("index" in request.wanted ? String(placeOf(each, index)) : label(each));
    const wanted = "index" in request.wanted ? String(request.wanted.index) : wantedText();
    return [key(drawnNow[0]), key(drawnNow[drawnNow.length - 1])].map((each) => inOrder.compare(wanted, each));
  }

  // In a sorted list (ascending or descending), bisects the range that must contain the option. Looks for the
  // option at each position. Lists in another order are left to `scan`.
  async function jump() {
    const until = performance.now() + request.wait;
    const there = (at) => at.visible && boxed(at.visible);
    let at = look();
    let by = tools.scroller(at.list);
    if (!by || there(at) || by.scrollHeight < MOST_VIEWS * by.clientHeight) return state(at);
    let [from, to] = [0, by.scrollHeight - by.clientHeight];
    const ends = [];
    for (const place of [from, to]) {
      await scrollTo(at.list, by, place);
      [at, by] = [look(), tools.scroller(tools.listOf(element))];
      ends.push(by && compared(at.list, by));
      if (!ends.at(-1) || there(at)) return state(at);
    }
    // After the first and before the last in an ascending list, the reverse in a descending one.
    const way = Math.sign(ends[0][0]);
    if (way === 0 || Math.sign(ends[1][1]) !== -way) return state(at);
    while (to - from > 1 && performance.now() < until) {
      const place = Math.round((from + to) / 2);
      await scrollTo(at.list, by, place);
      [at, by] = [look(), tools.scroller(tools.listOf(element))];
      const found = by && compared(at.list, by);
      if (!found || there(at)) break;
      const [first, last] = found.map((each) => Math.sign(each) * way);
      if (first < 0) to = place;
      else if (last > 0) from = place;
      else break;
    }
    return state(at);
  }

  // Scrolls the list until the option appears, the list ends (`ended`), or the time is over.
  async function scan() {
    const until = performance.now() + request.wait;
    let start = request.scan === "start";
    for (;;) {
      const at = look();
      const by = tools.scroller(at.list);
      if (!by || (at.visible && boxed(at.visible))) return { ...state(at), ended: !by };
      if (performance.now() >= until) return { ...state(at), ended: false };
      const [from, height, text] = [by.scrollTop, by.scrollHeight, drawn(at.list)];
      const moved = await scrollTo(at.list, by, start ? 0 : from + step(at.list, by));
      if (!moved && !start) {
        await nextFrame();
        await nextFrame();
        if (by.scrollHeight === height && drawn(at.list) === text) return { ...state(look()), ended: true };
      }
      start = false;
    }
  }

  if (request.scan) return request.scan === "jump" ? jump() : scan();
  const enough = (now) =>
    !request.until ||
    (request.until === "changed" && JSON.stringify(now.held) !== JSON.stringify(request.before)) ||
    (request.until === "open" ? now.open : request.until === "closed" ? !now.open : request.until === "there" ? (now.shown && !now.disabled) || now.chosen || (first.open && !now.open) : request.until === "chosen" && now.taken);
  const first = state(look());
  if (enough(first) || !request.wait) return first;
  return new Promise((resolve) => {
    const finish = (now) => {
      observer.disconnect();
      clearTimeout(timer);
      clearInterval(looking);
      resolve(now);
    };
    const check = () => {
      const now = state(look());
      if (enough(now)) finish(now);
    };
    const observer = new MutationObserver(check);
    const looking = setInterval(check, PAUSE);
    const timer = setTimeout(() => finish(state(look())), request.wait);
    const options = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const root of roots(element)) observer.observe(root, options);
  });
})
