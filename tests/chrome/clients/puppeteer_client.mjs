// A Puppeteer program that opens the page argv[3] in the browser argv[2], uses it, and prints its results.
import puppeteer from 'puppeteer-core';

const browser = await puppeteer.connect({ browserURL: process.argv[2] });
const page = await browser.newPage();
await page.goto(process.argv[3]);
await page.type('#name', 'Ada');
await page.click('#greet');
await page.waitForSelector('#greeting');
const other = await browser.newPage();
await other.goto(process.argv[3]);
const said = {
  greeting: await page.$eval('#greeting', (element) => element.textContent),
  title: await other.title(),
  sum: await page.evaluate((a, b) => a + b, 2, 3),
  screenshot: (await page.screenshot()).length > 1000,
  pages: (await browser.pages()).filter((each) => each.url() === process.argv[3]).length,
};
await other.close();
await page.close();
await browser.disconnect();
console.log(JSON.stringify(said));
