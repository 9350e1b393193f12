import { expect, test } from "vitest";
import { fileText, saveRequest } from "./save_query";

test("a file has one description, in one line, before its statement", () => {
  expect(fileText("SELECT 1", "")).toBe("SELECT 1\n");
  expect(fileText("-- description: old\n-- param a integer = 1\nSELECT $a", "What\n it is")).toBe("-- description: What it is\n-- param a integer = 1\nSELECT $a\n");
});

test("a new query is saved as new, and a known one as it was read", () => {
  const draft = { name: " people of ", description: "" };
  expect(saveRequest("SELECT 1", draft, undefined)).toEqual({
    method: "PUT",
    path: "api/queries/people%20of",
    headers: { "Content-Type": "application/sql", "If-None-Match": "*" },
    body: "SELECT 1\n",
  });
  const known = { name: "people of", parameters: [], columns: [], etag: '"00000000000000ff"' };
  expect(saveRequest("SELECT 1", draft, known).headers).toEqual({ "Content-Type": "application/sql", "If-Match": '"00000000000000ff"' });
});
