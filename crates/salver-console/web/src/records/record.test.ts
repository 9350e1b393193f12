import { beforeEach, expect, test, vi } from "vitest";
import type { Entry } from "../catalog";
import type { Value } from "../data_json";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("location", new URL("http://server/"));
vi.stubGlobal("sessionStorage", { getItem: () => null });

/** Answers by method and path, the first that fits; what was asked. */
let answers: [string, string, number?][] = [];
let asked: string[] = [];
vi.stubGlobal("fetch", async (url: string, { method, body }: { method: string; body?: string }) => {
  const request = `${method} ${decodeURIComponent(url.replace("http://server/", ""))}`;
  asked.push(body ? `${request} ${body}` : request);
  const [, text, status = 200] = answers.find(([start]) => request.startsWith(start)) ?? ["", "{}", 404];
  return new Response(text, { status, headers: { "content-type": "application/json", "x-exception-message": "a key names no row" } });
});

const { whyInexact } = await import("./exactness");
const { lastChange } = await import("./record");
const { RecordEdit } = await import("./record_edit");
const { Deletion } = await import("./deletion");
const { referringTables } = await import("../entry/metadata");

const columns = Object.entries({ id: "Int64", r: "Float64", t: "Utf8", b: "Binary", bo: "Boolean", n: "Float64" }).map(([name, type]) => ({ name, type }));
const record = { table: "t", entry: { name: "t", columns } as Entry, keyColumns: ["id"], key: ["1"] };
const why = (values: Record<string, Value>) => whyInexact(record, new Map(Object.entries(values)));

beforeEach(() => {
  answers = [];
  asked = [];
  lastChange.value = null;
});

test("plain values can be written back, and nobody is asked", async () => {
  expect(await why({ id: 1, r: 1.5, t: "a text", b: null, bo: true, n: "12.50" })).toBeNull();
  expect(asked).toEqual([]);
});

test("a NaN looks like NULL and is none", async () => {
  answers = [["GET api/tables/t", "[]"]];
  expect(await why({ id: 1, r: null })).toBe("r may be NaN or infinite, which looks like NULL here");
  expect(asked[0]).toContain("filter[r]null=true");
  answers = [["GET api/tables/t", '[{"id":1}]']];
  expect(await why({ id: 1, r: null })).toBeNull();
});

test("a text among bytes is none of base64", async () => {
  answers = [["GET api/tables/t", '[{"id":1,"b":"61626364"}]']];
  expect(await why({ id: 1, b: "abcd" })).toMatch(/^b has text/);
  expect(await why({ id: 1, b: "YWJjZA==" })).toBeNull();
  answers = [["GET api/tables/t", '[{"id":1,"t":"ABC"}]']];
  expect(await why({ id: 1, t: "QUJD" })).toMatch(/^t has text/);
});

test("a column of the key is asked for once", async () => {
  answers = [["GET api/tables/t", '[{"b":"41"}]']];
  expect(await whyInexact({ ...record, keyColumns: ["b"], key: ["41"] }, new Map([["b", "QQ=="]]))).toBeNull();
  expect(asked).toEqual(["GET api/tables/t?columns=b&filter[b]=41&limit=1"]);
});

test("what can't be compared is not promised", async () => {
  answers = [["GET api/tables/t", '{"message":"no"}', 400]];
  expect(await why({ id: 1, b: "abcd" })).toMatch(/can't be compared/);
  answers = [["GET api/tables/t", "[]"]];
  expect(await why({ id: 1, b: "abcd" })).toMatch(/can't be compared/);
});

test("values of other types are not promised", async () => {
  expect(await why({ id: "one" })).toMatch(/^id has a value of another type/);
  expect(await why({ bo: "yes", r: "text" })).toMatch(/^r, bo has/);
});

test("an undo that is refused says why, and what is so still", async () => {
  answers = [
    ["GET api/records/t/1", '{"id":1,"t":"a text"}'],
    ["DELETE", "1"],
    ["POST", '{"code":1013,"message":"Input validation failed for \'t\'","details":{"t":"too long"}}', 422],
  ];
  await new Deletion(record, ["chi"]).run();
  expect(lastChange.value?.done).toBe("Deleted t 1. Undo brings back this row, and none of chi");
  await expect(lastChange.value?.back?.()).rejects.toMatchObject({
    message: "The row is still gone. Input validation failed for 't'; t: too long",
    hint: "a key names no row",
  });
});

test("no undo is offered where it would restore something else", async () => {
  answers = [["GET api/records/t/1", '{"id":1,"r":null}'], ["GET api/tables/t", "[]"], ["DELETE", "1"], ["PUT", "1"]];
  await new Deletion(record, []).run();
  expect(lastChange.value?.back).toBeNull();
  expect(lastChange.value?.done).toMatch(/^Deleted t 1. It can't be undone: r may be NaN/);
  await new RecordEdit(record, async () => null).save(new Map([["r", 2]]), new Map());
  expect(lastChange.value?.back).toBeNull();
});

test("tables that refer to a table are known by its columns", () => {
  const table = { writes: { create: true, update: true, remove: true }, required: [], changeable: {}, fields: { id: { "x-referenced": ["chi.par", "chi.other", "a.b.c", "tree.parent"] } } };
  expect(referringTables(table, ["chi", "a", "a.b", "tree"])).toEqual(["chi", "a.b", "tree"]);
  expect(referringTables(table, [])).toEqual(["chi", "a.b", "tree"]);
});
