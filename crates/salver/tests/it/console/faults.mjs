// What goes wrong on the way: keys that come faster than the page is drawn, answers that are slow, damaged or missing.
// What is there is shown all the same, and what is not is told with a way to ask again.

import assert from "node:assert/strict";

/** The steps, each with what it is called in a message. */
export const FAULTS = { keys, early, slow, damaged, refused, uncounted, unknown };

/** Answers for a path of the server, in place of its own, until the function is called that this gives. */
async function instead(visit, path, answer) {
  const there = (url) => url.pathname === path;
  await visit.page.route(there, answer);
  return () => visit.page.unroute(there, answer);
}

const json = (body) => (route) => route.fulfill({ contentType: "application/json", body });

/** The paths that the page asked for while something was done. */
async function asked(visit, what) {
  const paths = [];
  const note = (request) => paths.push(new URL(request.url()).pathname + new URL(request.url()).search);
  visit.page.on("request", note);
  await what();
  visit.page.off("request", note);
  return paths;
}

/** Presses keys in one task of the page, as they come within one frame; `^` is with Ctrl. Gives where the focus is. */
function pressed(visit, ...keys) {
  const cell = "document.querySelector('td[tabindex=\"0\"]').dataset.cell";
  return visit.ask(`(async () => {
    for (const key of ${JSON.stringify(keys)}) {
      const how = { key: key.replace("^", ""), ctrlKey: key.startsWith("^"), bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", how));
      await Promise.resolve();
    }
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return [document.activeElement.dataset.cell, ${cell}].join(" ");
  })()`);
}

async function keys(visit) {
  await visit.open("console/entry/orders");
  await visit.seeCell(0, 0, "1");
  await visit.cell(0, 0).focus();
  assert.equal(await pressed(visit, ..."12345".split("").map(() => "ArrowDown")), "5:0 5:0");
  assert.equal(await pressed(visit, "End", "Home", "End"), "5:8 5:8");
  assert.equal(await pressed(visit, "^End", "^Home", "ArrowRight"), "0:1 0:1");
  const [focused, active] = (await pressed(visit, "PageDown", "PageDown", "PageDown")).split(" ");
  assert.equal(focused, active);
  assert.equal(await pressed(visit, "PageUp", "PageUp", "PageUp", "ArrowDown"), "1:1 1:1");
}

/** Rows are asked for before anything that is about them, whatever the address says of them. */
async function early(visit) {
  for (const query of ["", "?sort=-id&page=2&limit=25"]) {
    const paths = await asked(visit, async () => {
      await visit.open(`console/entry/orders${query}`);
      await visit.see(".pager [role=status]", "of 240");
    });
    const rows = paths.filter((path) => path.startsWith("/api/tables/orders") && !path.includes("count="));
    assert.equal(rows.length, 1, paths.join("\n"));
    assert.ok(paths.indexOf(rows[0]) < paths.indexOf("/api/graphql"), paths.join("\n"));
    assert.equal(paths.filter((path) => path === "/").length, 1, paths.join("\n"));
    assert.ok(!paths.includes("/api/me"), "nobody is asked for where nobody logs in");
  }
}

/** Rows wait for nothing else, which then comes. */
async function slow(visit) {
  for (const path of ["/api/functions", "/api/columns", "/api/openapi", "/api/streams"]) {
    let answer = null;
    const undo = await instead(visit, path, (route) => {
      answer = () => route.continue();
    });
    await visit.open("console/entry/posts");
    await visit.seeCell(0, 3, "Blog started");
    await visit.see(".pager [role=status]", "of 3");
    assert.ok(answer, `${path} was asked for`);
    await answer();
    await visit.page.getByRole("button", { name: "New row" }).waitFor();
    await visit.see(".sidebar a", "words/count");
    await undo();
  }
}

