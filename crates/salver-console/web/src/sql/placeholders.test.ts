import { expect, test } from "vitest";
import { findPlaceholders, paramsAsJson, withPlaces, withoutValue } from "./placeholders";

test("a placeholder without a value is none with an empty text", () => {
  const named = findPlaceholders("select $age, $name from t where x = '$no'");
  expect(withoutValue(named, { age: "", other: "1" })).toEqual(["age", "name"]);
  expect(withoutValue(named, { age: "1", name: '""' })).toEqual([]);
  expect(paramsAsJson(named, { age: "1", name: '""' })).toBe('{"age":1,"name":""}');
  expect(withoutValue(findPlaceholders("select $1, $2"), { "1": "x" })).toEqual(["2"]);
  expect(withoutValue(findPlaceholders("select 1"), {})).toEqual([]);
});

test("a number beside a name is a name, too", () => {
  const both = findPlaceholders("select $1, $n, $1");
  expect(both).toEqual({ kind: "named", names: ["1", "n"] });
  expect(paramsAsJson(both, { "1": "2", n: "x" })).toBe('{"1":2,"n":"x"}');
  expect(findPlaceholders("select $2, $1")).toEqual({ kind: "numbered", names: ["1", "2"] });
});

test("values that are missing have a place in code that says what belongs there", () => {
  const places = (sql: string, values: Record<string, string>) => {
    const placeholders = findPlaceholders(sql);
    return paramsAsJson(placeholders, withPlaces(values, withoutValue(placeholders, values)));
  };
  expect(places("select $least, $name", { name: "x" })).toBe('{"least":"YOUR_LEAST","name":"x"}');
  expect(places("select ?, $2", { 2: "7" })).toBe('["YOUR_VALUE_1",7]');
});
