import { expect, test } from "vitest";
import type { Value } from "../data_json";
import { referenceOf } from "./referring";

const rows = (...all: Record<string, Value>[]) => all.map((row) => (column: string) => row[column] ?? null);

test("columns that refer to a key of several columns are told by their order and their values", () => {
  const both = ["pa", "pb"];
  expect(referenceOf(["a", "b"], ["1", "x"], [both, both], rows({ pa: 1, pb: "x" }, { pa: 1, pb: "x" }))).toEqual([["pa", "a"], ["pb", "b"]]);
  const turned = ["pb", "pa"];
  expect(referenceOf(["a", "b"], ["1", "x"], [turned, turned], rows({ pa: 1, pb: "x" }))).toEqual([["pa", "a"], ["pb", "b"]]);
  expect(referenceOf(["a", "b"], ["1", "1"], [both, both], rows({ pa: 1, pb: 1 }))).toEqual([["pa", "a"], ["pb", "b"]]);
});

test("of two columns that refer to one key the rows tell which it is, or nothing does", () => {
  const two = [["parent_id", "best_friend"]];
  expect(referenceOf(["id"], ["1"], two, rows({ parent_id: 1, best_friend: 2 }, { parent_id: 1, best_friend: 1 }))).toEqual([["parent_id", "id"]]);
  expect(referenceOf(["id"], ["1"], two, rows({ parent_id: 1, best_friend: 1 }))).toBe(null);
  expect(referenceOf(["id"], ["1"], [[]], rows({ parent_id: 1 }))).toBe(null);
});
