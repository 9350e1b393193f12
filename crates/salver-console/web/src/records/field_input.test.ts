import { expect, test } from "vitest";
import { leftOutOf } from "./field_input";

test("a column says whether a value is needed, as far as its table tells", () => {
  const column = { name: "a", type: "integer" };
  expect(leftOutOf({}, true, column)).toBe("a value is needed");
  expect(leftOutOf({}, false, { ...column, pk: true })).toContain("unless");
  expect(leftOutOf({}, false, column)).toContain("unless");
  for (const [field, of] of [[{ readOnly: true }, { ...column, pk: true }], [{}, { ...column, nullable: true }], [undefined, undefined]] as const) expect(leftOutOf(field, false, of)).toBe("default");
});
