import { afterEach, expect, test, vi } from "vitest";
import type { Result } from "./run";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("sessionStorage", { getItem: () => null });
const { doubtfulPlaces, parseCsv, readSpecialValues } = await import("./special_values");

const result: Result = {
  columns: [{ name: "t", type: "Utf8" }, { name: "f", type: "Float64" }, { name: "n", type: "Int64" }],
  rows: [["a,\n\"b\"", null, null], ["", 1.5, 2], [null, null, 3]],
  more: false,
  ms: 1,
};
const asked: string[] = [];
let csv = 't,f,n\n"a,\n""b""",NaN,\n"",1.5,2\n,,3\n';
vi.stubGlobal("fetch", async (url: string, { method }: { method: string }) => {
  asked.push(`${method} ${url}`);
  return new Response(csv);
});
const read = (changes: Partial<Result> = {}) => readSpecialValues({ sql: "select 1", params: undefined }, { ...result, ...changes }, new AbortController().signal);

afterEach(() => void asked.splice(0));

test("a CSV is read with its quotes", () => {
  expect(parseCsv('a,"b,\n""c"""\n,""\n')).toEqual([["a", 'b,\n"c"'], ["", ""]]);
  expect(parseCsv("a\nb\nc\n", 2)).toEqual([["a"], ["b"]]);
  expect(parseCsv('a,b\n1,"not whole')).toEqual([["a", "b"]]);
});

test("NaN among floats is told from NULL, by a request that changes nothing", async () => {
  expect(doubtfulPlaces(result)).toEqual([1]);
  expect(await read()).toEqual([["a,\n\"b\"", NaN, null], ["", 1.5, 2], [null, null, 3]]);
  expect(asked).toEqual(["GET http://server/api/sql?q=select+1&format=csv"]);
});

test("nobody is asked where nothing is in doubt, nor a second time for what takes long", async () => {
  expect(await read({ rows: [["a", 1, null]] })).toBeNull();
  expect(await read({ ms: 60_000 })).toBeNull();
  expect(asked).toEqual([]);
});

test("other rows are not taken for these", async () => {
  csv = "t,f,n\nx,NaN,\ny,2.5,2\nz,,3\n";
  expect(await read()).toBeNull();
});
