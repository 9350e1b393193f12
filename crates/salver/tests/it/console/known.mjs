// A server where callers may be known and need not be: who is not finds the way to log in wherever something may be
// missing, and a named query is run by its name, with its own rights and parameters.

import assert from "node:assert/strict";
import { Visit } from "./visit.mjs";

const NAME = "ann";
const PASSWORD = "a-password-of-this-walk";

export async function known(browser, base, directory) {
  const visit = await Visit.begin(browser, base, directory);
  // There is no provider, which is asked for.
  visit.expect(404, "/auth/login");
  visit.expect(400, "/api/sql");
  visit.expect(403, "/metrics");
  await unknown(visit);
  await logIn(visit);
  await lacking(visit);
  await ownersQuery(visit);
  await parameters(visit);
  await visit.end();
}

/** Every page offers the log-in, and what is not there says that it may show more. */
async function unknown(visit) {
  const { page } = visit;
  await visit.open("");
  await visit.see("header button", "Log in");
  await visit.see("main .note", "There is nothing here for callers who have not logged in");
  await visit.look("known_nothing");
  for (const path of ["console/entry/people", "console/entry/people/row/1", "console/exports", "console/graphql", "console/sql?query=total"]) {
    await visit.open(path);
    await visit.see("main", "A log-in may show more");
    await visit.see("header button", "Log in");
    assert.equal(await page.locator("main").getByText("A log-in may show more").count(), 1, path);
  }
  await visit.open("console/sql?q=select+*+from+people");
  await visit.see(".note.error button", "Log in");
  visit.check("unknown");
  assert.equal(await page.locator("[data-cell]").count(), 0);
}

/** Who has logged in is told what right is missing, and is not offered what it takes. */
async function lacking(visit) {
  const { page } = visit;
  await visit.open("console/operations");
  await visit.see("main .note", `You are logged in as ${NAME}, without the right to this`);
  assert.equal(await page.locator("main").getByRole("button", { name: "Log in…" }).count(), 0);
  await visit.look("known_lacking");
  await visit.open("console/sql?query=nothing");
  await visit.see("main .note", "There is no query");
  await page.getByRole("button", { name: "Analyze" }).waitFor({ state: "detached" });
  assert.equal(await page.getByRole("button", { name: "Explain" }).count(), 0);
  // What may be read and not asked in SQL is said once, and not offered.
  await visit.open("console/entry/people?tab=columns");
  await visit.see("main .note", "You may not ask people in SQL");
  assert.equal(await page.locator("main .note").count(), 1);
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  await page.getByRole("link", { name: "Query in SQL" }).waitFor({ state: "detached" });
  await visit.open("console/sql?query=called");
  await page.locator(".request-panel summary").click();
  await visit.see(".request-panel .code", "name=YOUR_NAME");
  visit.check("lacking");
}

/** Names and passwords of the settings are for the dialog, and not for the browser's own question. */
async function logIn(visit) {
  const { page } = visit;
  await page.locator("header").getByRole("button", { name: "Log in" }).click();
  await page.locator("dialog [name=username]").fill(NAME);
  await page.locator("dialog [name=password]").fill(PASSWORD);
  await visit.look("known_login");
  await page.locator("dialog button.primary").click();
  await visit.see(".who", NAME);
  visit.check("log in");
}

/** The query of an owner has the rows of its owner, for who may not even use SQL. */
async function ownersQuery(visit) {
  const { page } = visit;
  await visit.open("console/sql?query=total");
  await visit.seeCell(0, 1, "90");
  await visit.see(".request-line", "/api/queries/total");
  await page.locator(".request-panel summary").click();
  assert.ok(!(await page.locator(".request-panel .code").innerText()).includes("X-Requested-With"));
  await page.locator(".request-panel").getByRole("button", { name: "curl" }).click();
  await visit.see(".request-panel .code", `-u '${NAME}:PASSWORD'`);
  assert.ok(!(await page.locator("main").innerText()).includes(PASSWORD));
  await visit.look("known_query");
  // The text alone is a statement of the caller's own.
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(" limit 1");
  await visit.see("main", "it is run as SQL, with your rights");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await visit.see(".note.error", "people");
  await page.goBack();
  await visit.seeCell(0, 1, "90");
  visit.check("the query of an owner");
}

/** Parameters are asked for as they are declared: by their types, and those that may be left out may be left empty. */
async function parameters(visit) {
  const { page } = visit;
  await visit.open("console/sql?query=called");
  await visit.see(".sql-parameters", "text: how they are called");
  await visit.see(".sql-parameters", "integer, optional");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await visit.see(".field-error", "$name has no value");
  await visit.look("known_parameters");
  // What looks like a number is the text that it is declared to be.
  await page.locator(".sql-parameters textarea, .sql-parameters input").first().fill("42");
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname.endsWith("/api/queries/called"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  assert.equal(new URL((await sent).url()).search, "?name=42");
  await visit.seeCell(0, 0, "3");
  await visit.address("query=called&v.name=42");
  await page.reload();
  await visit.seeCell(0, 0, "3");
  visit.check("parameters");
}
