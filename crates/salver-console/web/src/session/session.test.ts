import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
  clear: () => items.clear(),
});
vi.stubGlobal("localStorage", {});
vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
const { send } = await import("../api");
const { apiKey, basicKey, keyFault, nameOfKey, pastedKey } = await import("../credentials");
const { caller, callerName, noteClosed, noteTold } = await import("./caller");
const { beginSession, canLogOut, endCancelled, isKnown, logOut, logOutFault, keyRefused, loginOpen, mayLogIn, session, who } = await import("./session");

beforeEach(() => {
  apiKey.set(null);
  noteTold({});
  keyRefused.value = null;
  loginOpen.value = false;
  session.value = { user: null, identity: null, hasUsers: false };
});

test("a name and a password are a key of their own, whatever characters they have", () => {
  expect(basicKey("bob", "pw")).toBe("Basic Ym9iOnB3");
  expect(nameOfKey(basicKey("Żaneta", "a:b"))).toBe("Żaneta");
  for (const key of ["a-key", null, "Basic no base64!"]) expect(nameOfKey(key)).toBe(null);
});

test("a key is taken as it was meant, or refused in words", () => {
  for (const pasted of ["  a-key\n", "\ufeffa-key\u200b", "Bearer a-key", "a-\n key", "X-API-Key: a-key", "Authorization: Bearer a-key", '"a-key"', "'X-API-Key: a-key'\n", "authorization: bearer 'a-key'"]) expect(pastedKey(pasted)).toBe("a-key");
  for (const key of ['"quoted', "bearer", "x-api-key", "authorization.of:x", "Basic YTpi"]) expect(pastedKey(key)).toBe(key);
  expect(keyFault("a key.of~signs")).toBe(null);
  expect(keyFault("abc\u2019d")).toContain("Character 4 of this one is another (U+2019)");
  expect(keyFault("ключ")).toContain("Character 1");
});

test("who is known, and by what, is what the index says", () => {
  expect([isKnown.value, mayLogIn.value]).toEqual([false, false]);
  noteTold({ auth: ["certificate"] });
  expect(mayLogIn.value).toBe(false);
  noteTold({ auth: ["basic"] });
  expect(mayLogIn.value).toBe(true);
  noteTold({ auth: ["basic"], caller: "basic:ann" });
  expect([isKnown.value, mayLogIn.value, who.value]).toEqual([true, false, "ann"]);
  noteClosed();
  expect([caller.value, mayLogIn.value]).toEqual([null, true]);
  expect(["api_key:team", "api_key", "jwt:https://id/ 17", "certificate:ann:b", "ann"].map(callerName)).toEqual(["with the key team", "with a key", "17", "ann:b", "ann"]);
});

test("whatever is held can be put away", () => {
  apiKey.set("k");
  expect([isKnown.value, canLogOut.value, who.value]).toEqual([true, true, "with a key"]);
  apiKey.set(basicKey("bob", "pw"));
  expect(who.value).toBe("bob");
});

test("what the index refuses is not kept, and what a function refuses is", async () => {
  let indexKnows = true;
  vi.stubGlobal("fetch", async (url: string) => new Response("{}", { status: url === "http://server/" && indexKnows ? 200 : 401 }));
  apiKey.set("k");
  await expect(send({ path: "api/functions/f/g" })).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect([apiKey.get(), loginOpen.value]).toEqual(["k", false]);
  indexKnows = false;
  await expect(send({ path: "api/tables/t" })).rejects.toThrow();
  await vi.waitFor(() => expect(apiKey.get()).toBe(null));
  expect([keyRefused.value, loginOpen.value, canLogOut.value]).toEqual(["key", true, false]);
});

const ANN = { user: "ann", identity: "ann", hasUsers: true };

test("the page is left only when the server has ended the session", async () => {
  const left = vi.fn();
  vi.stubGlobal("location", { replace: left });
  vi.stubGlobal("window", { removeEventListener: () => undefined });
  let answer: (path: string) => Response | Promise<Response> = () => Promise.reject(new TypeError("no network"));
  vi.stubGlobal("fetch", async (url: string) => answer(new URL(url).pathname));
  for (const status of [0, 502, 429]) {
    if (status) answer = () => new Response("{}", { status });
    apiKey.set("k");
    session.value = ANN;
    await logOut();
    expect([(logOutFault.value as { status: number }).status, left.mock.calls.length, apiKey.get(), canLogOut.value]).toEqual([status, 0, "k", true]);
  }
  answer = (path) => new Response(null, { status: path === "/api/logout" ? 204 : 404 });
  await logOut();
  expect([logOutFault.value, left.mock.calls.length, apiKey.get(), loginOpen.value]).toEqual([null, 1, null, false]);
});

test("a session that a cancelled log-in brought is ended", async () => {
  const asked: string[] = [];
  let me = '{"username":"bob"}';
  vi.stubGlobal("fetch", async (url: string | URL, init: RequestInit) => {
    asked.push(`${init.method ?? "GET"} ${new URL(url).pathname}`);
    return new Response(String(url).endsWith("me") ? me : "{}");
  });
  const cancelled = new AbortController();
  const begun = beginSession("bob", "pw", cancelled.signal);
  cancelled.abort();
  await expect(begun).rejects.toThrow(/abort/i);
  await endCancelled();
  expect(asked).toEqual(["POST /api/login", "GET /api/me", "POST /api/logout", "POST /auth/logout"]);
  // Who was there before stays.
  session.value = ANN;
  me = '{"username":"ann"}';
  await endCancelled();
  expect(asked.slice(4)).toEqual(["GET /api/me"]);
});
