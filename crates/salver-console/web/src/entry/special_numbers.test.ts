import { expect, test, vi } from "vitest";
import { ExactNumber } from "../data_json";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { csvRequest, doubtfulColumns, withSpecialNumbers } = await import("./special_numbers");

const columns = [{ name: "id", type: "Int64" }, { name: "r", type: "Float64" }, { name: "a\nb", type: "Float32" }, { name: "t", type: "Utf8" }];
const data = { columns: ["id", "r", "a\nb", "t"], rows: [[1, null, 0.5, null], [2, null, null, "x"], [3, new ExactNumber("1.0"), null, "y"]], headers: new Headers() };
const names = ["r", "a\nb"];

test("only floats with nulls are in doubt", () => {
  expect(doubtfulColumns(columns, data)).toEqual(names);
  expect(doubtfulColumns(columns, { ...data, rows: data.rows.slice(0, 1) })).toEqual(["r"]);
  expect(doubtfulColumns(columns, { ...data, rows: [] })).toEqual([]);
});

test("the same rows are asked for", () => {
  const request = { path: "api/tables/t", query: [["columns", "id,r"], ["filter[id]gt", "1"], ["limit", "5"]] as [string, string][], sql: "select" };
  expect(csvRequest(request, ["r"])).toEqual({ path: "api/tables/t", query: [["columns", "r"], ["filter[id]gt", "1"], ["limit", "5"], ["format", "csv"]] });
});

test("NaN and infinities come in place of nulls", () => {
  const rows = withSpecialNumbers(data, names, 'r,"a\nb"\nNaN,0.5\n-inf,\n1.0,inf\n');
  expect(rows).toEqual([[1, NaN, 0.5, null], [2, -Infinity, null, "x"], [3, new ExactNumber("1.0"), Infinity, "y"]]);
});

test("a null of the only column is an empty line", () => {
  expect(withSpecialNumbers({ ...data, rows: [[1, null], [2, null]], columns: ["id", "r"] }, ["r"], "r\n\ninf\n")).toEqual([[1, null], [2, Infinity]]);
});

test("other rows are not taken for these", () => {
  expect(withSpecialNumbers(data, names, 'r,"a\nb"\nNaN,0.5\n-inf,\n')).toBeNull();
  expect(withSpecialNumbers(data, names, 'r,"a\nb"\n,0.75\n,\n1.0,\n')).toBeNull();
  expect(withSpecialNumbers(data, names, 'r,"a\nb"\n2.0,0.5\n,\n1.0,\n')).toBeNull();
});
