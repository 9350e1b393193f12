import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("document", { baseURI: "http://server/", cookie: "XSRF-TOKEN=%E0%A4%A" });
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
});
const { ApiError, isKeyHalted, noteKnownKey, onUnauthorized, send } = await import("./api");
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
  noteKnownKey("old");
  vi.stubGlobal("fetch", async () => new Response('{"code":1012,"message":"no"}', { status: 403, headers: { "content-type": "application/json" } }));
  await expect(send({ path: "api/records/t" })).rejects.toThrow();
  expect(told).toEqual(["", "api/records/t"]);
});

/** What four requests of a page that has a kept key come to, where the server answers each with this. */
async function opened(key: string, answer: () => Response): Promise<{ paths: string[]; results: PromiseSettledResult<Response>[] }> {
  const paths: string[] = [];
  onUnauthorized.handler = (path) => void (path === "" && apiKey.set(null));
  apiKey.set(key);
  vi.stubGlobal("fetch", async (url: string) => {
    paths.push(new URL(url).pathname);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return answer();
  });
  const results = await Promise.allSettled([send({ path: "api/columns" }), send({ path: "" }), send({ path: "api/queries" }), send({ path: "api/streams" })]);
  return { paths, results };
}

test("a kept key that is wrong by now is one attempt", async () => {
  const { paths, results } = await opened("wrong", () => new Response("{}", { status: 401 }));
  expect([paths, apiKey.get()]).toEqual([["/"], null]);
  expect(results.every(({ status }) => status === "rejected")).toBe(true);
});

test("a kept key that is right goes with all requests, after the first", async () => {
  const { paths, results } = await opened("right", () => new Response("{}"));
  expect(paths[0]).toBe("/");
  expect(paths.length).toBe(5);
  expect(results.every(({ status }) => status === "fulfilled")).toBe(true);
});

test("with too many attempts, nothing more is sent, and the key stays", async () => {
  const { paths, results } = await opened("late", () => new Response('{"error":"too_many_attempts"}', { status: 429, headers: { "retry-after": "30" } }));
  expect([paths, apiKey.get(), isKeyHalted.value]).toEqual([["/"], "late", true]);
  expect(results.every((result) => result.status === "rejected" && result.reason.word === "key_not_tried")).toBe(true);
  await expect(send({ path: "" })).rejects.toThrow("no attempts");
  expect(paths.length).toBe(1);
  apiKey.set(null);
  expect(isKeyHalted.value).toBe(false);
});
