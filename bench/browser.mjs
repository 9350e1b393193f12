// Opens one page of the console in a browser without a cache, and prints after how many milliseconds of the navigation
// it showed what was waited for: `node browser.mjs URL rows|profile`, in the directory of the packages.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

const { chromium } = createRequire(join(process.cwd(), "packages.js"))("playwright-core");
const PATIENCE_MS = 120_000;
const IDLE_MS = 1_500;
/** Whether what is waited for is there, as expressions in the page. */
const SHOWN = {
  rows: `document.querySelector('[data-cell="0:0"]')?.textContent.trim()`,
  profile: `(() => {
    const rows = [...document.querySelectorAll(".profile tbody tr")];
    const drawn = ".small-histogram, .top-values, td:last-child > small";
    return rows.length > 0 && rows.every((row) => row.querySelector(".filled") && row.querySelector(drawn));
  })()`,
};

const [url, what] = process.argv.slice(2);
const programs = process.env.PATH.split(delimiter).map((directory) => join(directory, "chromium"));
const executablePath = programs.find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  // An answer without a page before it, and a while of nothing: the browser's own processes start, which is not measured.
  await page.goto(new URL("/ready", url).href, { timeout: PATIENCE_MS });
  await page.waitForTimeout(IDLE_MS);
  await page.addInitScript(`
    const look = () => {
      if (${SHOWN[what]}) globalThis.shownAt ??= performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);`);
  await page.goto(url, { timeout: PATIENCE_MS });
  const session = await context.newCDPSession(page);
  const started = Date.now();
  for (;;) {
    // Not `page.evaluate`, which needs `eval`, and the pages' policy forbids that.
    const { result } = await session.send("Runtime.evaluate", { expression: "globalThis.shownAt", returnByValue: true });
    if (result.value !== undefined) {
      console.log(result.value);
      break;
    }
    if (Date.now() - started > PATIENCE_MS) throw new Error(`${url} did not show its ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
} finally {
  await browser.close();
}
