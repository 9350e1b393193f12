import { beforeAll, expect, test } from "vitest";
import type { ApiRequest } from "./api";
import { CODE_FORMS } from "./request_code";

beforeAll(() => {
  Object.assign(globalThis, { document: { baseURI: "http://localhost/base/" } });
});

const code = (id: string, request: ApiRequest) => CODE_FORMS.find((form) => form.id === id)?.code(request);

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
