import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("sessionStorage", { getItem: () => null });

/** An answer whose rows come in these parts. */
function answer(...parts: string[]): void {
  const bytes = parts.map((part) => new TextEncoder().encode(part));
  vi.stubGlobal("fetch", async () => new Response(new ReadableStream({ pull: (own) => { const next = bytes.shift(); if (next) own.enqueue(next); else own.close(); } }, { highWaterMark: 0 })));
}

async function read(limit = 1000) {
  const { runStatement } = await import("./run");
  const { rows, more } = await runStatement({ sql: "", params: undefined, named: { name: "q", query: [], columns: [] } }, { method: "GET", limit, signal: new AbortController().signal });
  return [rows.length, more];
}

const LONG = `{"a":"${"x".repeat(2_000_000)}"}\n`;

test("there are more rows only where there are", async () => {
  answer(LONG);
  expect(await read()).toEqual([1, false]);
  answer(LONG, LONG);
  expect(await read()).toEqual([1, true]);
  answer('{"a":1}\n', '{"a":2}\n');
  expect(await read(2)).toEqual([2, false]);
  answer('{"a":1}\n', '{"a":2}\n');
  expect(await read(1)).toEqual([1, true]);
});
