// A closed server that knows users of its settings and users of a database: one log-in is one attempt, as the server
// counts those that fail, and takes two a minute here.

import assert from "node:assert/strict";
import { Visit } from "./visit.mjs";

const PASSWORD = "a-password-of-this-walk";
const KEY = "a-long-random-text-for-this-walk";

export async function users(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory);
  visit.expect(401, "");
  visit.expect(403, "/api/login");
  // How users log in is asked for where no other answer says so.
  visit.expect(405, "/api/login");
  visit.expect(404, "/auth/login");
  visit.expect(404, "/auth/logout");
  await cancelled(visit);
  await ofTheDatabase(visit);
  await ofTheSettings(visit);
  await kept(visit);
  await visit.end();
}

/** What proved who asks, or tried to, while something was done. */
async function attempts(visit, what) {
  const seen = [];
  const note = (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && pathname === "/api/login") seen.push("session");
    if (request.headers().authorization?.startsWith("Basic ") && !seen.includes("basic")) seen.push("basic");
  };
  visit.page.on("request", note);
  await what();
  visit.page.off("request", note);
  return seen;
}

/** A log-in that is cancelled is none, also where its session has come by then. */
async function cancelled(visit) {
  const { page } = visit;
  await visit.open("console/entry/people");
  await page.locator("dialog [name=username]").fill("bob");
  await page.locator("dialog [name=password]").fill(PASSWORD);
  let cancel;
  const isCancelled = new Promise((resolve) => (cancel = resolve));
  const arrived = new Promise((resolve) => {
    void page.route("**/api/login", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const response = await route.fetch();
      resolve();
      await isCancelled;
      await route.fulfill({ response }).catch(() => undefined);
    });
  });
  await page.locator("dialog button.primary").click();
  await arrived;
  const ended = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/logout");
  await page.locator("dialog[open]").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await ended).ok(), true);
  cancel();
  await page.unroute("**/api/login");
  await page.reload();
  await visit.see("dialog[open] h2", "Log in");
  assert.equal(await page.locator(".who").count(), 0);
  visit.check("a log-in that is cancelled");
}

/** What was kept and is wrong by now is one attempt; where there were too many, it is kept and not sent again. */
async function kept(visit) {
  const { page } = visit;
  const wrong = `sessionStorage.setItem('salver.api_key', 'Basic ${btoa("ann:another")}')`;
  visit.expect(429, "");
  const said = page.locator("dialog[open] .note, main .note").first();
  // Attempts at the log-in of before may count, or be forgotten by now.
  for (let attempt = 0; ; attempt++) {
    await visit.ask(wrong);
    await visit.open("console/entry/people");
    await said.waitFor();
    const held = await visit.ask("sessionStorage.getItem('salver.api_key')");
    if (held !== null) break;
    assert.ok(attempt < 2, "the third attempt is refused");
    await visit.see("dialog[open] .note", "does not know the name and the password of this tab any more");
  }
  let sent = 0;
  page.on("request", (request) => (sent += request.headers().authorization ? 1 : 0));
  await page.reload();
  await visit.see("main .note", "the server takes no attempts from here now");
  assert.equal(sent, 1);
  await page.locator("main .note").getByRole("button", { name: "Log in…" }).waitFor();
  await page.locator("main .note").getByRole("button", { name: "Try again" }).click();
  await visit.look("users_halted");
  assert.equal(sent, 1);
  await page.locator("main .note").getByRole("button", { name: "Log out" }).click();
  await visit.see("dialog[open] h2", "Log in");
  visit.check("what was kept");
}

