import { expect, test } from "vitest";
import { buildFilter, comparisonsOf, describeFilter, hasFacets, readFilters, sqlWhere, writeFilter } from "./filters";

const text = { name: 'a "b", c', type: "Utf8" };
const number = { name: "n", type: "Decimal128(10, 2)" };
const time = { name: "t", type: 'Timestamp(ms, "UTC")' };
const columns = [text, number, time];

test("a condition is the same after a link", () => {
  for (const value of ["plain", "", "null", "NULL", "'quoted'", "it's", " spaced ", "50%", "a,b", "[x]="]) {
    for (const comparison of ["eq", "ne", "contains", "starts"]) {
      const filter = buildFilter(text, comparison, value);
      const query = new URLSearchParams([writeFilter(filter)]);
      expect(readFilters(new URLSearchParams(query.toString()))).toEqual([filter]);
      expect(describeFilter(filter)).toMatchObject({ comparison, text: value });
    }
  }
});

test("texts that mean something else are quoted", () => {
  expect(writeFilter(buildFilter(text, "eq", "null"))).toEqual(['filter[a "b", c]', "'null'"]);
  expect(writeFilter(buildFilter(text, "eq", ""))).toEqual(['filter[a "b", c]', "''"]);
  expect(writeFilter(buildFilter(number, "gt", "1.5"))).toEqual(["filter[n]gt", "1.5"]);
});

test("conditions are said in SQL", () => {
  const where = (...filters: ReturnType<typeof buildFilter>[]) => sqlWhere(filters, columns);
  expect(where()).toBe("");
  expect(where(buildFilter(text, "eq", "it's"), buildFilter(number, "lte", "-3"))).toBe(` where "a ""b"", c" = 'it''s' and "n" <= -3`);
  expect(where(buildFilter(text, "contains", "5%"))).toBe(String.raw` where "a ""b"", c" ilike '%5\%%'`);
  expect(where(buildFilter(text, "in", "x, y"))).toBe(` where "a ""b"", c" in ('x', 'y')`);
  expect(where(buildFilter(time, "gte", "2024-01-01"))).toBe(` where "t" >= '2024-01-01'`);
  expect(where(buildFilter(text, "not_null", ""))).toBe(` where "a ""b"", c" is not null`);
  expect(where({ column: "n", operator: "between", value: "1,2" })).toBeNull();
});

test("a number in SQL is one, or a text", () => {
  expect(sqlWhere([buildFilter(number, "eq", "1 or 1=1")], columns)).toBe(` where "n" = '1 or 1=1'`);
});

test("bytes in SQL are bytes", () => {
  const bytes = { name: "b", type: "Binary" };
  expect(sqlWhere([buildFilter(bytes, "eq", "00ff")], [bytes])).toBe(` where "b" = x'00ff'`);
  expect(sqlWhere([buildFilter(bytes, "eq", "")], [bytes])).toBe(` where "b" = x''`);
});

test("what is no number stands in quotes in SQL", () => {
  const float = { name: "f", type: "Float64" };
  const where = (column: typeof number, value: string, operator = "eq") => sqlWhere([buildFilter(column, operator, value)], [column]);
  expect(where(float, "NaN")).toBe(` where "f" = 'NaN'::float8`);
  expect(where(float, "-Infinity", "gt")).toBe(` where "f" > '-Infinity'::float8`);
  expect(where(number, "abc")).toBe(` where "n" = 'abc'`);
  expect(where(number, "NaN")).toBe(` where "n" = 'NaN'`);
  expect(where(float, "1e-3")).toBe(` where "f" = 1e-3`);
  expect(where(float, "1, NaN", "in")).toBe(` where "f" in (1, 'NaN'::float8)`);
  expect(where({ name: "b", type: "Boolean" }, "true")).toBe(` where "b" = true`);
});

test("there are no facets, and no conditions on values, that the API does not take", () => {
  const facets = (type: string) => hasFacets({ name: "c", type });
  for (const type of ["Utf8", "Boolean", "Int64", "Float32", "Date32", "Time64(µs)", 'Timestamp(ms, "UTC")', "Dictionary(Int32, Utf8)"]) expect(facets(type)).toBe(true);
  for (const type of ["Duration(ms)", "Interval(MonthDayNano)", "Null", "Binary", "List(Int64)", 'Struct("a": Int64)']) expect(facets(type)).toBe(false);
  expect(comparisonsOf("other").map(({ id }) => id)).toEqual(["null", "not_null"]);
  // Bytes are compared in hexadecimal.
  expect(comparisonsOf("binary").map(({ id }) => id)).toEqual(["eq", "ne", "null", "not_null"]);
});
