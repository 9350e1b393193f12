import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
});
vi.stubGlobal("localStorage", {});
vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
const { apiKey, basicKey } = await import("../credentials");
const { isBasic, logIn, waysOf, waysToLogIn } = await import("./ways");

/** What a server answers, and what it was asked: the method, the path, and what proves who asks. */
let asked: string[] = [];
function answers(answer: (path: string, authorization: string | null) => Response): void {
  asked = [];
  vi.stubGlobal("fetch", async (url: string | URL, init: RequestInit) => {
    const authorization = new Headers(init.headers).get("authorization");
    const { pathname } = new URL(url);
    asked.push([init.method ?? "GET", pathname, authorization].filter(Boolean).join(" "));
    return answer(pathname, authorization);
  });
}
const index = (more: object) => new Response(JSON.stringify({ entries: {}, ...more }));
const refused = (status: number) => new Response("{}", { status });
const filled = (fields: object) => ({ username: "", password: "", key: "", of: "passwords" as const, ...fields });
const BOTH = waysOf(["basic", "user", "api_key"]);

beforeEach(() => items.clear());

test("a server that takes names and passwords is known by its challenge, also by the one for scripts", () => {
  for (const challenge of ['Basic realm="salver"', 'XBasic realm="salver"', 'Bearer, XBasic realm="salver"', 'Basic realm="a", Bearer']) expect(isBasic(challenge)).toBe(true);
  for (const challenge of [null, "", "Bearer", 'Bearer realm="NonBasic"']) expect(isBasic(challenge)).toBe(false);
});

test("an open index says the ways, and a closed one by how it refuses", async () => {
  answers(() => index({ auth: ["user", "jwt"] }));
  expect(await waysToLogIn()).toEqual({ provider: false, passwords: true, basic: false, keys: true, closed: false });
  expect(asked).toEqual(["GET /"]);
  answers((path) => (path === "/" ? new Response("{}", { status: 401, headers: { "www-authenticate": 'XBasic realm="salver", Bearer' } }) : refused(path === "/api/login" ? 405 : 404)));
  expect(await waysToLogIn()).toEqual({ provider: false, passwords: true, basic: true, keys: true, closed: true });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("no network")));
  await expect(waysToLogIn()).rejects.toThrow();
});

test("one log-in is one attempt, at the users that were chosen", async () => {
  answers(() => refused(403));
  await expect(logIn(filled({ username: "ann", password: "x" }), BOTH)).rejects.toThrow(/does not know this name.*user of the server's settings/);
  expect(asked).toEqual(["POST /api/login"]);
  answers(() => refused(401));
  await expect(logIn(filled({ username: "ann", password: "x", of: "basic" }), BOTH)).rejects.toThrow(/user of the database/);
  expect(asked).toEqual([`GET / ${basicKey("ann", "x")}`]);
  // Where there is one way alone, whatever was chosen before says nothing.
  answers(() => index({ caller: "basic:ann" }));
  await logIn(filled({ username: "ann", password: "x" }), waysOf(["basic"]));
  expect([asked.length, apiKey.get()]).toEqual([1, basicKey("ann", "x")]);
  apiKey.set(null);
  answers(() => new Response("{}"));
  await logIn(filled({ username: "ann", password: "x", of: "basic" }), waysOf(["user"]));
  expect([asked, apiKey.get()]).toEqual([["POST /api/login"], null]);
});

test("nothing is kept that the server refuses, or does not read", async () => {
  answers(() => refused(401));
  await expect(logIn(filled({ key: "k" }), BOTH)).rejects.toThrow("does not know the key");
  answers(() => index({}));
  await expect(logIn(filled({ key: "k" }), BOTH)).rejects.toThrow("does not know the key");
  expect(items.size).toBe(0);
  answers(() => index({ caller: "api_key:team" }));
  await logIn(filled({ key: " k\n" }), BOTH);
  expect([asked, apiKey.get()]).toEqual([["GET / Bearer k"], "k"]);
});

test("what can't be sent is refused before anything is", async () => {
  answers(() => index({}));
  await expect(logIn(filled({ username: "ann", key: "k" }), BOTH)).rejects.toThrow("either a name and a password, or a key");
  await expect(logIn(filled({ key: "clé" }), BOTH)).rejects.toThrow("Character 3");
  await expect(logIn(filled({ username: "a:b", password: "x", of: "basic" }), BOTH)).rejects.toThrow("colon");
  await expect(logIn(filled({ password: "x" }), BOTH)).rejects.toThrow("Fill in the name");
  await expect(logIn(filled({}), BOTH)).rejects.toThrow("Fill in");
  expect(asked).toEqual([]);
});
