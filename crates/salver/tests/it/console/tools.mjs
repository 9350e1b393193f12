// The second half of the walk: SQL, a stream, functions, the reference of the API, an export, the state of the server.

import assert from "node:assert/strict";

/** The steps, each with what it is called in a message. */
export const TOOLS = { sql, stream, python, cancelled, r, reference, exported, operations };

/** Types into an editor for code, in place of what is there. */
async function write(visit, label, text) {
  const editor = visit.page.locator(".cm-content").and(visit.page.getByLabel(label));
  await editor.click();
  await visit.page.keyboard.press("Control+A");
  // Not typed key by key: completion and closing brackets are for those who do.
  await visit.page.keyboard.insertText(text);
}

async function sql(visit) {
  const { page } = visit;
  await visit.open("console/sql");
  visit.expect(400, "/api/sql");
  await write(visit, "SQL", "select city,\n  latt from uk_ci");
  await visit.see(".cm-tooltip-autocomplete", "uk_cities");
  await visit.look("completion");
  await page.keyboard.press("Enter");
  await visit.see(".cm-content", "uk_cities");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await visit.see(".note.error", "latt");
  await visit.see(".cm-lintRange-error", "latt");
  await visit.look("sql_error");
  await write(visit, "SQL", "select rocket, count(*) as launches\nfrom launches group by 1 order by 2 desc");
  await page.keyboard.press("Control+Enter");
  await visit.see(".sql-status", "4 rows");
  assert.equal(await page.locator(".note.error, .cm-lintRange-error").count(), 0, "the error is gone");
  await visit.address("q=select");
  await visit.look("sql");
}

async function stream(visit) {
  const { page } = visit;
  await visit.open("console/stream/clicks");
  await visit.see(".stream .badge", "live");
  await page.getByText("Send an event").click();
  await write(visit, "Events to send", '{"user": "ann", "page": "/walk"}');
  await page.locator(".send-form").getByRole("button", { name: "Send", exact: true }).click();
  await visit.see(".send-form .note", "1 event taken");
  await visit.see(".event-list li", "/walk");
  await visit.see(".event-list li:first-child time");
  await visit.look("stream");
  // What others send comes, too.
  await visit.api("api/streams/clicks", { method: "POST", body: '{"user": "ben", "page": "/other"}' });
  await visit.see(".event-list li", "/other");
  const { next } = await visit.api("api/streams/clicks");
  await visit.open(`console/stream/clicks?page=events&from=${next - 1}`);
  await visit.see("main td", "/other");
  visit.check("events");
}

async function python(visit) {
  const { page } = visit;
  await visit.open("");
  await page.locator("main").getByRole("link", { name: "words/count", exact: true }).click();
  await page.getByRole("textbox", { name: /^text/ }).fill("to be or not to be");
  await page.getByRole("textbox", { name: /^top/ }).fill("1");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await visit.see(".answer .badge", "200");
  await visit.seeCell(0, 1, "2");
  await visit.look("function");
}

/** What cancels a call is not what calls again, and a job that is cancelled is told to be, whatever waits for it. */
async function cancelled(visit) {
  const { page } = visit;
  const asked = [];
  const isCall = (url) => url.pathname === "/api/functions/words/count";
  await page.route(isCall, (route) => {
    asked.push(route.request().method());
    if (!route.request().headers().prefer) return;
    const job = { id: "7", function: "words/count", state: "queued", created: null, started: null };
    return route.fulfill({ status: 202, contentType: "application/json", body: JSON.stringify(job) });
  });
  await visit.open("console/function/words/count?a.text=to+be");
  const button = (name) => page.locator("main").getByRole("button", { name, exact: true });
  await button("Call").click();
  await button("Cancel").click();
  await button("Call").waitFor();
  // Should the click have called again, the button is the other one by now.
  await visit.ask("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  assert.deepEqual(asked, ["POST"]);
  assert.equal(await button("Cancel").count(), 0);

  const isJob = (url) => url.pathname === "/api/jobs/7";
  let polls = 0;
  await page.route(isJob, (route) => {
    const request = route.request();
    if (request.method() === "DELETE") return route.fulfill({ status: 204 });
    // What waits for the end of the job is not answered.
    if (request.headers().prefer && ++polls) return;
    const started = new Date().toISOString();
    const job = { id: "7", function: "words/count", state: "running", created: null, started };
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(job) });
  });
  await page.getByRole("checkbox", { name: "In the background, as a job" }).check();
  await button("Call").click();
  await visit.see(".job .badge", "running");
  await page.locator(".job").getByRole("button", { name: "Cancel" }).click();
  await visit.see("main [role=status]", "Job 7 is cancelled.");
  assert.equal(await page.locator(".job").count(), 0);
  assert.equal(polls, 1);
  visit.check("cancelled");
  await page.unroute(isCall);
  await page.unroute(isJob);
}

async function r(visit) {
  const { page } = visit;
  const files = await visit.api("api/functions");
  // R may not be there.
  if (!JSON.stringify(files).includes("maths")) return;
  await visit.open("console/function/maths/fib?a.n=10");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await visit.see(".answer .badge", "200");
  await visit.see(".answer", "55");
  visit.check("r");
}

async function reference(visit) {
  const { page } = visit;
  await visit.open("console/docs");
  await visit.see("h1", "API reference");
  await page.getByRole("searchbox", { name: "Find an operation" }).fill("/api/tables");
  await page.locator(".docs-list a").filter({ hasText: "GET" }).filter({ hasText: "{" }).first().click();
  await page.locator(".docs-field").filter({ hasText: "required" }).locator("input").fill("rockets");
  await page.locator(".docs-try").getByRole("button", { name: "Send", exact: true }).click();
  await visit.see(".answer .badge", "200");
  await visit.see(".answer", "falcon");
  await visit.look("reference");
}

async function exported(visit) {
  const { page } = visit;
  await visit.open("console/exports?entry=orders");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  const card = page.locator(".export-card").filter({ hasText: "240 rows" });
  await card.getByRole("button", { name: "Download as CSV" }).click();
  await visit.see(".export-card [role=status]", "checksums right");
  await visit.look("export");
  const saved = page.waitForEvent("download");
  await card.getByRole("button", { name: "Save orders.csv" }).click();
  assert.equal((await saved).suggestedFilename(), "orders.csv");
  await card.getByRole("button", { name: "Close" }).click();
  await card.waitFor({ state: "detached" });
}

async function operations(visit) {
  const { page } = visit;
  await visit.open("console/operations");
  await visit.see(".badge.good", "ready");
  await visit.see("main", "uk_cities");
  await visit.look("operations");
  await page.getByRole("button", { name: "Routes" }).click();
  await visit.see("main td, main th", "/api/");
  await visit.look("routes");
  await page.getByRole("button", { name: "Resources" }).click();
  await visit.see("main table");
  visit.check("resources");
}
