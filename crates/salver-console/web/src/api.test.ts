import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("sessionStorage", { getItem: () => null });

test("that callers may be known is told by the server's own answers", async () => {
  const { answersDiffer, send } = await import("./api");
  const asked: Headers[] = [];
  let cache = "private, no-cache";
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers));
    return new Response("{}", { headers: { "cache-control": cache } });
  });
  await send({ path: "api/functions/f/g" });
  expect(answersDiffer.value).toBe(false);
  cache = "no-store";
  await send({ path: "api/columns" });
  expect(answersDiffer.value).toBe(false);
  cache = "private, no-cache";
  await send({ path: "api/columns" });
  expect(answersDiffer.value).toBe(true);
  // The browser must not ask for a name and a password itself.
  expect(asked.every((headers) => headers.get("x-requested-with") === "XMLHttpRequest")).toBe(true);
});
