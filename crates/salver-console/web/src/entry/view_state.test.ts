import { expect, test, vi } from "vitest";
import type { Entry } from "../catalog";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { readView, writeSort } = await import("./view_state");

test("an order by any name is the same after a link, with its sign before the quotes", () => {
  const entry = { name: "t", columns: [{ name: "a", type: "Utf8" }] } as Entry;
  for (const [column, written] of [["a", "a"], ["a,b", '"a,b"'], ['dq"x', '"dq""x"'], ["a:b", '"a:b"'], ["-neg", '"-neg"'], ["+plus", '"+plus"'], ["do.t", "do.t"]] as const) {
    for (const descending of [false, true]) {
      const text = writeSort([{ column, descending }, { column: "z", descending: true }]);
      expect(text).toBe(`${descending ? "-" : ""}${written},-z`);
      expect(readView(new URLSearchParams({ sort: text ?? "" }), entry).sort).toEqual([{ column, descending }, { column: "z", descending: true }]);
    }
  }
  // A name that ends as the place of nulls does.
  expect(writeSort([{ column: "c.nullslast", descending: false }])).toBe('"c.nullslast"');
});
