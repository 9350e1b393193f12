// Charts of what is unusual: they say what they leave out, whatever the columns are.

import assert from "node:assert/strict";
import { opened } from "./opened.mjs";

/** The steps, each with what it is called in a message. */
export const CHARTS = { charts, types, numbers };

/** The chart in the query of an address. */
function chart(kind, x, y = "", aggregate = "none") {
  return `chart=${encodeURIComponent(JSON.stringify([kind, x, y, aggregate, ""]))}`;
}

/** The pages that draw an entry, and that draw a statement. */
const ofEntry = (name, drawn) => `console/entry/${name}?tab=chart&${drawn}`;
const ofSql = (sql, drawn) => `console/sql?view=chart&${drawn}&q=${encodeURIComponent(sql)}`;

/** Charts say what they leave out, and draw nothing of nothing. */
async function charts(visit) {
  const { page } = visit;
  const map = ofEntry("places", chart("map", "lng", "lat"));
  await opened(visit, map, "figcaption", "1 row without a place");
  await visit.see("figcaption", "2 outside of a map");
  const histogram = ofEntry("measured", chart("histogram", "r"));
  await opened(visit, histogram, "figcaption", "1 row without a value");
  await visit.see("figcaption", "3 rows with NaN or infinity");
  assert.deepEqual(await page.locator(".histogram text").allTextContents(), ["0", "1", "1.5"]);
  const nothing = ofEntry("places", `filter[id]=9&${chart("histogram", "lat")}`);
  await opened(visit, nothing, ".chart-empty", "Nothing to draw");
  const years = [[-62135596800, "1e300"], [283000000000, "-1e300"], [99999999999999, "1"]];
  const select = ([at, n]) => `select arrow_cast(${at}, 'Timestamp(Second, None)') as at, '${n}'::double as n`;
  const far = ofSql(years.map(select).join(" union all "), chart("scatter", "at", "n"));
  await opened(visit, far, "figcaption", "1 outside of the years");
  await page.getByRole("img", { name: "n by at, 2 points" }).waitFor();
  await visit.look("extreme_chart");
  // Another kind of chart is a step, from which there is a way back.
  await page.getByRole("button", { name: "Histogram", exact: true }).click();
  await visit.see("figcaption", "Distribution of at");
  await page.goBack();
  await visit.see("figcaption", "n by at");
}

/** Whatever type the only column has, its chart draws something, or says why there is none. */
async function types(visit) {
  const note = ".chart-panel .note";
  for (const type of ["an_interval", "a_list", "a_struct", "a_map", "nothing"]) {
    const first = `console/entry/${type}?tab=chart`;
    await opened(visit, first, note, "This chart needs a column of numbers or times");
    // A link may say more.
    await opened(visit, ofEntry(type, chart("histogram", "c")), note, "A histogram needs a column of numbers");
    await opened(visit, ofEntry(type, chart("bar", "c", "c", "count")), note, "Rows can't be put together by c");
    await opened(visit, `console/entry/${type}?tab=columns`, ".profile .filled");
  }
  for (const type of ["a_duration", "a_time", "a_boolean", "a_decimal", "bytes", "a_text", "a_date"]) {
    await opened(visit, `console/entry/${type}?tab=chart`, "figure.chart figcaption");
    assert.equal(await visit.page.locator("main .note").count(), 0, type);
  }
  // Values of some can't be compared here, and the page says where they can.
  await opened(visit, "console/entry/a_duration", '[data-cell="0:0"]');
  await visit.page.getByRole("button", { name: "Filter", exact: true }).click();
  await visit.page.getByRole("link", { name: "the rows of a second or more" }).click();
  await visit.seeCell(0, 0, "PT90S");
}

/** The largest floats have marks, and rows that are no numbers are counted apart from those without a value. */
async function numbers(visit) {
  const { page } = visit;
  const histogram = chart("histogram", "n");
  for (const path of [ofEntry("largest", histogram), ofSql("select * from largest", histogram)]) {
    await opened(visit, path, "figcaption", /^Distribution of n$/);
    const marks = await page.locator(".histogram text").allTextContents();
    assert.deepEqual(marks.filter((text) => /NaN|Infinity/.test(text)), [], path);
    const bars = await page.locator(".histogram rect title").allTextContents();
    assert.deepEqual([bars.at(0), bars.at(-1)].map((text) => text.replace(/.*: /, "")), ["1", "1"], path);
  }
  await opened(visit, "console/entry/largest?tab=columns", ".small-histogram");
  const label = await page.locator(".small-histogram").getAttribute("aria-label");
  assert.equal(label, "Distribution of n from -1.70e+308 to 1.70e+308");
  const titles = await visit.ask('[...document.querySelectorAll(".small-histogram span")].map(({ title }) => title)');
  const counts = titles.map((title) => title.replace(/.*: /, ""));
  assert.deepEqual([counts.length, counts.at(0), counts.at(-1)], [24, "1", "1"], titles.join("\n"));
  assert.equal(counts.filter((count) => count !== "0").length, 3);

  const rows = "4 rows without a value · 1 row with NaN or infinity";
  const groups = "3 rows without a value · 1 group of 2 rows that comes to NaN or infinity";
  for (const of of [(drawn) => ofEntry("grouped", drawn), (drawn) => ofSql("select * from grouped", drawn)]) {
    await opened(visit, of(chart("bar", "g", "r", "sum")), "figcaption", groups);
    await opened(visit, of(chart("line", "at", "r")), "figcaption", rows);
    await opened(visit, of(chart("scatter", "at", "r")), "figcaption", rows);
  }
  await visit.look("extreme_numbers");
}
