import { expect, test, vi } from "vitest";
import { type Catalog, catalog } from "../catalog";
import { noteTold } from "../session/caller";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("sessionStorage", { getItem: () => null });
const { askableKnown, mayUseSql, watchAskable } = await import("./askable");

test("plans are offered to who may use SQL", async () => {
  let tables: string[] = [];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(tables.map((table_name) => ({ table_name })))));
  const show = async (...names: string[]) => {
    askableKnown.value = false;
    catalog.value = { entries: new Map(names.map((name) => [name, { name, state: "ready" }])) } as unknown as Catalog;
    await vi.waitFor(() => expect(askableKnown.value).toBe(true));
  };
  expect(mayUseSql.value).toBe(true);
  catalog.value = { entries: new Map() } as unknown as Catalog;
  watchAskable();
  await vi.waitFor(() => expect(askableKnown.value).toBe(true));
  // A server without entries has statements all the same.
  expect(mayUseSql.value).toBe(true);
  await show("people");
  expect(mayUseSql.value).toBe(false);
  tables = ["people"];
  await show("people", "orders");
  expect(mayUseSql.value).toBe(true);
  tables = [];
  await show("others");
  expect(mayUseSql.value).toBe(false);
  catalog.value = { entries: new Map() } as unknown as Catalog;
  noteTold({ auth: ["basic"], caller: "basic:ann" });
  expect(mayUseSql.value).toBe(false);
});
