import { expect, test } from "vitest";
import { ApiError } from "../api";
import { type Catalog, catalog } from "../catalog";
import { withRights } from "./rights";

test("an entry that may be read and not asked is not said to be missing", () => {
  catalog.value = { entries: new Map([["items", {}]]) } as unknown as Catalog;
  const refused = (message: string) => withRights(new ApiError(400, "plan_sql", message, null, null)) as ApiError;
  expect(refused("no table `items` at line 1, column 15").message).toBe("You may not ask items in SQL.");
  expect(refused("no table `others` at line 1, column 15").message).toContain("no table");
  expect(refused("no column `items`").message).toContain("no column");
});
