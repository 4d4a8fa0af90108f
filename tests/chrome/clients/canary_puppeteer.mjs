// A Puppeteer program that enters secrets in all its ways.
// argv[2] is the browser, argv[3] a JSON file of the values to enter. Prints its errors as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

const given = JSON.parse(readFileSync(process.argv[3], 'utf-8'));
const { url, secrets: secret, folder } = given;
const problems = [];
const ask = async (path) => { await (await fetch(path)).text(); };

const browser = await puppeteer.connect({ browserURL: process.argv[2] });
const page = await browser.newPage();
page.setDefaultTimeout(15000);
await page.authenticate({ username: 'ada', password: secret.http_credentials });
await page.goto(given.elsewhere + 'protected');
await page.goto(`${url}landed?token=${given.quoted.goto_query}`);
await page.goto(`${url}landed#access_token=${given.quoted.goto_hash}`);
await page.setCookie({ name: 'set', value: secret.cookie_api, url });
await page.evaluateOnNewDocument(`window.session_token = ${JSON.stringify(secret.init_script)}`);
await page.exposeFunction('key', () => secret.exposed_result);
await page.exposeFunction('vault', () => {});
await page.goto(url);
await page.waitForFunction("document.title === 'done'");

const ways = {
  async fill() {
    for (const name of ['fill', 'fill_textarea', 'fill_password', 'fill_short', 'fill_live']) {
      await page.locator(`#${name}`).fill(secret[name]);
    }
  },
  async type() {
    await page.type('#type_keys', secret.type_keys);
    await page.type('#type_live', secret.type_live);
  },
  async keyboard() {
    await page.focus('#keyboard_insert');
    await page.keyboard.sendCharacter(secret.keyboard_insert);
    await page.focus('#keyboard_type');
    await page.keyboard.type(secret.keyboard_type);
  },
  async upload() {
    const path = `${folder}/upload.txt`;
    writeFileSync(path, `${secret.upload_content} ${secret.upload}`);
    const posted = page.waitForResponse((response) => response.url().endsWith('/post'));
    await (await page.$('#upload')).uploadFile(path);
    await posted;
  },
  async prompt() {
    page.once('dialog', (dialog) => dialog.accept(secret.prompt));
    await page.evaluate(() => { document.getElementById('prompt').value = prompt('Password?'); });
  },
  async evaluate() {
    await page.evaluate((text) => text.length, secret.evaluate_argument);
    await page.evaluate((user) => user.keys.length, { keys: [secret.evaluate_argument_inside] });
    await page.evaluate(() => C('evaluate_returned'));
    const handle = await page.evaluateHandle((text) => ({ text }), secret.evaluate_handle);
    await handle.jsonValue();
  },
  async exposed() {
    await page.evaluate(async () => { await vault(C('exposed_argument')); });
    await page.evaluate(async () => (await key()).length);
  },
  async headers() {
    await page.setExtraHTTPHeaders({ 'X-Api-Key': secret.extra_headers });
    await page.evaluate(ask, '/asked');
    await page.setExtraHTTPHeaders({});
  },
  async route() {
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.url().endsWith('/routed')) {
        request.respond({ contentType: 'application/json', body: JSON.stringify({ access_token: secret.route_text }) });
      } else if (request.url().endsWith('/passed')) {
        request.continue({ postData: JSON.stringify({ password: secret.route_posted }) });
      } else {
        request.continue();
      }
    });
    await page.evaluate(ask, '/routed');
    await page.evaluate(async () => { await post('/passed', 'x'); });
  },
};
for (const [name, way] of Object.entries(ways)) {
  try { await way(); } catch (error) { problems.push(`${name}: ${error}`.slice(0, 500)); }
}
await page.evaluate(() => echo());
await page.content();
await page.accessibility.snapshot();
await page.screenshot();
await page.cookies();
await page.setContent(`<input type=password value='${secret.set_content_password}'>`);
await page.close();
await browser.disconnect();
console.log(JSON.stringify(problems));
