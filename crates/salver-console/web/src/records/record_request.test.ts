import { expect, test, vi } from "vitest";
import type { Entry } from "../catalog";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { recordRequest } = await import("./record_request");

const entry = { name: "t", columns: [{ name: "k", type: "Utf8" }, { name: "n", type: "Int64" }, { name: "b", type: "Binary" }] } as Entry;
const request = (keyColumns: string[], key: string[], method = "DELETE") => recordRequest({ table: "t", entry, keyColumns, key }, method);

test("a key stands in the path", () => {
  expect(request(["k"], ["a/b"])).toEqual({ method: "DELETE", path: "api/records/t/a%2Fb" });
  expect(request(["k", "n"], ["a", "1"]).path).toBe("api/records/t/a~1");
});

test("what means something else in a path is a condition", () => {
  for (const key of ["", ".", "..", "a,b", "a~b"]) {
    expect(request(["k"], [key])).toEqual({ method: "DELETE", path: "api/records/t", query: [["filter", `k,eq,${key}`], ["max_affected", "1"]] });
  }
  expect(request(["k", "n"], ["..", "1"], "GET").query).toEqual([["filter", "k,eq,.."], ["filter", "n,eq,1"], ["strict", "1"]]);
});

test("bytes of a key are base64", () => {
  expect(request(["b"], ["41"]).path).toBe("api/records/t/QQ%3D%3D");
  expect(request(["b", "n"], ["ffffff", "1"]).path).toBe("api/records/t/%2F%2F%2F%2F~1");
  expect(request(["b"], [""]).query).toEqual([["filter", "b,eq,"], ["max_affected", "1"]]);
});
