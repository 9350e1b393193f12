import { expect, test } from "vitest";
import { numberOf } from "../column_type";
import { binsBetween, binsOf } from "./bins";
import { FAR_STEPS, areFar, farMarks } from "./far_times";
import { leftOutTexts } from "./left_out";
import { axisTimes, shortTime } from "./number_format";
import { scalingOf } from "./scaling";
import { seriesOf } from "./series";
import type { ChartSettings } from "./settings";

const settings = (kind: ChartSettings["kind"], x: string, y: string): ChartSettings => ({ kind, x, y, aggregate: "none", unit: "" });

test("times of any year have a place in time", () => {
  for (const text of ["1970-01-01", "2024-02-29T12:30:00.5Z", "0001-01-01", "1999-12-31T23:59:59", "2024-03-31T01:30:00+02:00"]) {
    expect(numberOf(text)).toBe(Date.parse(/T.*[^Z]$/.test(text) && !/\+/.test(text) ? `${text}Z` : text) / 1000);
  }
  expect(numberOf("+10964-01-10T00:00:00")).toBe(Date.parse("+010964-01-10T00:00:00Z") / 1000);
  expect(numberOf("-71100-09-29T04:59:46")).toBe(Date.parse("-071100-09-29T04:59:46Z") / 1000);
  expect(numberOf("+3170843-11-07T09:46:39")).toBe(99_999_999_999_999);
  expect(numberOf("2023-02-29")).toBe(null);
});

test("they are written as the API writes them", () => {
  const written = (text: string) => shortTime(numberOf(text) ?? 0, 1e12);
  for (const text of ["0001-01-01", "9999-12-31", "+10000-01-02", "-0002-12-17", "-71100-09-29"]) expect(written(text)).toBe(text);
  expect(axisTimes([numberOf("0001-01-01") ?? 0, numberOf("+12000-01-01") ?? 0], 1000 * 365 * 86400)).toEqual(["0001", "+12000"]);
});

test("an axis of ten thousand years has marks", () => {
  const [from, to] = [numberOf("0001-01-01") ?? 0, numberOf("9999-12-31") ?? 0];
  expect(areFar(from, to)).toBe(true);
  expect(areFar(numberOf("1950-01-01") ?? 0, numberOf("2030-01-01") ?? 0)).toBe(false);
  expect(farMarks(from, to, 2000 * 365 * 86400).map((at) => shortTime(at, to - from))).toEqual(["2000-01-01", "4000-01-01", "6000-01-01", "8000-01-01"]);
  expect(farMarks(-8.64e12, 8.64e12, (FAR_STEPS.at(-1) ?? 0))).toEqual([numberOf("0000-01-01")]);
});

test("what has no place in a chart is counted apart from what has no value", () => {
  const columns = [{ name: "d", type: "Timestamp(s)" }, { name: "n", type: "Int64" }];
  const rows = [["2024-01-01T00:00:00", 1], ["+3170843-11-07T09:46:39", 2], [null, 3]];
  const { points, left } = seriesOf(columns, rows, settings("line", "d", "n"));
  expect([points.length, left.missing, left.outside?.count]).toEqual([1, 1, 1]);
  const places = [{ name: "lng", type: "Float64" }, { name: "lat", type: "Float64" }];
  const map = seriesOf(places, [[10, 10], [20, 95], [-20, -10], [400, 5], [null, 5]], settings("map", "lng", "lat"));
  expect([map.points.length, map.left.missing, map.left.outside?.count]).toEqual([2, 1, 2]);
  expect(seriesOf(places, [[10, 10]], settings("map", "lng", "lat")).left.outside).toBe(null);
});

test("a map draws the points of geometries", () => {
  const columns = [{ name: "geometry", type: "Utf8" }];
  const rows = ['{"type":"Point","coordinates":[11.5,48.1]}', null, '{"type":"Polygon","coordinates":[]}', '{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}', "no JSON"].map((value) => [value]);
  const { points, left } = seriesOf(columns, rows, settings("map", "geometry", "geometry"));
  expect(points.map(({ x, y }) => [x, y])).toEqual([[11.5, 48.1], [1, 2], [3, 4]]);
  expect(left.missing).toBe(3);
});

