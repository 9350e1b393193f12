import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("location", new URL("http://server/"));
vi.stubGlobal("sessionStorage", { getItem: () => null });

const NAME = `we ird "t'%.x`;
const body = (name: string) => ({ requestBody: { $ref: `#/components/requestBodies/${name}` } });
const schema = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])) });
vi.stubGlobal("fetch", async () =>
  Response.json({
    paths: {
      [`/records/${NAME}`]: { get: {}, post: body("create-we_ird__t__.x") },
      [`/records/${NAME}/{id}`]: { put: body("update-we_ird__t__.x"), delete: {} },
      "/records/seen": { get: {} },
      "/records/seen/{id}": { get: {} },
    },
    components: {
      schemas: { "create-we_ird__t__.x": schema("id", "a"), "update-we_ird__t__.x": schema("a"), "read-we_ird__t__.x": schema("id", "a", "computed"), "read-seen": schema("id") },
    },
  }),
);
const { recordTable } = await import("./metadata");

test("what a table takes is found whatever its name is, without what the database computes", async () => {
  expect(await recordTable(NAME)).toEqual({ writes: { create: true, update: true, remove: true }, fields: { id: {}, a: {} }, changeable: { a: {} }, required: [] });
  expect(await recordTable("seen")).toMatchObject({ writes: { create: false, update: false, remove: false }, fields: { id: {} } });
});
