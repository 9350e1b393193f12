import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { isElsewhere } = await import("./router");

test("what loses an open editor is another page, another row or another tab", () => {
  const is = (from: string, to: string) => isElsewhere(new URL(from, "http://server/"), new URL(to, "http://server/"));
  expect(is("console/entry/t?page=2", "console/entry/t?page=3&sort=-id")).toBe(false);
  expect(is("console/entry/t", "console/entry/t?tab=columns")).toBe(true);
  expect(is("console/entry/t/row?key=", "console/entry/t/row?key=..")).toBe(true);
  expect(is("console/entry/t", "console/entry/u")).toBe(true);
  expect(is("console/entry/t/row?key=a&key=b", "console/entry/t/row?key=a&key=b")).toBe(false);
});
