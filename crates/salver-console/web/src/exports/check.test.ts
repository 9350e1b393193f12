import { expect, test, vi } from "vitest";
import { checkExport } from "./check";

test("an entry that may not be exported is told by its name, without asking for its rows", async () => {
  vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  const asked: string[] = [];
  const answer = (status: number) =>
    vi.stubGlobal("fetch", async (url: string, { method }: { method: string }) => {
      asked.push(`${method} ${url}`);
      return new Response(null, { status });
    });
  answer(200);
  await checkExport("a b");
  expect(asked).toEqual(["HEAD http://server/api/export/a%20b.csv"]);
  answer(404);
  await expect(checkExport("items")).rejects.toThrow("You may not export items.");
  answer(503);
  await expect(checkExport("items")).rejects.toThrow("503");
});
