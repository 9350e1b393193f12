import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

type Answer = (response: ServerResponse) => void;

const answers = new Map<string, Answer>();
const asked: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://server").pathname;
    asked.push(path);
    const answer = answers.get(path);
    if (answer) answer(response);
    else response.writeHead(404, { "Content-Type": "application/json" }).end('{"error":"not_found","message":"nothing here"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  vi.stubGlobal("document", { baseURI: base, cookie: "" });
  vi.stubGlobal("location", new URL(base));
  vi.stubGlobal("sessionStorage", { getItem: () => null });
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const json = (text: string, status = 200): Answer => (response) => response.writeHead(status, { "Content-Type": "application/json" }).end(text);

const INDEX = { entries: { orders: { state: "ready", kind: "table", columns: [{ name: "id", type: "Int64" }] } }, doors: { functions: "/api/functions" } };
const FILE = { name: "maths", language: "R", title: null, description: null, endpoints: [{ function: "fib", parameters: [] }] };

beforeEach(() => {
  asked.length = 0;
  answers.clear();
  answers.set("/", json(JSON.stringify(INDEX)));
  answers.set("/api/functions", json(JSON.stringify([FILE])));
  answers.set("/api/queries", json("[]"));
  answers.set("/api/columns", json('{"tables":[{"name":"orders","columns":[{"name":"id","type":"integer","pk":true}]}]}'));
  answers.set("/api/streams", json('{"streams":[{"name":"clicks"}]}'));
});

test("entries are there before the parts beside them, and those as they come", async () => {
  const { catalog, loadCatalog } = await import("./catalog");
  let answer = () => {};
  const late = new Promise<void>((resolve) => answers.set("/api/columns", (response) => ((answer = () => json('{"tables":[]}')(response)), resolve())));
  const loaded = loadCatalog();
  await late;
  await vi.waitFor(() => expect([...(catalog.value?.awaited ?? [])]).toEqual(["columns"]));
  expect(catalog.value?.entries.get("orders")?.columns).toHaveLength(1);
  expect(catalog.value?.functions[0]?.endpoints[0]?.function).toBe("fib");
  answer();
  await loaded;
  expect(catalog.value?.awaited.size).toBe(0);
  expect(catalog.value?.faults.size).toBe(0);
});

test("what is wrong with a part is told, and the others stay", async () => {
  const { catalog, catalogError, loadCatalog } = await import("./catalog");
  const paths = { functions: "/api/functions", queries: "/api/queries", columns: "/api/columns", streams: "/api/streams" } as const;
  for (const [part, path] of Object.entries(paths)) {
    for (const wrong of [json("null"), json("{}"), json("<html>"), json('{"error":{}}', 500)]) {
      const right = answers.get(path) as Answer;
      answers.set(path, wrong);
      await loadCatalog();
      expect([...(catalog.value?.faults.keys() ?? [])]).toEqual([part]);
      expect(catalog.value?.faults.get(part as keyof typeof paths)?.asked).toContain(path);
      expect(catalog.value?.entries.has("orders")).toBe(true);
      answers.set(path, right);
    }
  }
  // A caller may have no access to a part, which is no fault.
  answers.delete("/api/streams");
  await loadCatalog();
  expect(catalog.value?.faults.size).toBe(0);
  expect(catalog.value?.streams.size).toBe(0);

  answers.set("/", json('{"entries":{"orders":{"state":"ready"},"other":null}}'));
  await loadCatalog();
  expect([...(catalog.value?.entries.keys() ?? [])]).toEqual(["orders"]);
  expect(catalogError.value?.hint).toContain("It.entries.other is null");
  // A file of functions that can't be loaded has none.
  answers.set("/api/functions", json('[{"name":"broken","language":"R","failure":{"message":"no","hint":null}}]'));
  await loadCatalog();
  expect(catalog.value?.faults.size).toBe(0);
  expect(catalog.value?.functions[0]?.endpoints).toEqual([]);
});

test("functions are asked for where there are some", async () => {
  const { catalog, loadCatalog } = await import("./catalog");
  answers.set("/", json(JSON.stringify({ ...INDEX, doors: {} })));
  await loadCatalog();
  expect(asked).not.toContain("/api/functions");
  expect(catalog.value?.functions).toEqual([]);
  expect(catalog.value?.awaited.size).toBe(0);
});

test("rows are a list of objects, and a count is a number", async () => {
  const { ApiError, fetchCount, fetchPage } = await import("./api");
  for (const wrong of ["null", "{}", "[1]", "[null]", '"text"', "<html>"]) {
    answers.set("/api/tables/orders", json(wrong));
    const failed = await fetchPage({ path: "api/tables/orders" }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApiError);
    expect((failed as Error).message).toBe("The server's answer at /api/tables/orders is not what the console expects.");
  }
  answers.set("/api/tables/orders", json("[]"));
  expect((await fetchPage({ path: "api/tables/orders" })).rows).toEqual([]);
  await expect(fetchCount({ path: "api/tables/orders" })).rejects.toThrow("not what the console expects");
  answers.set("/api/tables/orders", (response) => response.writeHead(200, { "X-Total-Count": "0" }).end("[]"));
  expect(await fetchCount({ path: "api/tables/orders" })).toBe(0);
});

test("an error says what was asked, what came, and what to do", async () => {
  const { ApiError, fetchPage } = await import("./api");
  const failure = async () => (await fetchPage({ path: "api/tables/orders", query: [["limit", "5"]] }).catch((error: unknown) => error)) as InstanceType<typeof ApiError>;
  for (const body of ['{"error":{"a":1}}', "null", "[]", ""]) {
    answers.set("/api/tables/orders", json(body, 500));
    const error = await failure();
    expect([error.status, error.word, error.message]).toEqual([500, "error", "The server answered with the status 500 and no reason."]);
    expect(error.hint).toContain("Try again");
    expect(error.asked).toMatch(/^GET http.*\/api\/tables\/orders\?limit=5$/);
  }
  answers.set("/api/tables/orders", (response) => response.destroy());
  expect((await failure()).word).toBe("unreachable");
  answers.set("/api/tables/orders", (response) => response.writeHead(200, { "Content-Length": "100" }).write("[{", () => response.destroy()));
  expect((await failure()).word).toBe("broken_off");
});
