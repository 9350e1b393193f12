import { expect, test, vi } from "vitest";
import type { Entry } from "../catalog";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { chartRequest } = await import("./chart_request");
const { readView } = await import("./view_state");

const entry = { name: "t", columns: [{ name: "a,b", type: "Utf8" }, { name: "a.b", type: "Int64" }] } as Entry;

test("columns of any name are drawn", () => {
  const settings = { kind: "bar", x: "a,b", y: "a.b", aggregate: "sum", unit: "", series: "" } as never;
  const query = new Map(chartRequest(entry, readView(new URLSearchParams(), entry), settings)?.request.query);
  expect([query.get("group"), query.get("columns")]).toEqual(['"a,b"', '"a,b","value:sum(a.b)"']);
});
