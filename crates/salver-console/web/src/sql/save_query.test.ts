import { expect, test } from "vitest";
import { fileText, nameFault, saveRequest } from "./save_query";

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

test("a name is that of a file on every system, and not one that is there in other letters", () => {
  for (const name of ["people_of", "a b", "ünï", "v1.2", "console", " trimmed ", "known"]) expect(nameFault(name, ["known"])).toBe(null);
  for (const name of ["", "..", ".", ".hidden", "end.", "CON", "nul.x", "lpt1", "a/b", "a\\b", "a:b", "a?", "a*", 'a"', "a\u0001b", "x.csv", "x.PARQUET", "x".repeat(300), "ü".repeat(100)]) {
    expect(nameFault(name, []), name).not.toBe(null);
  }
  expect(nameFault("Known", ["known"])).toContain("known");
});
