// Puppeteer, on a pipe with only the engine's flags.
//
// Rule: the same as verbs.py for the peers in Python. Each order, a line of JSON, has an answer. Only the library's own
// call is timed, and the page's own record verifies its effect. Actions use element handles, the faster of Puppeteer's
// two ways; its locators wait until an element does not move.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";

const require = createRequire(new URL("../peers_node/package.json", import.meta.url));
const puppeteer = require("puppeteer-core");
const order = JSON.parse(process.argv[2]);

const BETWEEN = 4; // milliseconds between two actions, like a program that checks something in between
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
let row = 0; // the row of the last step
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

async function tabFor(verb) {
  if (!opened.has(verb)) opened.set(verb, [await browser.newPage()]);
  return opened.get(verb)[0];
}

const tree = async (page) => JSON.stringify(await page.accessibility.snapshot({ includeIframes: true }));

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
  await sleep(50); // a duplicate would arrive now
  tab.off(event, handler);
  if (seen !== count) throw new Cannot(`its handler saw ${seen} of ${count}`);
  return (count / taken) * 1000;
}

// Puppeteer locates an element by an observer that reports nothing in a background tab, so the tab must be in front.
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

async function visit(tab) {
  await tab.goto(`${order.site}/scene`);
  const title = await tab.title();
  if (title !== "scene") throw new Cannot(`a page had the title ${title}`);
}

// Returns the milliseconds of `count` jobs, `atOnce` of them in parallel.
async function allOf(count, atOnce, job) {
  let left = count;
  const work = async () => {
    while (left-- > 0) await job();
  };
  return timed(() => Promise.all(Array.from({ length: atOnce }, work)));
}

const verbs = {
  async start() {
    let other;
    const taken = await timed(async () => {
      other = await launched();
      await (await other.newPage()).goto(`${order.site}/blank`);
    });
    await other.close();
    return { values: [taken] };
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

  async flood({ count }) {
    const rate = await burst("messages", "console", (message) => message.text().startsWith("message"), count);
    return { values: [rate], mb: resident() };
  },

  async requests({ count }) {
    return { values: [await burst("requests", "requestfinished", (request) => request.url().includes("/n?"), count)] };
  },

  async reply({ bytes }) {
    const tab = await tabAt("/burst");
    let got;
    const taken = await timed(async () => (got = await tab.evaluate(`reply(${bytes})`)));
    if (got.length !== bytes) throw new Cannot(`${got.length} of ${bytes} bytes came back`);
    return { values: [taken] };
  },

  async snapshot({ url, times }) {
    const page = await tabFor("snapshot");
    if (page.url() !== url) await page.goto(url);
    const values = [];
    for (let number = 0; number < times; number++) values.push(await timed(() => tree(page)));
    return { values, note: "accessibility.snapshot, with includeIframes" };
  },

  async first_look({ url, times }) {
    const page = await tabFor("looks");
    const values = [];
    for (let number = 0; number < times; number++) {
      await page.goto(url);
      let text;
      values.push(await timed(async () => (text = await tree(page))));
      if (!text.includes("Buy 0")) throw new Cannot("its snapshot lacks the first row's button");
    }
    return { values, note: "accessibility.snapshot, with includeIframes" };
  },

  async step({ url, times }) {
    const page = await tabFor("looks");
    if (page.url() !== url) await page.goto(url);
    const values = [];
    const looks = [];
    for (let number = 0; number < times; number++) {
      row = (row + 1) % Number(url.split("/").at(-1));
      const button = await page.$(`li:nth-child(${row + 1}) button`);
      const clicking = await timed(() => button.click());
      let text;
      looks.push(await timed(async () => (text = await tree(page))));
      values.push(clicking + looks.at(-1));
      if (!text.includes(`Sold ${row}`)) throw new Cannot(`its snapshot lacks the change of the click on row ${row}`);
    }
    return { values, looks, note: "ElementHandle.click, accessibility.snapshot" };
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
    if (arrived !== expected) throw new Cannot(`the page received ${arrived} of ${expected} moves onto the button`);
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
    return { values, first, note: "page.bringToFront, without which a click waits forever, and ElementHandle.click" };
  },

  async hung({ hangs, budget, by }) {
    const tab = await tabAt("/scene");
    const go = await tab.$("#go");
    await go.click();
    const call = await caller(tab);
    const how =
      by === "cdp"
        ? "a raw CDP call with Chrome's own timeout"
        : "page.evaluate has no timeout: cancelled from outside, the script continues";
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

  async pages_at_once({ count, at_once: atOnce }) {
    const started = performance.now();
    let clicked;
    const taken = await allOf(count, atOnce, async () => {
      const tab = await browser.newPage();
      await visit(tab);
      await (await tab.$("#go")).click();
      const clicks = await tab.evaluate("clicks");
      if (clicks !== 1) throw new Cannot(`a page had ${clicks} clicks`);
      clicked = performance.now() - started;
      await tab.close();
    });
    return { values: [(count / taken) * 1000], clicked: (count / clicked) * 1000 };
  },

  async jobs({ count, at_once: atOnce }) {
    const taken = await allOf(count, atOnce, async () => {
      const context = await browser.createBrowserContext();
      await visit(await context.newPage());
      await context.close();
    });
    return { values: [taken / count] };
  },

  async navigations({ count }) {
    const tab = await tabFor("navigations");
    const taken = [];
    for (let number = 0; number < count; number++) {
      taken.push(await timed(() => tab.goto(`${order.site}/nav/${number}`)));
    }
    const title = await tab.title();
    if (title !== `nav/${count - 1}`) throw new Cannot(`it reported nav/${count - 1} as loaded, and the page was ${title}`);
    return { values: taken, mb: resident() };
  },
};

async function closed() {
  await within(CLOSING, browser.close(), "").catch(() => browser.process()?.kill("SIGKILL"));
  process.exit(0);
}

process.on("unhandledRejection", (error) => process.stderr.write(`${wordsOf(error)}\n`));
process.on("SIGTERM", closed);
try {
  browser = await launched();
} catch (error) {
  say({ cannot: wordsOf(error) });
  process.exit(0);
}
say({ version: `${require("puppeteer-core/package.json").version} (by pipe)` });
for await (const line of createInterface({ input: process.stdin })) {
  const { do: verb, ...fields } = JSON.parse(line);
  collectGarbage();
  try {
    say(await verbs[verb](fields));
  } catch (error) {
    say({ cannot: wordsOf(error) });
  }
}
await closed();
