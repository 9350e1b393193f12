import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
});
vi.stubGlobal("localStorage", {});
vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
const { send } = await import("../api");
const { apiKey, basicKey, keyFault, nameOfKey, pastedKey } = await import("../credentials");
const { caller, callerName, noteClosed, noteTold } = await import("./caller");
const { canLogOut, isKnown, keyRefused, loginOpen, mayLogIn, session, who } = await import("./session");

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
  for (const pasted of ["  a-key\n", "\ufeffa-key\u200b", "Bearer a-key", "a-\n key"]) expect(pastedKey(pasted)).toBe("a-key");
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
