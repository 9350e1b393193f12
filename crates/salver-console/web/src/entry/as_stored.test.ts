import { expect, test, vi } from "vitest";
import type { Entry } from "../catalog";
import { buildFilter } from "./filters";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("location", new URL("http://server/"));
vi.stubGlobal("sessionStorage", { getItem: () => null });

const columns = [{ name: "id", type: "Int64" }, { name: "n", type: "Int64" }, { name: "b", type: "Binary" }, { name: "a,b", type: "Utf8" }];
const entry = { name: "app.dirty", kind: "table", source: "table of the database app", columns } as Entry;
const UNREADABLE = { code: 400, error: "query_execution", message: '`n` has a value that is no Int64: Text("")', hint: "mend the row, or read the table through /api/records, which takes values as they are" };
let refusal: object = UNREADABLE;
const asked: string[] = [];
vi.stubGlobal("fetch", async (url: string) => {
  asked.push(decodeURIComponent(url.replace("http://server/", "")));
  if (url.includes("/api/tables/")) return Response.json(refusal, { status: 400 });
  return new Response('{"records":[{"id":1,"n":"","b":"AP8="},{"id":2,"n":9007199254740993,"b":null}],"results":2}', { headers: { "content-type": "application/json" } });
});
const { catalog } = await import("../catalog");
const { countStored, fetchShownPage, storedRequest } = await import("./as_stored");
const { readView, rowsRequest, writeSort } = await import("./view_state");
const { ApiError } = await import("../api");
const view = (query = "") => readView(new URLSearchParams(query), entry);
const signal = new AbortController().signal;

catalog.value = { entries: new Map(), functions: [], queries: [], editsQueries: false, tables: new Map([["dirty", []]]), streams: new Set(), awaited: new Set(), faults: new Map() };

test("rows with a value that is none of its column's type are read as they are", async () => {
  const page = await fetchShownPage(entry, view(), rowsRequest(entry, view()), [], signal);
  expect(page.unreadable?.message).toContain("no Int64");
  expect(page.columns).toEqual(["id", "n", "b"]);
  expect(page.rows.map((row) => row.map(String))).toEqual([["1", "", "00ff"], ["2", "9007199254740993", "null"]]);
  expect(asked.at(-1)).toBe("api/records/dirty?page=1,50&strict=1");
  expect(await countStored(entry, view(), page.unreadable, signal)).toBe(2);
});

test("other errors stay what they are", async () => {
  refusal = { ...UNREADABLE, error: "rest_query", hint: null };
  await expect(fetchShownPage(entry, view(), rowsRequest(entry, view()), [], signal)).rejects.toThrow("no Int64");
  await expect(countStored(entry, view(), new ApiError(400, "rest_query", "no", null, null), signal)).rejects.toThrow("no");
});

test("a view is said in the grammar of records", () => {
  const filters = [buildFilter(columns[1]!, "eq", "5"), buildFilter(columns[1]!, "ne", "6"), buildFilter(columns[1]!, "null", ""), buildFilter(columns[1]!, "in", "1,2"), buildFilter({ name: "n", type: "Utf8" }, "contains", "5%,x")];
  const state = { ...view("columns=n&page=3&limit=25&sort=-n,id"), filters };
  expect(storedRequest("dirty", entry, state, ["id"])?.query).toEqual([
    ["include", "n,id"],
    ["filter", "n,eq,5"],
    ["filter", "n,neq,6"],
    ["filter", "n,is"],
    ["filter", "n,in,1,2"],
    ["filter", "n,cs,5%,x"],
    ["order", "n,desc"],
    ["order", "id,asc"],
    ["page", "3,25"],
    ["strict", "1"],
  ]);
  expect(writeSort(state.sort)).toBe("-n,id");
  for (const filter of [buildFilter(columns[3]!, "eq", "x"), { column: "n", operator: "between", value: "1,2" }, buildFilter({ name: "n", type: "Utf8" }, "in", "'a,b'")]) {
    const isSaid = storedRequest("dirty", entry, { ...view(), filters: [filter] }, []) !== null;
    expect(isSaid).toBe(filter.operator === "in" && !filter.value.includes("'a,b'"));
  }
});
