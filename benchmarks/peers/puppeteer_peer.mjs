// Puppeteer, on a pipe with the engine's flags and no others.
//
// Rule: as serve.py and verbs.py, which say it for the peers in Python: one JSON object a line comes in, one answer a
// line goes out; what is timed is only the library's own call, and what it has done is checked with the page's own
// record. Element handles act, which is the quicker of Puppeteer's two ways; its locators wait until an element stands
// still.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";

const require = createRequire(new URL("../peers_node/package.json", import.meta.url));
const puppeteer = require("puppeteer-core");
const order = JSON.parse(process.argv[2]);

const BETWEEN = 4; // milliseconds between two actions, as a program has that looks at something in between
const CLICK_PATIENCE = 3000;
const CLOSING = 4000;
const HANG = "while (true) {}";

v8.setFlagsFromString("--expose-gc");
const collectGarbage = vm.runInNewContext("gc");

class Cannot extends Error {}

const say = (answer) => writeSync(1, `${JSON.stringify(answer)}\n`);
const wordsOf = (error) =>
  error instanceof Cannot ? error.message : `${error.name}: ${String(error.message).split("\n")[0]}`.slice(0, 300);

async function timed(step) {
  const started = performance.now();
  await step();
  return performance.now() - started;
}

async function eachTimed(repeats, step) {
  const taken = [];
  for (let number = 0; number < repeats; number++) {
    taken.push(await timed(step));
    await sleep(BETWEEN);
  }
  return taken;
}

async function within(ms, work, reason) {
  const late = new AbortController();
  const clock = sleep(ms, undefined, { signal: late.signal }).then(
    () => Promise.reject(new Cannot(reason)),
    () => undefined,
  );
  try {
    return await Promise.race([work, clock]);
  } finally {
    late.abort();
  }
}

const launched = () =>
  puppeteer.launch({ executablePath: order.executable, ignoreDefaultArgs: true, args: [...order.flags, "about:blank"], pipe: true });

let browser;
let row = 0; // the one that the last step clicked in
const opened = new Map(); // the tabs of each page of the site
const sessions = new Map(); // the raw session of each tab

async function tabsAt(path, count) {
  if (!opened.has(path)) opened.set(path, []);
  const tabs = opened.get(path);
  while (tabs.length < count) {
    const tab = await browser.newPage();
    await tab.goto(order.site + path);
    tabs.push(tab);
  }
  return tabs.slice(0, count);
}

async function tabAt(path) {
  const [tab] = await tabsAt(path, 1);
  await tab.bringToFront();
  return tab;
}

async function named(name) {
  if (!opened.has(name)) opened.set(name, [await browser.newPage()]);
  return opened.get(name)[0];
}

async function caller(tab) {
  if (!sessions.has(tab)) sessions.set(tab, await tab.createCDPSession());
  const session = sessions.get(tab);
  return () => session.send("Runtime.evaluate", { expression: "1" });
}

async function burst(kind, event, counts, count) {
  const tab = await tabAt("/burst");
  let seen = 0;
  let allSeen;
  const done = new Promise((resolve) => (allSeen = resolve));
  const handler = (what) => {
    if (counts(what) && ++seen === count) allSeen();
  };
  tab.on(event, handler);
  const started = performance.now();
  const making = tab.evaluate(`${kind}(${count})`);
  await within(100_000, Promise.all([done, making]), "").catch(() => {
    throw new Cannot(`its handler saw ${seen} of ${count} within 100 s`);
  });
  const taken = performance.now() - started;
  await sleep(50); // one that came twice would come now
  tab.off(event, handler);
  if (seen !== count) throw new Cannot(`its handler saw ${seen} of ${count}`);
  return { values: [(count / taken) * 1000] };
}

// A tab that is not in front shows nothing to the observer with which Puppeteer looks where an element is: it has to be
// brought there, or the click never begins.
async function clicked(tab, repeats, { atMost = Infinity, bringing = false } = {}) {
  const go = await tab.$("#go");
  const click = async () => {
    if (bringing) await tab.bringToFront();
    await go.click();
  };
  const before = await tab.evaluate("clicks");
  const taken = [];
  for (const started = performance.now(); taken.length < repeats && performance.now() - started < atMost; ) {
    taken.push(...(await eachTimed(1, click)));
  }
  const arrived = (await tab.evaluate("clicks")) - before;
  if (arrived !== taken.length) throw new Cannot(`${arrived} of ${taken.length} clicks arrived`);
  return taken;
}

