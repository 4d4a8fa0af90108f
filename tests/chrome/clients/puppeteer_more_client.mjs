// A Puppeteer program that uses many features with generated names. argv[2] is the browser, argv[3] the page.
// Features: worlds, bindings, init scripts, custom selectors, frames, set contents, continued requests.
import puppeteer from 'puppeteer-core';

const browser = await puppeteer.connect({ browserURL: process.argv[2] });
const context = await browser.createBrowserContext();
const page = await context.newPage();
await page.setViewport({ width: 900, height: 700 });
await page.exposeFunction('shout', (text) => text.toUpperCase());
await page.evaluateOnNewDocument(() => {
  window.hello = 1;
});
await page.goto(process.argv[3]);
await page.type('#name', 'Ada');
await page.keyboard.press('Tab');
await page.locator('#greet').click();
await page.waitForSelector('#greeting');
const said = {
  url: page.url() === process.argv[3],
  shout: await page.evaluate(() => window.shout('a')),
  hello: await page.evaluate(() => window.hello),
  xpath: await page.$eval('::-p-xpath(//p)', (element) => element.textContent),
  text: await page.$eval('::-p-text(Greet)', (element) => element.id),
  aria: await page.$eval('::-p-aria(Greet)', (element) => element.id),
  all: await page.$$eval('p', (elements) => elements.length),
};
await page.setContent("<iframe srcdoc='<button>In</button>'></iframe><select id=list><option>a<option>b</select>");
await page.select('#list', 'b');
await (await page.frames()[1].waitForSelector('button')).click();
await page.waitForFunction(() => 1 + 1 === 2);
said.tree = (await page.accessibility.snapshot()).role;
await page.setRequestInterception(true);
page.on('request', (request) => request.continue());
await page.goto(process.argv[3]);
const handle = await page.evaluateHandle(() => document.body);
said.tag = await handle.evaluate((body) => body.tagName);
await context.close();
await browser.disconnect();
console.log(JSON.stringify(said));
