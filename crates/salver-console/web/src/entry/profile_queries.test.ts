import { expect, test } from "vitest";
import type { Column, Entry } from "../catalog";
import { type Profile, histogramRequest, profileRequest, topRequest } from "./profile_queries";
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
const bar = (column: number, figures: Partial<Profile>) => histogramRequest(entry, state, columns[column] as Column, 24, profile(figures))?.sql;

test("columns share a scan", () => {
  expect(profileRequest(entry, state, columns.slice(0, 2))?.sql).toBe(
    'select count(*) as n_rows, count("id") as filled_0, approx_distinct("id") as distinct_0, min("id") as least_0, max("id") as most_0, avg("id") as mean_0, ' +
      'count("a b") as filled_1, min("a b") as least_1, max("a b") as most_1, avg("a b") as mean_1 from "t"',
  );
});

test("bars between known bounds need one scan", () => {
  expect(bar(0, { least: -5, most: 19 })).toBe('select least(greatest(("id"::bigint - (-5)) * 24 / 24, 0), 23) as bar, -5 as lo, 19 as hi, count(*) as n from "t" group by 1 order by 1');
  expect(bar(1, { least: 0, most: 1.5, filled: 9 })).toBe(
    'select least(greatest(floor(("a b"::double - (0)) * 16), 0), 23)::bigint as bar, 0 as lo, 1.5 as hi, count(*) as n from "t" where "a b" is not null group by 1 order by 1',
  );
  expect(bar(2, { least: "1970-01-01T00:00:01", most: "1970-01-01T00:00:25" })).toContain('("at"::bigint - (1000000)) * 24 / 24000000');
});

test("bounds that are no numbers, or one, are looked for", () => {
  for (const figures of [{}, { least: 3, most: 3 }, { least: "NaN", most: "NaN" }]) expect(bar(1, figures)).toContain("min(x) as lo");
});

test("of many texts, the most frequent are counted among the first rows", () => {
  const top = (figures: Partial<Profile>) => topRequest(entry, state, columns[3] as Column, profile(figures))?.sql;
  expect(top({ filled: 5_000_000, distinct: 60_000 })).toContain('from (select "word" from "t" where "word" is not null limit 1000000) group by 1');
  expect(top({ filled: 5_000_000, distinct: 12 })).not.toContain("limit 1000000");
});