async function written(repeats, text, write) {
  const tab = await tabAt("/scene");
  const taken = [];
  for (let number = 0; number < repeats; number++) {
    await tab.evaluate("void (field.value = '')");
    taken.push(await timed(() => write(tab)));
    const arrived = await tab.evaluate("field.value");
    if (arrived !== text) throw new Cannot(`another text arrived: ${arrived.length} characters for ${text.length}`);
    await sleep(BETWEEN);
  }
  return taken;
}

const resident = () => {
  collectGarbage();
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "ascii"))[1]) / 1024;
};

const verbs = {
  async open({ url, tab = "main" }) {
    const page = await named(`named ${tab}`);
    return { values: [await timed(() => page.goto(url))] };
  },

  async start() {
    let other;
    const taken = await timed(async () => {
      other = await launched();
      await (await other.newPage()).goto(`${order.site}/blank`);
    });
    return { values: [taken], closed: [await timed(() => other.close())] };
  },

  async round_trip({ calls }) {
    const call = await caller(await tabAt("/blank"));
    const taken = [];
    for (let number = 0; number < calls; number++) taken.push(await timed(call));
    return { values: taken, note: "a raw CDP session" };
  },

  async throughput({ sessions: count, in_flight, seconds }) {
    const calls = await Promise.all((await tabsAt("/blank", count)).map(caller));
    let done = 0;
    const started = performance.now();
    const one = async (call) => {
      while (performance.now() - started < seconds * 1000) {
        await call();
        done++;
      }
    };
    await Promise.all(calls.flatMap((call) => Array.from({ length: in_flight }, () => one(call))));
    return { values: [(done / (performance.now() - started)) * 1000], note: "raw CDP sessions" };
  },

  flood: ({ count }) => burst("messages", "console", (message) => message.text().startsWith("message"), count),

  requests: ({ count }) => burst("requests", "requestfinished", (request) => request.url().includes("/n?"), count),

  async reply({ bytes }) {
    const tab = await tabAt("/burst");
    let got;
    const taken = await timed(async () => (got = await tab.evaluate(`reply(${bytes})`)));
    if (got.length !== bytes) throw new Cannot(`${got.length} of ${bytes} bytes came back`);
    return { values: [taken] };
  },

  async snapshot({ url, times, tab = "main" }) {
    const page = await named(`named ${tab}`);
    if (page.url() !== url) await page.goto(url);
    const taken = [];
    let tree;
    for (let number = 0; number < times; number++) {
      taken.push(await timed(async () => (tree = await page.accessibility.snapshot({ includeIframes: true }))));
    }
    return { values: taken, chars: JSON.stringify(tree).length, note: "accessibility.snapshot, with includeIframes" };
  },

  async first_look({ url, times }) {
    const page = await named("looks");
    const taken = [];
    for (let number = 0; number < times; number++) {
      await page.goto(url);
      let tree;
      taken.push(await timed(async () => (tree = await page.accessibility.snapshot({ includeIframes: true }))));
      if (!JSON.stringify(tree).includes("Buy 0")) throw new Cannot("its snapshot lacks the first row's button");
    }
    return { values: taken, note: "accessibility.snapshot, with includeIframes" };
  },

  async step({ url, times }) {
    const page = await named("looks");
    if (page.url() !== url) await page.goto(url);
    const count = Number(url.split("/").at(-1));
    const steps = [];
    const looks = [];
    for (let number = 0; number < times; number++) {
      row = (row + 1) % count;
      const button = await page.$(`li:nth-child(${row + 1}) button`);
      const clicking = await timed(() => button.click());
      let tree;
      looks.push(await timed(async () => (tree = await page.accessibility.snapshot({ includeIframes: true }))));
      steps.push(clicking + looks.at(-1));
      if (!JSON.stringify(tree).includes(`Sold ${row}`)) throw new Cannot(`its snapshot lacks what the click on row ${row} changed`);
    }
    return { values: steps, looks, note: "ElementHandle.click, accessibility.snapshot" };
  },

  click: async ({ repeats }) => ({ values: await clicked(await tabAt("/scene"), repeats), note: "ElementHandle.click" }),

  async hover({ repeats }) {
    const tab = await tabAt("/scene");
    const over = [await tab.$("#go"), await tab.$("#other")];
    await over[0].hover();
    const before = await tab.evaluate("overs");
    const values = await eachTimed(repeats, () => over.reverse()[0].hover());
    const arrived = (await tab.evaluate("overs")) - before;
    const expected = Math.ceil(repeats / 2);
    if (arrived !== expected) throw new Cannot(`the page was told of ${arrived} of ${expected} moves onto the button`);
    return { values, note: "ElementHandle.hover" };
  },

  async type({ repeats, text }) {
    const field = await (await tabAt("/scene")).$("#field");
    return { values: await written(repeats, text, () => field.type(text)), note: "ElementHandle.type" };
  },

  async fill({ repeats, text }) {
    return { values: await written(repeats, text, (tab) => tab.locator("#field").fill(text)), note: "locator.fill" };
  },

  async click_tab({ tabs, repeats }) {
    const all = await tabsAt("/scene", tabs);
    const first = await clicked(all[0], repeats, { atMost: 2000, bringing: true });
    const values = await clicked(all.at(-1), repeats, { bringing: true });
    return { values, first, note: "page.bringToFront, without which a click waits for ever, and ElementHandle.click" };
  },

  async hung({ hangs, budget, by = "evaluate" }) {
    const tab = await tabAt("/scene");
    const go = await tab.$("#go");
    await go.click();
    const call = await caller(tab);
    const how =
      by === "cdp"
        ? "a raw CDP call with Chrome's own timeout"
        : "page.evaluate has no timeout: given up on from outside, the script goes on";
    const clicks = [];
    const late = [];
    for (let number = 0; number < hangs; number++) {
      await call();
      const before = await tab.evaluate("clicks");
      const started = performance.now();
      if (by === "cdp") {
        const hang = { expression: HANG, timeout: budget * 1000 };
        await sessions.get(tab).send("Runtime.evaluate", hang).catch(() => undefined);
      } else {
        await within(budget * 1000, tab.evaluate(HANG), "").catch(() => undefined);
      }
      late.push(performance.now() - started - budget * 1000);
      let arrived;
      const next = async () => {
        clicks.push(await timed(() => go.click()));
        arrived = (await tab.evaluate("clicks")) - before;
      };
      await within(CLICK_PATIENCE, next(), `${how}; the click after it had not arrived within ${CLICK_PATIENCE / 1000} s`);
      if (arrived !== 1) throw new Cannot(`${how}; of the click after it ${arrived} arrived`);
    }
    return { values: clicks, late_ms: late, note: how };
  },

  async pages_at_once({ pages }) {
    const clicked = [];
    const started = performance.now();
    const one = async () => {
      const tab = await browser.newPage();
      await tab.goto(`${order.site}/scene`);
      const title = await tab.title();
      await (await tab.$("#go")).click();
      const clicks = await tab.evaluate("clicks");
      if (title !== "scene" || clicks !== 1) throw new Cannot(`a page had the title ${title} and ${clicks} clicks`);
      clicked.push(performance.now() - started);
      await tab.close();
    };
    const taken = await timed(() => Promise.all(Array.from({ length: pages }, one)));
    return { values: [taken], clicked: [Math.max(...clicked)] };
  },

  async jobs({ jobs, at_once: atOnce }) {
    let left = jobs;
    const work = async () => {
      while (left-- > 0) {
        const context = await browser.createBrowserContext();
        const tab = await context.newPage();
        await tab.goto(`${order.site}/scene`);
        const title = await tab.title();
        if (title !== "scene") throw new Cannot(`a page had the title ${title}`);
        await context.close();
      }
    };
    return { values: [await timed(() => Promise.all(Array.from({ length: atOnce }, work)))] };
  },

  async navigations({ count }) {
    const tab = await named("navigations");
    const taken = [];
    for (let number = 0; number < count; number++) {
      taken.push(await timed(() => tab.goto(`${order.site}/nav/${number}`)));
      if (number > 0 && number < count - 1) continue;
      const title = await tab.title();
      if (title !== `nav/${number}`) throw new Cannot(`it said that nav/${number} was loaded, and the page was ${title}`);
    }
    return { values: taken, mb: resident() };
  },

  memory: async () => ({ values: [resident()] }),
};

async function answerTo({ do: verb, patience = 120, ...fields }) {
  const asked = verb === "ready" ? fields.verb : verb;
  if (!Object.hasOwn(verbs, asked)) return { cannot: `this peer knows no "${asked}"` };
  if (verb === "ready") return { values: [] };
  collectGarbage();
  try {
    return await within(patience * 1000, verbs[asked](fields), `did not end within ${patience} s`);
  } catch (error) {
    return { cannot: wordsOf(error) };
  }
}

async function closed() {
  await within(CLOSING, browser.close(), "").catch(() => browser.process()?.kill("SIGKILL"));
  say({ values: [] });
  process.exit(0);
}

process.on("unhandledRejection", (error) => process.stderr.write(`${wordsOf(error)}\n`));
try {
  browser = await launched();
} catch (error) {
  say({ ready: false, cannot: wordsOf(error) });
  process.exit(0);
}
process.on("SIGTERM", closed);
say({ ready: true, version: require("puppeteer-core/package.json").version, attached: "pipe" });
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const told = JSON.parse(line);
  if (told.do === "stop") break;
  say(await answerTo(told));
}
await closed();
