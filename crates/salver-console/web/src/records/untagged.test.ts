import { beforeEach, expect, test, vi } from "vitest";
import type { Entry } from "../catalog";
import { ExactNumber, type Value, parseData, writeData } from "../data_json";
import type { RecordName } from "./record_request";

vi.stubGlobal("document", { baseURI: "http://server/", cookie: "" });
vi.stubGlobal("location", new URL("http://server/"));
vi.stubGlobal("sessionStorage", { getItem: () => null });
const { EditConflict, RecordEdit } = await import("./record_edit");
const { lastChange, createRecord } = await import("./record");
const { Deletion } = await import("./deletion");
const { seenConditions } = await import("./untagged");

const columns = Object.entries({ k: "Utf8", v: "Utf8", n: "Int64", f: "Float64", s: "Float32", b: "Binary", "a,b": "Utf8" }).map(([name, type]) => ({ name, type }));
const RECORD: RecordName = { table: "t", entry: { name: "t", columns } as Entry, keyColumns: ["k"], key: ["i,j"] };

/** A table of one row that is found by conditions only, `null` where it is gone; what was asked to change. */
let row: Map<string, Value> | null = null;
let asked: URLSearchParams[] = [];
/** What somebody else does before the next change arrives. */
let meanwhile: () => void = () => undefined;
/** Whether the database finds a value by what it shows of it. */
let finds = true;

function fits(filter: string): boolean {
  const [, name = "", , value] = /^([^,]*),(eq|is)(?:,(.*))?$/s.exec(filter) ?? [];
  const now = row?.get(name) ?? null;
  return value === undefined ? now === null : finds || name === "k" ? String(now) === value : false;
}

vi.stubGlobal("fetch", async (url: string, { method, body }: { method: string; body?: string }) => {
  const query = new URL(url).searchParams;
  if (method !== "GET") {
    asked.push(query);
    meanwhile();
    meanwhile = () => undefined;
  }
  const found = row !== null && query.getAll("filter").every(fits);
  const answer = (value: Value) => new Response(writeData(value), { headers: { "content-type": "application/json" } });
  if (method === "GET") return answer(new Map([["records", found && row ? [row] : []]]));
  if (method === "POST") {
    row = parseData(body ?? "{}") as Map<string, Value>;
    return answer(row);
  }
  if (found && method === "DELETE") row = null;
  if (found && method === "PUT") row = new Map([...(row ?? []), ...(parseData(body ?? "{}") as Map<string, Value>)]);
  return answer(found ? 1 : 0);
});

const values = (changes: Record<string, Value> = {}): Map<string, Value> => new Map(Object.entries({ k: "i,j", v: "old", n: 1, f: new ExactNumber("1.50"), s: 0.1, b: null, "a,b": "x", ...changes }));
const change = (changes: Record<string, Value>) => () => (row = row && new Map([...row, ...Object.entries(changes)]));
const edit = () => new RecordEdit(RECORD, async () => null);
const of = (changes: Record<string, Value>): Map<string, Value> => new Map(Object.entries(changes));

beforeEach(() => {
  row = values();
  asked = [];
  finds = true;
  lastChange.value = null;
});

test("a row without a tag is changed only as it was seen, whenever somebody else comes", async () => {
  const early = edit();
  await early.now();
  change({ v: "theirs" })();
  await expect(early.save(of({ v: "mine" }), of({ v: "old" }))).rejects.toBeInstanceOf(EditConflict);
  expect(row?.get("v")).toBe("theirs");

  row = values();
  const late = edit();
  await late.now();
  meanwhile = change({ v: "theirs" });
  await expect(late.save(of({ v: "mine" }), of({ v: "old" }))).rejects.toThrow("v is now “theirs”");
  expect(row?.get("v")).toBe("theirs");
});

test("a change of another column is in nobody's way", async () => {
  const opened = edit();
  await opened.now();
  meanwhile = change({ n: 2 });
  await opened.save(of({ v: "mine" }), of({ v: "old" }));
  expect([row?.get("v"), row?.get("n")]).toEqual(["mine", 2]);
});

test("where a database does not find its values by what it shows, the row is compared by itself", async () => {
  finds = false;
  const opened = edit();
  await opened.save(of({ v: "mine" }), of({ v: "old" }));
  expect(row?.get("v")).toBe("mine");
  meanwhile = change({ n: 7 });
  await expect(new Deletion(RECORD, []).run()).rejects.toThrow("Somebody else changed the row meanwhile");
  expect(row).not.toBeNull();
});

test("an undo does not write over what somebody else did since", async () => {
  await edit().save(of({ v: "mine" }), of({ v: "old" }));
  change({ v: "theirs" })();
  await expect(lastChange.value?.back?.()).rejects.toThrow("It was not taken back: somebody else changed the row since");
  expect(row?.get("v")).toBe("theirs");

  row = values();
  await edit().save(of({ v: "mine" }), of({ v: "old" }));
  await lastChange.value?.back?.();
  expect(row?.get("v")).toBe("old");
  await edit().save(of({ v: "mine" }), of({ v: "old" }));
  row = null;
  await expect(lastChange.value?.back?.()).rejects.toThrow("It was not taken back: somebody else deleted the row since");
});

test("a new row that somebody else changed is not taken back", async () => {
  await createRecord(RECORD.entry, "t", ["k"], values());
  change({ v: "theirs" })();
  await expect(lastChange.value?.back?.()).rejects.toThrow("somebody else changed the row since");
  expect(row).not.toBeNull();
});

test("conditions name what can be compared", () => {
  const conditions = seenConditions(RECORD, values({ f: null, v: "a, b\n", n: null })).map(([, condition]) => condition);
  // Not the key, floats of 32 bits, a null that may be NaN, nor a name that means something else in a condition.
  expect(conditions).toEqual(["v,eq,a, b\n", "n,is", "b,is"]);
  expect(seenConditions(RECORD, values({ v: "x".repeat(5000), n: "" })).map(([, condition]) => condition)).toEqual(["n,eq,", "f,eq,1.50", "b,is"]);
});
