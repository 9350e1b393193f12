import { expect, test } from "vitest";
import { type Shape, flag, list, nullable, number, object, optional, record, text } from "./shape";

interface Item {
  name: string;
  size: number | null;
  note?: string | undefined;
  tags?: string[] | undefined;
}

const item = object<Item>({ name: text, size: nullable(number), note: optional(text), tags: optional(list(text)) });

function read<T>(shape: Shape<T>, value: unknown): { value: T | undefined; wrong: string[] } {
  const wrong: string[] = [];
  return { value: shape(value, "it", wrong), wrong };
}

test("what is right stays as it is", () => {
  const whole = { name: "a", size: 3, note: "n", tags: ["x"], more: { from: "a newer server" } };
  expect(read(item, whole)).toEqual({ value: whole, wrong: [] });
  expect(read(item, { name: "a", note: null })).toEqual({ value: { name: "a", size: null }, wrong: [] });
  expect(read(record(list(flag)), { a: [true], b: [] }).wrong).toEqual([]);
});

test("what is wrong is told with its place, and the rest is kept", () => {
  expect(read(list(item), null)).toEqual({ value: undefined, wrong: ["it is null, not a list"] });
  expect(read(item, [])).toEqual({ value: undefined, wrong: ["it is a list, not an object"] });
  const several = read(list(item), [{ name: "a", note: {} }, null, { size: 1 }, { name: "b", tags: ["x", 1] }]);
  expect(several.value).toEqual([{ name: "a", size: null }, { name: "b", size: null, tags: ["x"] }]);
  expect(several.wrong).toEqual([
    "it[0].note is an object, not a text",
    "it[1] is null, not an object",
    "it[2].name is missing, not a text",
    "it[3].tags[1] is a number, not a text",
  ]);
  expect(read(record(number), { a: 1, b: "2" })).toEqual({ value: { a: 1 }, wrong: ["it.b is a string, not a number"] });
});
