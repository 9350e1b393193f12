import { expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => undefined });

test("a server that takes names and passwords is known by its challenge, also by the one for scripts", async () => {
  const { isBasic } = await import("./session");
  for (const challenge of ['Basic realm="salver"', 'XBasic realm="salver"', 'Bearer, XBasic realm="salver"', 'Basic realm="a", Bearer']) expect(isBasic(challenge)).toBe(true);
  for (const challenge of [null, "", "Bearer", 'Bearer realm="NonBasic"']) expect(isBasic(challenge)).toBe(false);
});

test("and by its description", async () => {
  const { hasBasicScheme } = await import("./session");
  const of = (schemes: unknown) => ({ openapi: "3.1.0", components: { schemas: {}, securitySchemes: schemes } });
  expect(hasBasicScheme(of({ apiKey: { type: "apiKey", in: "header", name: "x-api-key" }, basic: { type: "http", scheme: "basic" } }))).toBe(true);
  expect(hasBasicScheme(of({ bearer: { type: "http", scheme: "bearer" } }))).toBe(false);
  for (const other of [null, {}, { components: null }, "text"]) expect(hasBasicScheme(other)).toBe(false);
});

test("a name and a password are a key of their own, whatever characters they have", async () => {
  const { basicKey, nameOfKey } = await import("../api");
  expect(basicKey("bob", "pw")).toBe("Basic Ym9iOnB3");
  expect(nameOfKey(basicKey("Żaneta", "a:b"))).toBe("Żaneta");
  expect(nameOfKey("a-key")).toBe(null);
  expect(nameOfKey(null)).toBe(null);
});
