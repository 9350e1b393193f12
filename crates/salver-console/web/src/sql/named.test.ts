import { expect, test } from "vitest";
import type { NamedQuery } from "../catalog";
import { namedCall, namedRequest, typedValues, valuesForSql, withoutNamedValue } from "./named";
import { findPlaceholders, paramsAsJson } from "./placeholders";
import { fileRequest, sqlRequest } from "./run";

const query: NamedQuery = {
  name: "people of",
  sql: "SELECT name FROM people WHERE city = $city AND age >= $age AND ($note IS NULL OR note = $note)",
  parameters: [
    { name: "city", type: "text", default: null, required: true },
    { name: "age", type: "integer", default: 18, required: false },
    { name: "note", type: "text", default: null, required: false },
  ],
  columns: [{ name: "name", type: "Utf8" }],
};

test("a query is called by its name, with what was typed and nothing else", () => {
  const call = namedCall(query, { city: "42", age: "", note: '""', other: "x" });
  expect(call.query).toEqual([["city", "42"], ["note", ""]]);
  expect(sqlRequest({ sql: query.sql ?? "", params: undefined, named: call }, "POST")).toEqual({ path: "api/queries/people%20of", query: call.query });
  expect(fileRequest({ sql: "", params: undefined, named: call }, "csv").path).toBe("api/queries/people%20of.csv");
  expect(namedRequest(call).sql).toBeUndefined();
});

test("what may be left out may be left empty", () => {
  expect(withoutNamedValue(query, {})).toEqual(["city"]);
  expect(withoutNamedValue(query, { city: "York" })).toEqual([]);
  expect(typedValues(query, { city: "York", age: "", other: "x" })).toEqual({ city: "York" });
});

test("as a statement of one's own it gets the values that are declared", () => {
  const params = (values: Record<string, string>) => JSON.parse(paramsAsJson(findPlaceholders(query.sql ?? ""), valuesForSql(query, values)) ?? "");
  expect(params({ city: "42" })).toEqual({ city: "42", age: 18, note: null });
  expect(params({ city: '""', age: "7", note: "null" })).toEqual({ city: "", age: 7, note: "null" });
});