/** What is not as it should be is told where it is missing, and the rest stays. */
async function damaged(visit) {
  const parts = { "/api/functions": "null", "/api/columns": "{}", "/api/streams": "<html>", "/api/queries": "[null]" };
  for (const [path, body] of Object.entries(parts)) {
    const undo = await instead(visit, path, json(body));
    await visit.open("");
    await visit.see(".note", `The server's answer at ${path} is not what the console expects`);
    await visit.see("main th a", "uk_cities");
    await undo();
    await visit.page.getByRole("button", { name: "Try again" }).click();
    await visit.page.locator(".note").first().waitFor({ state: "detached" });
    await visit.see(".sidebar a", "words/count");
  }
  for (const body of ["null", '{"entries": null}']) {
    const undo = await instead(visit, "/", (route) => (route.request().isNavigationRequest() ? route.continue() : json(body)(route)));
    await visit.open("console/entry/posts");
    await visit.see(".note", "The server's answer at / is not what the console expects");
    await undo();
    await visit.page.getByRole("button", { name: "Try again" }).click();
    await visit.seeCell(0, 3, "Blog started");
  }
  for (const body of ["{}", "[1]"]) {
    const undo = await instead(visit, "/api/tables/posts", json(body));
    await visit.open("console/entry/posts");
    await visit.see(".note", "The server's answer at /api/tables/posts is not what the console expects");
    assert.equal(await visit.page.locator("[data-cell]").count(), 0, body);
    await visit.see(".pager", "They could not be counted");
    await undo();
    await visit.page.getByRole("button", { name: "Try again" }).click();
    await visit.seeCell(0, 3, "Blog started");
    await visit.page.getByRole("button", { name: "Count again" }).click();
    await visit.see(".pager [role=status]", "1–3 of 3");
  }
  // What may be changed is told of elsewhere than the rows.
  const undo = await instead(visit, "/api/columns", json("{}"));
  await visit.open("console/entry/posts");
  await visit.seeCell(0, 3, "Blog started");
  await visit.see(".note", "Rows can't be changed until it is there");
  await visit.look("damaged");
  await undo();
  await visit.page.getByRole("button", { name: "Try again" }).click();
  await visit.page.getByRole("button", { name: "New row" }).waitFor();
}

/** An error without a text for people says what was asked, and what came. */
async function refused(visit) {
  visit.expect(500, "/api/tables/posts");
  const undo = await instead(visit, "/api/tables/posts", (route) => route.fulfill({ status: 500, contentType: "application/json", body: '{"error": {}}' }));
  await visit.open("console/entry/posts");
  await visit.see(".note", "The server answered with the status 500 and no reason");
  await visit.see(".note", "/api/tables/posts?limit=50");
  assert.ok(!(await visit.page.locator("main").innerText()).includes("[object"));
  await undo();
  await visit.page.getByRole("button", { name: "Try again" }).click();
  await visit.seeCell(0, 3, "Blog started");
}

/** A count that is missing is no zero. */
async function uncounted(visit) {
  const undo = await instead(visit, "/api/tables/orders", (route) => (route.request().url().includes("count=true") ? json("[]")(route) : route.continue()));
  await visit.open("console/entry/orders");
  await visit.seeCell(0, 0, "1");
  await visit.see(".pager", "They could not be counted");
  assert.equal((await visit.page.locator(".pager [role=status]").innerText()).trim(), "1–50");
  assert.ok(await visit.page.getByRole("button", { name: "Next page" }).isEnabled());
  await undo();
  await visit.page.getByRole("button", { name: "Count again" }).click();
  await visit.see(".pager [role=status]", "1–50 of 240");
}

/** The catalog is read once, also for what is not there. */
async function unknown(visit) {
  const paths = await asked(visit, async () => {
    await visit.open("console/entry/nothing");
    await visit.see("h1", "There is no nothing");
    await visit.see(".sidebar a", "words/count");
  });
  assert.equal(paths.filter((path) => path === "/").length, 1, paths.join("\n"));
}
