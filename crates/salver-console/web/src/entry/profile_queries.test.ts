import { expect, test } from "vitest";
import type { Column, Entry } from "../catalog";
import { type Profile, type Span, histogramRequest, histogramsRequest, profileRequest, spanOf, topRequest } from "./profile_queries";
import { specialNumber } from "../special_number";
import type { ViewState } from "./view_state";

const columns: Column[] = [
  { name: "id", type: "Int64" },
  { name: "a b", type: "Float64" },
  { name: "at", type: "Timestamp(us)" },
  { name: "word", type: "Utf8" },
];
const entry = { name: "t", state: "ready", kind: "dataset", rows: 5_000_000, source: "", columns } as Entry;
const state = { groups: [], filters: [] } as unknown as ViewState;
const profile = (figures: Partial<Profile>): Profile => ({ rows: 10, filled: 10, distinct: null, estimated: true, least: null, most: null, mean: null, ...figures });
const span = (column: number, figures: Partial<Profile>) => spanOf(columns[column] as Column, profile(figures));

test("columns share a scan", () => {
  expect(profileRequest(entry, state, columns.slice(0, 2))?.sql).toBe(
    'select count(*) as n_rows, count("id") as filled_0, approx_distinct("id") as distinct_0, min("id") as least_0, max("id") as most_0, avg("id") as mean_0, ' +
      'count("a b") as filled_1, min("a b") as least_1, max("a b") as most_1, avg("a b") as mean_1, ' +
      'min("a b")::text as min_told_1, max("a b")::text as max_told_1, avg("a b")::text as avg_told_1 from "t"',
  );
});

test("distributions between known bounds share a scan", () => {
  const spans = [span(0, { least: -5, most: 19 }), span(1, { least: 0, most: 1.5 }), span(2, { least: "1970-01-01T00:00:01", most: "1970-01-01T00:00:25" })];
  expect(histogramsRequest(entry, state, spans as Span[], 24)?.sql).toBe(
    'select histogram("id"::bigint, -5, 19, 24) as bars_0, histogram("a b"::double, 0, 1.5, 24) as bars_1, histogram("at"::bigint, 1000000, 25000000, 24) as bars_2 from "t"',
  );
});

test("the largest floats are counted in parts, and no finite one is left out", () => {
  const far = span(1, { least: -1e308, most: 1e308 });
  expect([far?.value, far?.low, far?.high]).toEqual(['"a b"::double / 4', -2.5e307, 2.5e307]);
  const sql = histogramRequest(entry, state, columns[1] as Column, 40)?.sql ?? "";
  expect(sql).toContain("abs(x) <= 1.7976931348623157e+308");
  expect(sql).toContain("histogram(v.x / r.s, r.lo / r.s, r.hi / r.s, 40)");
  expect(histogramRequest(entry, state, columns[0] as Column, 40)?.sql).toContain("histogram(v.x, r.lo, r.hi, 40)");
});

test("bounds that are no numbers, or one, are looked for", () => {
  for (const figures of [{}, { least: 3, most: 3 }, { least: "NaN", most: "NaN" }]) expect(span(1, figures)).toBeNull();
  expect(histogramRequest(entry, state, columns[1] as Column, 24)?.sql).toContain("min(x) as lo");
});

test("of many texts, the most frequent are counted among the first rows", () => {
  const top = (figures: Partial<Profile>) => topRequest(entry, state, columns[3] as Column, profile(figures))?.sql;
  expect(top({ filled: 5_000_000, distinct: 60_000 })).toContain('from (select "word" from "t" where "word" is not null limit 1000000) group by 1');
  expect(top({ filled: 5_000_000, rows: 5_000_000, distinct: 60_000 })).toContain('from (select "word" from "t" limit 1000000) group by 1');
  expect(top({ filled: 5_000_000, distinct: 12 })).not.toContain("limit 1000000");
});

test("a float that is no number is told by its text", () => {
  expect(topRequest(entry, state, columns[1] as Column, profile({}))?.sql).toContain('"a b"::text as told');
  expect(topRequest(entry, state, columns[0] as Column, profile({}))?.sql).not.toContain("told");
  expect(["NaN", "inf", "-Infinity", "1.5", "", null].map(specialNumber)).toEqual([NaN, Infinity, -Infinity, null, null, null]);
});
