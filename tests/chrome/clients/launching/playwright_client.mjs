// A Playwright program that finds its browser in the folder of downloaded ones, and uses the page argv[2].
import { chromium } from 'playwright';

const browser = await chromium.launch({ args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(process.argv[2]);
await page.fill('#name', 'Ada');
await page.getByRole('button', { name: 'Greet' }).click();
console.log(JSON.stringify([await page.locator('#greeting').innerText(), await page.title()]));
await browser.close();
