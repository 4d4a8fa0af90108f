// browserless on loopback, with the system's Chromium instead of Playwright's.
import playwright from "playwright-core";

playwright.chromium.executablePath = () => process.env.CHROMIUM;
const { Browserless } = await import("@browserless.io/browserless");
const server = new Browserless();
process.once("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});
await server.start();
console.log("STARTED");
