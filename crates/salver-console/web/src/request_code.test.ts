import { beforeAll, expect, test } from "vitest";
import type { ApiRequest } from "./api";
import { CODE_FORMS, type Proof } from "./request_code";

beforeAll(() => {
  Object.assign(globalThis, { document: { baseURI: "http://localhost/base/" } });
});

const code = (id: string, request: ApiRequest, proof: Proof = null) => CODE_FORMS.find((form) => form.id === id)?.code(request, proof);

test("a shell takes the request as it is", () => {
  const request = { path: "api/tables/t", query: [["filter[a]", "it's 100% & more"]] } satisfies ApiRequest;
  expect(code("curl", request)).toBe("curl -g 'http://localhost/base/api/tables/t?filter[a]=it%27s+100%25+%26+more'");
});

test("a body goes with its headers", () => {
  const request: ApiRequest = { method: "PUT", path: "api/records/t/1", headers: { "Content-Type": "application/json" }, body: '{"a":"x\'y"}' };
  expect(code("curl", request)).toBe(`curl -g 'http://localhost/base/api/records/t/1' \\\n  -X PUT \\\n  -H 'Content-Type: application/json' \\\n  --data-binary '{"a":"x'\\''y"}'`);
  expect(code("r", request)).toContain('req_method("PUT")');
  expect(code("python", request)).toContain("requests.put(");
});

test("SQL is shown where there is a statement", () => {
  expect(code("sql", { path: "api/tables/t" })).toBeNull();
  expect(code("sql", { path: "api/tables/t", sql: "select 1" })).toBe("select 1");
});

test("who is known has a place for the password or the key, and the code never has either", () => {
  const request: ApiRequest = { path: "api/tables/t" };
  const all = (proof: Proof) => ["curl", "python", "r", "js"].map((id) => code(id, request, proof) ?? "");
  const [curl, python, r, js] = all({ name: "ann" });
  expect(curl).toContain("-u 'ann:PASSWORD'");
  expect(python).toContain('auth=("ann", "PASSWORD".encode())');
  expect(r).toContain('req_auth_basic("ann", "PASSWORD")');
  expect(js).toContain('"Authorization": "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode("ann:PASSWORD")))');
  for (const text of all("key")) expect(text).toContain("Bearer YOUR_KEY");
  for (const text of all(null)) expect(text).not.toMatch(/Authorization|PASSWORD|auth/);
  // What the request itself brings is not doubled.
  expect(code("curl", { ...request, headers: { "X-API-Key": "mine" } }, "key")).not.toContain("Bearer");
});

test("other letters go as UTF-8, and what comes is printed", () => {
  const request: ApiRequest = { path: "api/tables/t", headers: { "X-Who": "Żaneta" } };
  expect(code("js", request, { name: "Ż" })).toContain('btoa(String.fromCharCode(...new TextEncoder().encode("Ż:PASSWORD")))');
  expect(code("js", request)).toContain('"X-Who": String.fromCharCode(...new TextEncoder().encode("Żaneta"))');
  expect(code("python", request, { name: "Ż" })).toContain('auth=("Ż".encode(), "PASSWORD".encode())');
  expect(code("js", request)).toMatch(/console\.log\(data\);$/);
  expect(code("r", request)).toMatch(/print\(rows\)$/);
});
