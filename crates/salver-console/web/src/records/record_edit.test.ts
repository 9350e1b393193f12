import { beforeEach, expect, test, vi } from "vitest";
import type { Entry } from "../catalog";
import type { Value } from "../data_json";
import type { EditConflict as Conflict, Values } from "./record_edit";
import type { RecordName } from "./record_request";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("location", new URL("http://server/"));
const { EditConflict, RecordEdit } = await import("./record_edit");

const columns = ["id", "name", "age"].map((name) => ({ name, type: "Utf8" }));
const RECORD: RecordName = { table: "people", entry: { name: "people", columns } as Entry, keyColumns: ["id"], key: ["1"] };

/** A table of one row, with a tag for each state of it. */
const row: Record<string, Value> = {};
let version = 0;
let hold: Promise<void> = Promise.resolve();
const asked: string[] = [];

function change(values: Record<string, Value>): void {
  Object.assign(row, values);
  version++;
}

beforeEach(() => {
  change({ id: "1", name: "ann", age: "30" });
  hold = Promise.resolve();
  asked.length = 0;
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (_: string, { method, headers, body }: { method: string; headers: Headers; body?: string }) => {
    await hold;
    const tag = headers.get("If-Match");
    asked.push(tag === null ? method : `${method} ${tag === `"${version}"` ? "current" : "stale"}`);
    if (method === "GET") return new Response(JSON.stringify(row), { headers: { etag: `"${version}"` } });
    if (tag !== `"${version}"`) return new Response('{"code":1010,"message":"changed"}', { status: 412, headers: { "content-type": "application/json" } });
    change(JSON.parse(body ?? "{}"));
    return new Response("1");
  });
});

const shown = async (): Promise<Values> => new Map(Object.entries(row));
const edit = () => new RecordEdit(RECORD, shown);
const of = (values: Record<string, Value>): Values => new Map(Object.entries(values));

test("what was shown must still be so, also where it changed before the editor read it", async () => {
  change({ name: "somebody" });
  const opened = edit();
  expect((await opened.now()).get("name")).toBe("somebody");
  const failed = await opened.save(of({ name: "mine" }), of({ name: "ann" })).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(EditConflict);
  expect((failed as Conflict).message).toBe("Somebody else changed the row meanwhile: name is now “somebody”");
  expect(row.name).toBe("somebody");
  await opened.save(of({ name: "mine" }), (failed as Conflict).now);
  expect(row.name).toBe("mine");
});

test("what changes while the editor is open is not written over, and told", async () => {
  const opened = edit();
  const seen = await opened.now();
  change({ name: null });
  await expect(opened.save(of({ name: "mine" }), seen)).rejects.toThrow("name is now NULL");
  expect(row.name).toBe(null);
});

test("a change of another column is in nobody's way", async () => {
  const opened = edit();
  await opened.now();
  change({ age: "31" });
  await opened.save(of({ name: "mine" }), of({ name: "ann" }));
  expect(row).toMatchObject({ name: "mine", age: "31" });
});

test("edits of one row wait for each other, and none is in the way of the other", async () => {
  const first = edit();
  await first.now();
  let go = () => {};
  hold = new Promise((resolve) => (go = resolve));
  const saved = first.save(of({ name: "new" }), of({ name: "ann" }));
  const second = edit();
  const also = second.save(of({ age: "40" }), of({ age: "30" }));
  go();
  await Promise.all([saved, also]);
  expect(row).toMatchObject({ name: "new", age: "40" });
  expect(asked.filter((one) => one.endsWith("stale"))).toEqual([]);
});

test("edits that were open at once are both written", async () => {
  const [first, second] = [edit(), edit()];
  await Promise.all([first.now(), second.now()]);
  await Promise.all([first.save(of({ name: "new" }), of({ name: "ann" })), second.save(of({ age: "40" }), of({ age: "30" }))]);
  expect(row).toMatchObject({ name: "new", age: "40" });
});

test("a row that somebody else deleted is told to be gone, and the rows are read again", async () => {
  const { changeCount } = await import("./record");
  const opened = edit();
  await opened.now();
  const before = changeCount.value;
  vi.stubGlobal("fetch", async () => new Response('{"code":1003,"message":"Record \'1\' not found"}', { status: 404, headers: { "content-type": "application/json" } }));
  await expect(opened.save(of({ name: "mine" }), of({ name: "ann" }))).rejects.toThrow("Somebody else deleted the row meanwhile");
  expect(changeCount.value).toBe(before + 1);
});
