// A Puppeteer program that launches two browsers, one over a port and one over a pipe, and uses the page argv[2].
import puppeteer from 'puppeteer-core';

const options = { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] };
const [first, second] = [await puppeteer.launch(options), await puppeteer.launch({ ...options, pipe: true })];
const pages = [await first.newPage(), await second.newPage()];
for (const page of pages) await page.goto(process.argv[2]);
await pages[0].type('#name', 'Ada');
await pages[0].click('#greet');
await pages[0].waitForSelector('#greeting');
const greeting = await pages[0].$eval('#greeting', (element) => element.textContent);
console.log(JSON.stringify([greeting, await pages[1].title()]));
await first.close();
await second.close();
