// A browser that is watched: every page it opens must stay without errors, ask no other host, be usable by those who
// see little, and fit a telephone.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

// The packages are where the setup of the tests put them, which is where the program was started.
const packages = createRequire(join(process.cwd(), "packages.js"));
const { chromium } = packages("playwright-core");
const AXE = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
/** How long anything may take to appear. */
const PATIENCE_MS = 30_000;
const WIDE = { width: 1280, height: 800 };
const TELEPHONE = { width: 375, height: 800 };

/** Starts the browser, in the version of the system. */
export function launch() {
  const programs = process.env.PATH.split(delimiter).map((directory) => join(directory, "chromium"));
  const executablePath = programs.find(existsSync);
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A page of a browser that nobody has used before, with what went wrong on it. */
export class Visit {
  /** What no page may do, as it was seen. */
  faults = [];
  #expected = [];

  /** Opens an empty page for a server. Screenshots go to `directory`. */
  static async begin(browser, base, directory, options = {}) {
    const look = { viewport: WIDE, colorScheme: "light", reducedMotion: "reduce" };
    const context = await browser.newContext({ ...look, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    mkdirSync(directory, { recursive: true });
    return new Visit(await context.newPage(), base, directory);
  }

  constructor(page, base, directory) {
    this.page = page;
    this.base = base;
    this.directory = directory;
    const { origin } = new URL(base);
    page.on("pageerror", (error) => this.faults.push(`an error of the page: ${error.stack}`));
    page.on("dialog", (dialog) => {
      this.faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error" && !this.#isExpected(message)) {
        this.faults.push(`on the console: ${message.text()} ${message.location().url}`);
      }
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) {
        this.faults.push(`a request to another host: ${url.href}`);
      }
    });
  }

  /** From now on an answer with this status is no fault at this path. */
  expect(status, path) {
    this.#expected.push({ status, path });
  }

  #isExpected(message) {
    const status = /status of (\d+)/.exec(message.text())?.[1];
    const { pathname } = new URL(message.location().url || this.base);
    return this.#expected.some((one) => String(one.status) === status && pathname.endsWith(one.path));
  }

  /** Opens a path of the server. */
  async open(path) {
    await this.page.goto(new URL(path, this.base).href);
  }

  /** Waits until something is there. */
  async see(selector, hasText) {
    const all = this.page.locator(selector);
    await (hasText === undefined ? all : all.filter({ hasText })).first().waitFor();
  }

  /** Waits until the address holds this text: what is shown is in it. */
  async address(part) {
    await this.page.waitForURL((url) => decodeURIComponent(url.href).includes(part));
  }

  /** The cell of a grid. */
  cell(row, column) {
    return this.page.locator(`[data-cell="${row}:${column}"]`);
  }

  /** Waits until a cell shows this text. */
  async seeCell(row, column, text) {
    await this.cell(row, column).filter({ hasText: text }).waitFor();
  }

  /** Takes a picture of the screen, and looks at it as others do: on a telephone, in the dark, with a reader. */
  async look(name) {
    await this.page.screenshot({ path: join(this.directory, `${name}.png`) });
    await this.#axe(`${name}, light`);
    await this.page.setViewportSize(TELEPHONE);
    await this.page.emulateMedia({ colorScheme: "dark" });
    await this.#axe(`${name}, dark, on a telephone`);
    const wider = await this.ask("document.documentElement.scrollWidth - innerWidth");
    if (wider > 0) this.faults.push(`${name}: ${wider} pixels wider than a telephone`);
    await this.page.setViewportSize(WIDE);
    await this.page.emulateMedia({ colorScheme: "light" });
    this.check(name);
  }

  /** Fails if anything went wrong until now. */
  check(name) {
    assert.deepEqual(this.faults, [], name);
  }

  async #axe(name) {
    const run = `axe.run(document, { resultTypes: ["violations"] }).then((all) => all.violations.map((one) => ({
      impact: one.impact, rule: one.id, where: one.nodes[0].html.slice(0, 200), why: one.nodes[0].failureSummary })))`;
    const found = await this.ask(`${AXE}; ${run}`);
    for (const { impact, rule, where, why } of found) {
      if (!["serious", "critical"].includes(impact)) continue;
      this.faults.push(`${name}: ${rule} (${impact}) at ${where}: ${why}`);
    }
  }

  /** The value of an expression in the page. */
  // Not `page.evaluate`, which needs `eval`, and the pages' policy forbids that.
  async ask(expression) {
    const session = await this.page.context().newCDPSession(this.page);
    const how = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", how);
    await session.detach();
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  }

  /** Asks the server without the browser. */
  async api(path, init) {
    const answer = await fetch(new URL(path, this.base), init);
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** Closes the page, with all that the browser knows of the server. */
  async end() {
    await this.page.context().close();
  }
}
