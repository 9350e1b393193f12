// The first half of the walk: find an entry, look at its rows, draw them, and change one.

import assert from "node:assert/strict";

/** The steps, each with what it is called in a message. */
export const DATA = { catalog, rows, columns, chart, row, edit };

async function catalog(visit) {
  await visit.open("");
  await visit.see("h1", "Catalog");
  for (const name of ["uk_cities", "launches", "posts", "clicks", "words/count"]) await visit.see("main th a", name);
  await visit.page.getByRole("searchbox", { name: "Find data or function" }).fill("city");
  await visit.see(".nav-empty");
  await visit.page.getByRole("searchbox", { name: "Find data or function" }).fill("");
  await visit.look("catalog");
}

async function rows(visit) {
  const { page } = visit;
  await page.locator("main").getByRole("link", { name: "uk_cities", exact: true }).click();
  await visit.see(".pager [role=status]", "1–37 of 37");
  await page.getByRole("combobox", { name: "Rows", exact: true }).selectOption("25");
  await visit.see(".pager [role=status]", "1–25 of 37");
  await page.getByRole("button", { name: "Next page" }).click();
  await visit.see(".pager [role=status]", "26–37 of 37");

  await page.getByRole("columnheader", { name: "lat" }).getByRole("button").click();
  await visit.address("sort=lat");
  await page.getByRole("columnheader", { name: "lat" }).getByRole("button").click();
  await visit.address("sort=-lat");
  const [north] = await visit.api("api/tables/uk_cities?sort=-lat&limit=1");
  await visit.seeCell(0, 0, north.city);

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("combobox", { name: "Column", exact: true }).selectOption("city");
  await page.getByRole("combobox", { name: "Comparison" }).selectOption("contains");
  await page.getByRole("textbox", { name: "Value" }).fill("Scotland");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await visit.address("Scotland");
  await visit.see(".pager [role=status]", "1–1 of 1");
  await visit.look("rows");

  // A link shows the same, and so does the way back.
  await page.reload();
  await visit.see(".pager [role=status]", "1–1 of 1");
  await page.goBack();
  await visit.see(".pager [role=status]", "1–25 of 37");
}

async function columns(visit) {
  await visit.open("console/entry/launches?tab=columns");
  await visit.see(".profile", "payload_kg");
  await visit.see(".small-histogram");
  await visit.look("columns");
}

async function chart(visit) {
  const { page } = visit;
  await visit.open("console/entry/orders");
  await visit.see(".pager [role=status]", "of 240");
  await page.getByRole("button", { name: "Chart", exact: true }).click();
  await page.getByRole("button", { name: "Bar", exact: true }).click();
  await page.getByRole("combobox", { name: "Category" }).selectOption("product");
  await page.getByRole("combobox", { name: "Show" }).selectOption("sum");
  await page.getByRole("combobox", { name: "of", exact: true }).selectOption("quantity");
  await visit.see(".bars .bar-row");
  await visit.see("figcaption", /^Sum of quantity by product$/);
  await visit.look("chart");
  await page.reload();
  await visit.see("figcaption", /^Sum of quantity by product$/);

  await visit.open("console/entry/uk_cities?tab=chart");
  await page.getByRole("button", { name: "Map", exact: true }).click();
  await visit.see("figcaption", "Places by lng and lat");
  await visit.check("map");
  await page.getByRole("button", { name: "Scatter", exact: true }).click();
  await visit.see(".uplot canvas");
  await visit.check("scatter");
}

async function row(visit) {
  const { page } = visit;
  await visit.open("console/entry/rockets");
  await page.locator("tbody th a").first().click();
  await visit.address("/console/entry/rockets/row/");
  await visit.see(".values dt", "height_m");
  await visit.look("row");
}

async function edit(visit) {
  const { page } = visit;
  const title = async () => (await visit.api("api/records/posts/1")).title;
  await visit.open("console/entry/posts");
  await visit.seeCell(0, 3, "Blog started");
  await visit.cell(0, 3).dblclick();
  await page.locator("#cell-input").fill("Blog begun");
  await page.keyboard.press("Enter");
  await visit.seeCell(0, 3, "Blog begun");
  assert.equal(await title(), "Blog begun");
  await visit.look("edit");
  await page.getByRole("button", { name: "Undo" }).click();
  await visit.seeCell(0, 3, "Blog started");
  assert.equal(await title(), "Blog started");

  // What the database refuses stands at its field, and nothing has changed.
  visit.expect(422, "/api/records/posts/1");
  await visit.cell(0, 4).dblclick();
  await page.locator("#cell-input").fill("many");
  await page.keyboard.press("Enter");
  await visit.see("#cell-error");
  await visit.look("refused");
  await page.keyboard.press("Escape");
  await visit.seeCell(0, 4, "120");
}