const MEASURED = [{ name: "g", type: "Utf8" }, { name: "at", type: "Float64" }, { name: "n", type: "Float64" }];
const ROWS = [["a", 1, 1], ["a", 1, null], ["b", 2, NaN], ["b", 2, 3], ["c", null, 4], ["d", Infinity, 5], ["e", 3, null]];

test("rows are counted, and those that are no numbers apart from those without a value", () => {
  const texts = (kind: ChartSettings["kind"], x: string, aggregate: ChartSettings["aggregate"] = "none") => {
    const chosen = { ...settings(kind, x, "n"), aggregate };
    const series = seriesOf(MEASURED, ROWS, chosen);
    return [series.points.length, ...leftOutTexts(series.left, chosen)];
  };
  expect(texts("scatter", "at")).toEqual([2, "3 rows without a value", "2 rows with NaN or infinity"]);
  expect(texts("line", "at")).toEqual([2, "3 rows without a value", "2 rows with NaN or infinity"]);
  expect(texts("bar", "g")).toEqual([4, "2 rows without a value", "1 row with NaN or infinity"]);
  expect(texts("histogram", "at")).toEqual([5, "1 row without a value", "1 row with NaN or infinity"]);
  // Two rows are in the group that a NaN spoils, and one without a value makes no group.
  expect(texts("bar", "g", "sum")).toEqual([3, "2 rows without a value", "1 group of 2 rows that comes to NaN or infinity"]);
  expect(texts("bar", "g", "min")).toEqual([4, "2 rows without a value"]);
  expect(texts("bar", "g", "max")[0]).toBe(3);
  expect(texts("bar", "g", "count")).toEqual([5]);
  expect(texts("line", "at", "count")).toEqual([3, "1 row without a value", "1 row with NaN or infinity"]);
});

test("of groups that the server made, the rows in them are counted", () => {
  const columns = [{ name: "g", type: "Utf8" }, { name: "value", type: "Float64" }, { name: "rows", type: "Int64" }, { name: "filled", type: "Int64" }];
  const rows = [["a", 1, 10, 7], ["b", NaN, 5, 4], ["c", null, 3, 0], [null, 2, 2, 2]];
  const chosen = settings("bar", "g", "value");
  const { points, left } = seriesOf(columns, rows, chosen, { rows: "rows", filled: "filled" });
  expect([points.length, ...leftOutTexts(left, chosen)]).toEqual([2, "7 rows without a value", "1 group of 4 rows that comes to NaN or infinity"]);
});

test("numbers that a plot can't count with are drawn in powers of ten", () => {
  const large = scalingOf([1e300, -1e300, 0]);
  expect([1e300, -1e300, 0].map(large.drawn).map((value) => Math.round(value))).toEqual([1, -1, 0]);
  expect(large.texts([-1, 0, 0.5])).toEqual(["-1e+300", "0", "0.5e+300"]);
  expect(scalingOf([5e-324]).drawn(5e-324)).toBeGreaterThan(0.9);
  expect(scalingOf([1, 2000]).texts([1, 2000])).toEqual(["1", "2,000"]);
});

test("a histogram of nothing has no bars, of one value one, and of the largest numbers all", () => {
  expect(binsOf([])).toEqual([]);
  expect(binsOf([3, 3])).toEqual([{ from: 3, to: 3, count: 2 }]);
  const largest = binsOf([-1.7e308, 0, 1.7e308]);
  expect(largest.map(({ count }) => count)).toEqual([1, 0, 1, 0, 1]);
  for (const bins of [largest, binsBetween(-1.7e308, 1.7e308, [1, 2, 3])]) {
    expect(bins.every(({ from, to }) => Number.isFinite(from) && Number.isFinite(to) && from < to)).toBe(true);
    expect([bins[0]?.from, bins.at(-1)?.to]).toEqual([-1.7e308, 1.7e308]);
  }
  expect(binsOf([0, 5e-324, 1e-323]).map(({ count }) => count)).toEqual([1, 0, 1, 0, 1]);
});
