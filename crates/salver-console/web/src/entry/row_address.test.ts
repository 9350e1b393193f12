import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://server/base/" });
vi.stubGlobal("location", new URL("http://server/base/"));
const { rowKeyOf, rowUrl } = await import("./row_address");

/** The key that a browser finds at the address. */
function arrives(key: string[]): string[] {
  const url = new URL(rowUrl("t", key), "http://server/");
  const parts = url.pathname.replace(/^\/base\/|\/+$/g, "").split("/").map(decodeURIComponent);
  expect(parts.slice(0, 3)).toEqual(["console", "entry", "t"]);
  expect(parts[3]).toBe("row");
  return rowKeyOf(parts.slice(4), url.searchParams);
}

test("every key has an address", () => {
  for (const value of ["1", "", ".", "..", "...", " ", "a/b", "a,b", "a~b", "%2e", "%2E%2e", "a?b#c", "ü", "+", "&key=x"]) {
    expect(arrives([value])).toEqual([value]);
    expect(arrives([value, "1"])).toEqual([value, "1"]);
    expect(arrives(["1", value])).toEqual(["1", value]);
  }
});

test("a key that fits into the path stands there", () => {
  expect(rowUrl("t", ["a", "1"])).toBe("/base/console/entry/t/row/a/1");
});