async function ofTheDatabase(visit) {
  const { page } = visit;
  await visit.open("console/entry/people");
  await page.locator("dialog [name=username]").fill("bob");
  assert.equal(await page.locator("dialog [name=key]").count(), 0, "there are no keys here");
  await visit.look("users_login");
  await page.locator("dialog [name=password]").fill("another");
  const wrong = await attempts(visit, async () => {
    await page.locator("dialog button.primary").click();
    await visit.see("dialog .note", "does not know this name with this password");
    await visit.see("dialog .note", "user of the server's settings");
  });
  assert.deepEqual(wrong, ["session"]);
  await page.locator("dialog [name=password]").fill(PASSWORD);
  const right = await attempts(visit, async () => {
    await page.locator("dialog button.primary").click();
    await visit.see(".who", "bob");
    await visit.seeCell(0, 1, "Ann");
  });
  assert.deepEqual(right, ["session"]);
  // Of a session, the code for other programs has nothing.
  await page.locator(".request-panel summary").click();
  await visit.see(".request-panel", "known by a session of this browser");
  // Who could not be logged out is told so, and stays where they are.
  visit.expect(502, "/api/logout");
  await page.route("**/api/logout", (route) => route.fulfill({ status: 502, body: "{}" }));
  await page.getByRole("button", { name: "Log out" }).click();
  await visit.see("dialog[open] h2", "You are still logged in");
  await visit.see(".who", "bob");
  await visit.look("users_log_out");
  await page.unroute("**/api/logout");
  await page.locator("dialog[open]").getByRole("button", { name: "Try again" }).click();
  await visit.see("dialog[open] h2", "Log in");
  visit.check("users of the database");
}

async function ofTheSettings(visit) {
  const { page } = visit;
  await page.locator("dialog [name=username]").fill("ann");
  await page.locator("dialog [name=password]").fill(PASSWORD);
  await page.locator("dialog [name=of]").selectOption("basic");
  const right = await attempts(visit, async () => {
    await page.locator("dialog button.primary").click();
    await visit.see(".who", "ann");
    await visit.see("main th a", "people");
  });
  assert.deepEqual(right, ["basic"]);
  await page.getByRole("button", { name: "Log out" }).click();
  await visit.see("dialog[open] h2", "Log in");
  // Whose user it was is chosen already.
  await page.locator("dialog [name=of]").waitFor();
  assert.equal(await page.locator("dialog [name=of]").inputValue(), "basic");
  visit.check("users of the settings");
}

/** On a server that is open to all, what it refuses is not kept: the data is there again, and nobody is logged in. */
export async function refused(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory);
  const { page } = visit;
  const dialog = page.locator("dialog");
  const held = () => visit.ask("sessionStorage.getItem('salver.api_key')");
  for (const status of [401, 403]) visit.expect(status, "");
  visit.expect(404, "/api/me");
  await visit.open("");
  for (const path of ["console/entry/people", "console/sql?q=select+name+from+people"]) {
    // As after a change of the server's keys.
    await visit.ask("sessionStorage.setItem('salver.api_key', 'a-key-of-before')");
    await visit.open(path);
    await visit.see("dialog[open] .note", "does not know the key of this tab any more");
    assert.equal(await held(), null);
    assert.equal(await page.getByRole("button", { name: "Log out" }).count(), 0);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await visit.see("td", "Ann");
    await visit.see("header button", "Log in");
  }
  // A key that no header carries is one of another console.
  await visit.ask("sessionStorage.setItem('salver.api_key', 'ключ')");
  await visit.open("console/entry/people");
  await visit.see("td", "Ann");
  assert.equal(await held(), null);

  await page.locator("header").getByRole("button", { name: "Log in" }).click();
  await dialog.locator("[name=username]").fill("ann");
  await dialog.locator("[name=password]").fill("another");
  await dialog.locator("[name=key]").fill(KEY);
  await dialog.locator("button.primary").click();
  await visit.see("dialog .note", "either a name and a password, or a key");
  await dialog.locator("[name=key]").fill("");
  await dialog.locator("button.primary").click();
  await visit.see("dialog .note", "does not know this name with this password");
  assert.equal(await held(), null);
  await visit.look("refused_login");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  await visit.see("td", "Ann");
  await page.locator("header").getByRole("button", { name: "Log in" }).click();
  await dialog.locator("[name=key]").fill(KEY);
  await dialog.locator("button.primary").click();
  await visit.see(".who", "with the key team");
  await visit.see("header button", "Log out");
  await visit.see("td", "Ann");
  visit.check("what is refused");
  await visit.end();
}
