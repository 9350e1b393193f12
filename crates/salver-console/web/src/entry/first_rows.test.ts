import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Entry } from "../catalog";

const asked: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("Content-Type", "application/json");
    response.end('[{"id": 1}]');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  vi.stubGlobal("document", { baseURI: base, cookie: "" });
  vi.stubGlobal("location", new URL("console/entry/orders", base));
  vi.stubGlobal("sessionStorage", { getItem: () => null });
});

afterAll(() => server.close());

const entries = (name: string, columns: number) => {
  const all = Array.from({ length: columns }, (_, at) => ({ name: `c${at}`, type: "int64" }));
  return new Map<string, Entry>([[name, { name, state: "ready", kind: "dataset", rows: null, source: "", columns: all }]]);
};

test("the first rows of the page's entry are asked for once, and only if it is known", async () => {
  const { fetchFirstRows } = await import("./first_rows");
  const { PAGE_SIZE } = await import("./view_state");
  const { fetchPage } = await import("../api");
  for (const other of [entries("others", 2), entries("orders", 0)]) expect(fetchFirstRows(other)).toBeUndefined();
  expect(asked).toEqual([]);

  await fetchFirstRows(entries("orders", 2));
  const request = { path: "api/tables/orders", query: [["limit", String(PAGE_SIZE)]] as [string, string][] };
  expect((await fetchPage(request)).columns).toEqual(["id"]);
  expect(asked).toEqual([`/api/tables/orders?limit=${PAGE_SIZE}`]);
  // What is read again comes from the server.
  await fetchPage(request);
  expect(asked).toHaveLength(2);
});

test("they are those of the screen, also for an address with a query and for many columns", async () => {
  const { fetchFirstRows } = await import("./first_rows");
  const { FIRST_COLUMNS, readView, rowsRequest } = await import("./view_state");
  const { fetchPage } = await import("../api");
  const { place } = await import("../router");
  for (const [text, columns] of [["sort=-c1&page=3&limit=25&filter[c0]gt=5&facets=c1", 2], ["columns=c1,c0", 2], ["", FIRST_COLUMNS + 1]] as const) {
    const query = new URLSearchParams(text);
    place.value = { ...place.value, query };
    const all = entries("orders", columns);
    const before = asked.length;
    await fetchFirstRows(all);
    const [entry] = all.values();
    await fetchPage(rowsRequest(entry as Entry, readView(query, entry as Entry)));
    expect(asked.slice(before)).toHaveLength(1);
    for (const [name, value] of query) if (name !== "facets") expect(decodeURIComponent(asked.at(-1) ?? "")).toContain(`${name}=${value}`);
  }
  place.value = { ...place.value, query: new URLSearchParams("tab=chart") };
  expect(fetchFirstRows(entries("orders", 2))).toBeUndefined();
});
