// The console over what is unusual: a table of 500 columns, one of three million rows, names and values that want to be
// more than text, and entries that can't be loaded. No page of rows shows more than a megabyte.

import assert from "node:assert/strict";
import { CHANGES } from "./changes.mjs";
import { CHARTS } from "./charts.mjs";
import { PAGE_BYTES, opened } from "./opened.mjs";
import { Visit } from "./visit.mjs";

const ROWS = 3_000_000;

/** The steps, each with what it is called in a message. */
const EXTREMES = { failures, wide, long, odd, special, refused, referring, ...CHARTS, ...CHANGES };

export async function extremes(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory);
  for (const [name, walk] of Object.entries(EXTREMES)) {
    await walk(visit);
    visit.check(name);
  }
  await visit.end();
  await plain(browser, base, directory);
}

async function failures(visit) {
  await opened(visit, "", "main th a", "broken");
  await visit.see("main", "there is no file `gone.csv`");
  await visit.see("main", "opens a quote that is never closed");
  await visit.look("extreme_catalog");
  visit.expect(503, "/api/tables/broken");
  visit.expect(503, "/api/schema/broken");
  await visit.open("console/entry/broken");
  await visit.see("main", "opens a quote that is never closed");
  await visit.look("extreme_failure");
}

async function wide(visit) {
  for (const entry of ["wide", "wide_file"]) {
    await opened(visit, `console/entry/${entry}`, '[data-cell="0:0"]');
    await visit.see("[role=columnheader], th", "column 1");
    await visit.look(`extreme_${entry}`);
    await opened(visit, `console/entry/${entry}?tab=columns`, ".profile", "column 1");
    await visit.see(".profile .filled");
    await visit.look(`extreme_${entry}_columns`);
  }
  await opened(visit, "console/entry/wide/row/7", ".values dt", "column 499");
  await visit.look("extreme_wide_row");
  await opened(visit, `console/sql?q=${encodeURIComponent("select * from wide order by id")}`, '[data-cell="0:0"]');
  visit.check("a statement over all columns");
}

async function long(visit) {
  const { page } = visit;
  await opened(visit, "console/entry/big", ".pager [role=status]", "of 3,000,000");
  await page.getByRole("button", { name: "Next page" }).click();
  await visit.see(".pager [role=status]", "51–100");
  await opened(visit, "console/entry/big?sort=-id", '[data-cell="0:0"]', String(ROWS));
  await visit.seeCell(0, 0, String(ROWS));
  await opened(visit, "console/entry/big?tab=columns", ".profile", "word");
  await visit.look("extreme_big_columns");
  await opened(visit, `console/sql?q=${encodeURIComponent("select * from big")}`, '[data-cell="0:0"]');
  await visit.look("extreme_big_sql");
}

async function odd(visit) {
  const { page } = visit;
  const entry = encodeURIComponent("<b>odd");
  await opened(visit, `console/entry/${entry}`, "h1", "<b>odd");
  await visit.see("[role=columnheader], th", "<i>name</i>");
  await visit.see('[data-cell="0:1"]', "<script>alert(2)</script>");
  await page.locator('[data-cell="0:2"] .cell-more').click();
  await visit.see("dialog[open]", "long long");
  await page.keyboard.press("Escape");
  await visit.look("extreme_odd");
  await visit.open(`console/entry/${entry}/row/1`);
  await visit.see(".values dt", "a\"b'c");
  await visit.look("extreme_odd_row");
  await visit.open(`console/entry/${entry}?tab=columns`);
  await visit.see(".profile", "<i>name</i>");
  await visit.see(".profile .filled");
  visit.check("the columns of odd names");
}

/** Numbers that JSON has none for are values of their own among facets, and conditions. */
async function special(visit) {
  const { page } = visit;
  await opened(visit, "console/entry/measured?facets=r", ".facet", "NaN");
  await visit.see(".facet", "NULL");
  await visit.see(".facet", "Infinity");
  await page.locator(".facet-value", { hasText: "NaN" }).click();
  await visit.see(".pager [role=status]", "of 2");
  visit.check("facets of floats");
}

/** What the API does not take is not offered: facets of durations, and Parquet with them. */
async function refused(visit) {
  const { page } = visit;
  await opened(visit, "console/entry/took?facets=took,id", ".facet", "id");
  await visit.see("main td", "PT1S");
  assert.equal(await page.locator(".facet").count(), 1);
  await page.locator("summary", { hasText: "Download" }).click();
  await visit.see(".menu", "Parquet has no type for took");
  visit.check("what is not offered");
}

/** The rows that refer to a row go on, also where its key has several columns. */
async function referring(visit) {
  const { page } = visit;
  await opened(visit, "console/entry/parent/row/1/x", ".relations", "The first 10; there are more");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.locator(".relations tbody tr").nth(29).waitFor();
  assert.equal(await page.locator(".relations tbody tr").count(), 30);
  await page.getByRole("link", { name: "show them" }).click();
  await visit.see(".pager [role=status]", "1–30 of 30");
  visit.check("rows that refer to a row");
}

/** Without scripts, too, pages stay small, and what is cut says so. */
async function plain(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory, { javaScriptEnabled: false });
  for (const path of ["plain", "wide", "wide_file", "big", "<b>odd", "broken"]) {
    const at = path === "plain" ? path : `api/tables/${encodeURIComponent(path)}`;
    visit.expect(503, at);
    const navigation = visit.page.waitForResponse((one) => one.request().isNavigationRequest());
    await visit.open(at);
    const body = await (await navigation).body();
    assert.ok(body.length <= PAGE_BYTES, `${at} has ${body.length} bytes`);
    await visit.page.screenshot({ path: `${directory}/extreme_plain_${path.replaceAll(/\W/g, "")}.png` });
  }
  visit.check("pages without scripts");
  await visit.end();
}
