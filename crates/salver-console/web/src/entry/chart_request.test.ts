import { expect, test, vi } from "vitest";
import type { Entry } from "../catalog";
import type { ChartSettings } from "../chart/settings";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { defaultSettings, misfit } = await import("../chart/settings");
const { chartRequest } = await import("./chart_request");
const { readView } = await import("./view_state");

const entry = { name: "t", columns: [{ name: "a,b", type: "Utf8" }, { name: "a.b", type: "Int64" }] } as Entry;

test("columns of any name are drawn", () => {
  const settings = { kind: "bar", x: "a,b", y: "a.b", aggregate: "sum", unit: "", series: "" } as never;
  const query = new Map(chartRequest(entry, readView(new URLSearchParams(), entry), settings)?.request.query);
  expect([query.get("group"), query.get("columns")]).toEqual(['"a,b"', '"a,b","value:sum(a.b)","rows:count()","filled:count(a.b)"']);
});

test("what a column's type can't be drawn as is not asked for, and no chart begins with it", () => {
  const types = ["List(Int64)", 'Struct("a": Int64)', 'Map("entries")', "Interval(MonthDayNano)", "Duration(ms)", "Null", "Time64(µs)", "Boolean", "Binary", "Decimal128(10, 2)", "Utf8", "Date32"];
  for (const type of types) {
    const one = { name: "t", columns: [{ name: "c", type }] } as Entry;
    const chosen = defaultSettings(one.columns);
    const fits = misfit(one.columns, chosen) === null;
    expect([type, fits]).toEqual([type, /^(Time|Bool|Bin|Dec|Utf|Date|Duration)/.test(type)]);
    if (!fits) expect(chosen.x).toBe("");
    // A link may say anything.
    for (const [kind, aggregate] of [["bar", "count"], ["line", "count"], ["bar", "sum"], ["histogram", "none"]]) {
      const linked = { kind, x: "c", y: "c", aggregate, unit: "" } as ChartSettings;
      const why = misfit(one.columns, linked);
      expect(chartRequest(one, readView(new URLSearchParams(), one), linked) === null).toBe(why !== null);
      if (/^(List|Struct|Map|Interval|Null)/.test(type)) expect(why).not.toBe(null);
    }
  }
});
