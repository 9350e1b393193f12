import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("document", { baseURI: "http://server/", cookie: "XSRF-TOKEN=%E0%A4%A" });
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
});
const { ApiError, onUnauthorized, send } = await import("./api");
const { apiKey, basicKey } = await import("./credentials");

let asked: Headers[] = [];
beforeEach(() => {
  items.clear();
  asked = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers));
    return new Response("{}");
  });
});

test("the browser must not ask for a name and a password itself", async () => {
  await send({ path: "api/columns" });
  expect(asked[0]?.get("x-requested-with")).toBe("XMLHttpRequest");
});

test("whatever is typed into a header is sent in UTF-8, or refused in words", async () => {
  await send({ path: "api/functions/f/g", method: "POST", headers: { "X-Who": " Żaneta 😀\n", "X-Plain": "a, b" } });
  const bytes = Uint8Array.from(asked[0]?.get("x-who") ?? "", (character) => character.charCodeAt(0));
  expect(new TextDecoder().decode(bytes)).toBe("Żaneta 😀");
  expect(asked[0]?.get("x-plain")).toBe("a, b");
  const refused = await send({ path: "api/tables/t", headers: { "X-Who": "a\nb" } }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect((refused as Error).message).toContain("X-Who");
});

test("a key that no header carries is not held", async () => {
  items.set("salver.api_key", "clé");
  await send({ path: "" });
  expect(asked[0]?.has("authorization")).toBe(false);
  expect(items.size).toBe(0);
  apiKey.set(basicKey("Żaneta", "pässword"));
  await send({ path: "" });
  expect(asked[1]?.get("authorization")).toBe(basicKey("Żaneta", "pässword"));
  // Who proves something else in one request sends that.
  await send({ path: "", headers: { Authorization: "Bearer other" } });
  expect(asked[2]?.get("authorization")).toBe("Bearer other");
});

test("a refusal of what the tab holds is told, and not that of a log-in", async () => {
  const told: string[] = [];
  onUnauthorized.handler = (path) => void told.push(path);
  apiKey.set("old");
  vi.stubGlobal("fetch", async () => new Response('{"error":"authentication_failed"}', { status: 401 }));
  await expect(send({ path: "" })).rejects.toThrow();
  await expect(send({ path: "", headers: { Authorization: "Bearer new" } })).rejects.toThrow();
  vi.stubGlobal("fetch", async () => new Response('{"code":1012,"message":"no"}', { status: 403, headers: { "content-type": "application/json" } }));
  await expect(send({ path: "api/records/t" })).rejects.toThrow();
  expect(told).toEqual(["", "api/records/t"]);
});
