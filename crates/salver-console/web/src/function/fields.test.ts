import { expect, test } from "vitest";
import { argumentsJson, fieldsOf, missingFields, namedArguments } from "./fields";
import { readPairs, writePairs } from "./pairs";

const fields = fieldsOf(
  [
    { name: "first", type: "string", required: true },
    { name: "**kw", type: "integer", required: false },
  ],
  undefined,
  null,
);
const typed = (pairs: [string, string][]) => ({ first: "a", "**kw": writePairs(pairs) });

test("further arguments go by names of their own", () => {
  expect(fields[1]).toMatchObject({ kind: "pairs", values: "integer", required: false });
  expect(argumentsJson(fields, typed([["x", "7"], ["y", "12345678901234567890"]]))).toBe('{"first":"a","x":7,"y":12345678901234567890}');
  expect(argumentsJson(fields, { first: "a" })).toBe('{"first":"a"}');
  expect(namedArguments(fields, typed([["x", "7"]])).map(({ name }) => name)).toEqual(["first", "x"]);
});

test("R's are any values", () => {
  expect(argumentsJson(fieldsOf([{ name: "...", type: "any", required: false }], undefined, null), { "...": writePairs([["x", "text"], ["y", "1, 2"]]) })).toBe('{"x":"text","y":[1,2]}');
});

test("a name is needed, and one that no other argument has", () => {
  expect(missingFields(fields, typed([["x", "7"]]))).toEqual([]);
  expect(missingFields(fields, typed([["", "7"]]))).toEqual(["a name for 7"]);
  expect(missingFields(fields, typed([["first", "7"]]))).toEqual(["another name for first, which is taken"]);
  expect(missingFields(fields, typed([["x", "7"], ["x", "8"]]))).toHaveLength(1);
});

test("pairs are one text", () => {
  for (const wrong of ["", "x", "{}", "[1]", '[["a"]]', "null"]) expect(readPairs(wrong)).toEqual([]);
  expect(readPairs(writePairs([["a", "1"], ["", ""]]))).toEqual([["a", "1"]]);
});

test("what is no JSON goes as a text, for the function to judge", () => {
  const any = fieldsOf([{ name: "x", type: "any", required: false }], undefined, null);
  const sent = (text: string) => JSON.parse(argumentsJson(any, { x: text })).x;
  expect(["042", "1e400", "-01", "[1,007]", "null", "1e3", "007, 1"].map(sent)).toEqual(["042", "1e400", "-01", "[1,007]", null, 1000, "007, 1"]);
});
