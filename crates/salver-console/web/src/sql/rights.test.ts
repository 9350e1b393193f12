import { expect, test } from "vitest";
import { ApiError } from "../api";
import { type Catalog, catalog } from "../catalog";
import { rightLacking, withRights } from "./rights";

test("an entry that may be read and not asked is not said to be missing", () => {
  catalog.value = { entries: new Map([["items", {}]]) } as unknown as Catalog;
  const refused = (message: string) => withRights(new ApiError(400, "plan_sql", message, null, null)) as ApiError;
  expect(refused("no table `items` at line 1, column 15").message).toBe("You may not ask items in SQL.");
  expect(refused("no table `others` at line 1, column 15").message).toContain("no table");
  expect(refused("no column `items`").message).toContain("no column");
});

test("a right that is lacking is told from what may be there the next time", () => {
  catalog.value = { entries: new Map([["items", {}]]) } as unknown as Catalog;
  const lacking = (status: number, message: string) => rightLacking(new ApiError(status, "error", message, null, null));
  expect((lacking(400, "no table `items`") as ApiError).message).toBe("You may not ask items in SQL.");
  expect(lacking(403, "no")).toBeInstanceOf(ApiError);
  for (const [status, message] of [[400, "no column `items`"], [429, "too many"], [503, "no table `items`"]] as const) expect(lacking(status, message)).toBe(null);
});
