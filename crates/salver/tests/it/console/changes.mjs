// Changes that could be lost: of rows whose key can't stand in a path, of values that are none of their column's type,
// line breaks that are pasted, and what is typed when somebody leaves.

import assert from "node:assert/strict";

/** The steps over the database `loose`, each with what it is called in a message. */
export const CHANGES = { keys, values, lines, left };

/** Sets a value as somebody else does, beside the browser. */
async function meanwhile(visit, id, record) {
  const body = JSON.stringify({ operations: [{ update: "keyed", id: [id], record }] });
  await visit.api("api/records", { method: "POST", body, headers: { "content-type": "application/json" } });
}

async function valueOf(visit, id) {
  const { records } = await visit.api(`api/records/keyed?strict=1&filter=k,eq,${encodeURIComponent(id)}`);
  return records[0]?.v;
}

/** A row without a tag is not written over, nor taken back, nor deleted, where somebody else changed it. */
async function keys(visit) {
  const { page } = visit;
  for (const id of ["i,j", "k~l", "", ".."]) {
    await visit.open(`console/entry/keyed/row?key=${encodeURIComponent(id)}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.locator("#field-v").fill("mine");
    await meanwhile(visit, id, { v: "theirs" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await visit.see("dialog .note", "Somebody else changed the row meanwhile: v is now “theirs”");
    assert.equal(await valueOf(visit, id), "theirs", `of ${id}`);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await visit.see(".undo", "Changed v");
    assert.equal(await valueOf(visit, id), "mine", `of ${id}`);

    await meanwhile(visit, id, { v: "theirs again" });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await visit.see(".undo .note", "It was not taken back: somebody else changed the row since");
    assert.equal(await valueOf(visit, id), "theirs again", `of ${id}`);

    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await visit.see("dialog [role=status]", "brought back");
    await meanwhile(visit, id, { v: "theirs at last" });
    await page.locator("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await visit.see("dialog .note", "Somebody else changed the row meanwhile");
    assert.equal(await valueOf(visit, id), "theirs at last", `of ${id}`);
    await page.locator("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
    await page.locator("dialog[open]").waitFor({ state: "detached" });
  }
}

/** A value that is none of its column's type leaves the rows in sight, and can be mended there and on its page. */
async function values(visit) {
  const { page } = visit;
  visit.expect(400, "/api/tables/typed");
  visit.expect(400, "/api/graphql");
  await visit.open("console/entry/typed");
  await visit.see(".note.warn", "A value here is none of its column's type");
  await visit.seeCell(0, 1, "empty");
  await visit.seeCell(1, 1, "many");
  await visit.see(".pager [role=status]", "1–3 of 3");
  await visit.look("loose_rows");
  await visit.cell(0, 1).dblclick();
  await page.locator("#cell-input").fill("7");
  await page.keyboard.press("Enter");
  await visit.seeCell(0, 1, "7");
  await visit.open("console/entry/typed/row/2");
  await visit.see(".note.warn", "A value here is none of its column's type");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator("#field-n").fill("8");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator(".note.warn").waitFor({ state: "detached" });
  await visit.open("console/entry/typed");
  await visit.seeCell(1, 1, "8");
  assert.equal(await page.locator(".note.warn").count(), 0);
  assert.deepEqual(await visit.api("api/tables/typed?columns=n&sort=n"), [{ n: 5 }, { n: 7 }, { n: 8 }]);
}

/** Line breaks that are pasted or typed are there once they are saved; Enter alone saves a text of one line. */
async function lines(visit) {
  const { page } = visit;
  const text = async () => (await visit.api("api/records/typed/3")).t;
  await visit.open("console/entry/typed");
  await visit.cell(2, 2).dblclick();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("one\ntwo");
  await page.keyboard.press("Alt+Enter");
  await page.keyboard.insertText("three");
  await page.keyboard.press("Control+Enter");
  await visit.see(".undo", "Changed t");
  assert.equal(await text(), "one\ntwo\nthree");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await visit.seeCell(2, 2, "plain");
  await visit.cell(2, 2).dblclick();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("in one line");
  await page.keyboard.press("Enter");
  await visit.seeCell(2, 2, "in one line");
  assert.equal(await text(), "in one line");
}

/** A statement that was not run outlives a reload, and the way there and back. */
async function left(visit) {
  const { page } = visit;
  await visit.open("console/sql?q=select+1+as+one");
  await visit.see(".sql-status", "1 row");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("select 2 as typed");
  await visit.see(".cm-content", "typed");
  await page.reload();
  await visit.see(".cm-content", "typed");
  await page.keyboard.press("Escape");
  await page.locator(".sidebar").getByRole("link", { name: "typed", exact: true }).click();
  await visit.see("h1", "typed");
  await page.goBack();
  await visit.see(".cm-content", "typed");
  // A link shows what it says; the same address once more would be a reload.
  await visit.open("");
  await visit.open("console/sql?q=select+1+as+one");
  await visit.see(".cm-content", "one");
  assert.ok(!(await page.locator(".cm-content").innerText()).includes("typed"));
}
