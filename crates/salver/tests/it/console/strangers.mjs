// What the walk of a newcomer does not meet: values that want to be more than text, a browser without scripts, and a
// server that asks who one is.

import assert from "node:assert/strict";
import { Visit } from "./visit.mjs";

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const LONG = "long ".repeat(4_000);
const TURNED = "\u202eمرحبا بالعالم\u202c!";
const VALUES = { html: HTML, long: LONG, turned: TURNED, zero: "before\u0000after", empty: "" };

/** Hostile values stay text, in rows, in one row, in events, in answers and in names. */
export async function hostile(visit) {
  const { page } = visit;
  const headers = { "content-type": "application/json" };
  const post = (path, value) => visit.api(path, { method: "POST", body: JSON.stringify(value), headers });
  await post("api/streams/clicks", { user: HTML, ...VALUES });
  await visit.open("console/stream/clicks");
  await visit.see(".event-list li", "onerror");
  await page.locator(".event-list summary").first().click();
  await visit.see(".event-value", "before\u2400after");
  await visit.see(".event-value button", "more characters");
  await visit.look("hostile_event");

  const id = await post("api/records/comments", { post_id: 1, message: HTML });
  const long = await post("api/records/comments", { post_id: 1, message: LONG });
  await visit.open(`console/entry/comments?sort=-id`);
  await visit.seeCell(1, 2, HTML);
  await page.locator('[data-cell="0:2"] .cell-more').click();
  await visit.see("dialog[open]", LONG.slice(0, 1000));
  await page.keyboard.press("Escape");
  await visit.look("hostile_rows");
  await visit.open(`console/entry/comments/row/${id}`);
  await visit.see(".values", HTML);
  visit.check("hostile_row");
  for (const one of [id, long]) await visit.api(`api/records/comments/${one}`, { method: "DELETE" });

  const columns = [`'<b>bold</b>' as "<i>name</i>"`, `'${TURNED}' as "العمود"`, "chr(0) || 'x'", "''", "null"];
  const select = `select ${columns.join(", ")}`;
  await visit.open(`console/sql?q=${encodeURIComponent(select)}`);
  await visit.see("[role=columnheader], th", "<i>name</i>");
  await visit.seeCell(0, 0, "<b>bold</b>");
  await visit.seeCell(0, 1, "‹U+202E›");
  await visit.seeCell(0, 2, "\u2400x");
  await visit.seeCell(0, 3, "empty");
  await visit.seeCell(0, 4, "NULL");
  await visit.look("hostile_sql");

  await visit.open(`console/function/words/backwards?a.word=${encodeURIComponent([...HTML].reverse().join(""))}`);
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await visit.see(".answer", JSON.stringify(HTML));
  visit.check("hostile_answer");

  await visit.open(`console/entry/${encodeURIComponent(HTML)}`);
  await visit.see("h1", HTML);
  await visit.look("hostile_name");
}

/** Without scripts there is a page with the entries all the same. */
export async function plain(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory, { javaScriptEnabled: false });
  await visit.open("");
  await visit.page.waitForURL(new URL("plain", base).href);
  for (const name of ["uk_cities", "launches", "posts"]) await visit.see("h2", name);
  await visit.page.screenshot({ path: `${directory}/plain.png` });
  visit.check("plain");
  // A page of the console leads to the same rows.
  await visit.open("console/entry/orders?sort=-id&limit=5&facets=product");
  await visit.page.waitForURL(new URL("api/tables/orders?sort=-id&limit=5", base).href);
  await visit.see("tbody td", "240");
  await visit.open("console/docs");
  await visit.page.waitForURL(new URL("plain", base).href);
  await plainRows(visit);
  await visit.page.screenshot({ path: `${directory}/plain_rows.png` });
  await visit.end();
}

/** The rows of an entry in pages, sorted, and under a condition. */
async function plainRows(visit) {
  const { page } = visit;
  const link = (name) => page.getByRole("link", { name, exact: true });
  await visit.open("api/tables/orders");
  await visit.see("h1", "orders");
  assert.equal(await link("Rows before").count(), 0);
  await link("Rows after").click();
  await visit.address("offset=100");
  await link("Rows after").click();
  await visit.address("offset=200");
  assert.equal(await link("Rows after").count(), 0);
  assert.equal(await page.locator("tbody tr").count(), 40);
  await link("Rows before").click();
  await visit.address("offset=100");
  await link("quantity").click();
  await visit.address("sort=quantity");
  await link("quantity").click();
  await visit.address("sort=-quantity");
  const [most] = await visit.api("api/tables/orders?sort=-quantity&limit=1");
  await visit.see("tbody tr:first-child td", String(most.quantity));
  await page.locator("[name=column]").selectOption("product");
  await page.locator("[name=comparison]").selectOption("contains");
  await page.locator("[name=value]").fill(most.product.slice(1).toUpperCase());
  await page.getByRole("button", { name: "Filter" }).click();
  await visit.address(`filter[product]ilike=%${most.product.slice(1).toUpperCase()}%`);
  await visit.see("tbody td", most.product);
  await link("All rows").click();
  await visit.address("sort=-quantity");
  assert.ok(!page.url().includes("filter"));
  visit.check("plain rows");
}

/** A server with keys shows nothing before one is given, and what the key may see after. */
export async function closed(browser, base, directory, key) {
  const visit = await Visit.begin(browser, base, directory);
  const { page } = visit;
  // The browser counts each refusal as an error, whatever was asked for.
  visit.expect(401, "");
  // `/api/records` and its like refuse a wrong key as PHP-CRUD-API does.
  visit.expect(403, "/api/columns");
  // Who may not see the index may be somebody who logs in with a name: that is asked for, and here nobody does.
  visit.expect(404, "/api/me");
  const told = [];
  page.on("response", async (answer) => {
    const text = await answer.text().catch(() => "");
    if (text.includes("Stoke-on-Trent")) told.push(answer.url());
  });
  await visit.open("console/entry/uk_cities");
  await visit.see("dialog[open] h2", "Log in");
  await visit.look("login");
  await page.locator("dialog [name=key]").fill("not-the-key-of-anybody");
  await page.locator("dialog button.primary").click();
  await visit.see("dialog[open] .note", "does not know the key");
  assert.equal(await visit.ask("sessionStorage.length"), 0, "what is refused is not kept");
  // No header carries these letters, and the page says so at once.
  await page.locator("dialog [name=key]").fill("ключ");
  await page.locator("dialog button.primary").click();
  await visit.see("dialog[open] .note", "English letters, digits and signs only");
  assert.deepEqual(told, [], "nothing is told before a log-in");
  assert.equal(await page.locator("[data-cell]").count(), 0);
  // Pasting brings more than the key.
  await page.locator("dialog [name=key]").fill(`  Bearer ${key} \u200b`);
  await page.locator("dialog button.primary").click();
  await visit.see(".pager [role=status]", "1–37 of 37");
  await visit.see(".who", "with the key team");
  await page.locator(".request-panel summary").click();
  await visit.see(".request-panel .code", "Bearer YOUR_KEY");
  assert.ok(!(await page.locator(".request-panel").innerText()).includes(key));
  await visit.see("td", "Stoke-on-Trent");
  visit.check("closed");
  await page.getByRole("button", { name: "Log out" }).click();
  // Nothing is left, as soon as the page has come anew.
  await page.locator("[data-cell]").first().waitFor({ state: "detached" });
  await visit.see("dialog[open] h2", "Log in");
  await visit.end();
}
