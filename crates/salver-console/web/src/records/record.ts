import { signal } from "@preact/signals";
import { ApiError, type ApiRequest, apiPath, dataOf, send, textOf } from "../api";
import { type Value, writeData } from "../data_json";

/** A row of a table as `/api/records` has it, with the tag of its state. */
export interface TaggedRecord {
  values: Map<string, Value>;
  tag: string | null;
}

/** Values to write, by column. A number is written with the digits it has. */
export type Changes = Map<string, Value>;

/** The last change, as far as it can be taken back. */
export interface Undo {
  /** What was done, in words. */
  done: string;
  /** Takes it back; `null` where that can't be done. */
  back: (() => Promise<void>) | null;
}

/** The last change of this visit. */
export const lastChange = signal<Undo | null>(null);

/** Counts the changes, so that what shows rows reads them again. */
export const changeCount = signal(0);

/** A row by its table and its key. */
export interface RecordName {
  table: string;
  keyColumns: string[];
  key: string[];
}

/** The row in words. */
const nameOf = ({ table, key }: RecordName) => `${table} ${key.join(", ")}`;

/**
 * The request for a row: by its key in the path, with `~` between several values, or by conditions where a value has a
 * character that means something in the path. A change by conditions must say how many rows it may touch.
 */
function recordRequest(record: RecordName, method: string): ApiRequest {
  const { table, keyColumns, key } = record;
  if (!key.some((value) => /[,~]/.test(value))) return { method, path: apiPath("records", table, key.join("~")) };
  const query = keyColumns.map((name, index): [string, string] => ["filter", `${name},eq,${key[index]}`]);
  if (method !== "GET") query.push(["max_affected", "1"]);
  return { method, path: apiPath("records", table), query };
}

/** Sends a change whose answer is only that it was made. */
async function write(request: ApiRequest): Promise<void> {
  await textOf(await send(request));
}

/** Reads a row, with its tag where it is read by its key. */
export async function readRecord(record: RecordName, signal?: AbortSignal): Promise<TaggedRecord> {
  const response = await send(recordRequest(record, "GET"), signal);
  const data = dataOf(response, await textOf(response));
  const listed = data instanceof Map ? data.get("records") : undefined;
  const values = Array.isArray(listed) ? listed[0] : data;
  if (!(values instanceof Map)) throw new ApiError(404, "record_not_found", "There is no such row.", null, null);
  return { values, tag: Array.isArray(listed) ? null : response.headers.get("etag") };
}

/** The request that changes a row, if it is still what it was. */
function updateRequest(record: RecordName, changes: Changes, tag: string | null): ApiRequest {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (tag) headers["If-Match"] = tag;
  return { ...recordRequest(record, "PUT"), headers, body: writeData(changes) };
}

/** Changes a row, and keeps the way back. */
async function updateRecord(record: RecordName, before: TaggedRecord, changes: Changes): Promise<void> {
  await write(updateRequest(record, changes, before.tag));
  const names = [...changes.keys()];
  const old: Changes = new Map(names.map((name) => [name, before.values.get(name) ?? null]));
  const after = await readRecord(record).catch(() => null);
  changed(`Changed ${names.join(", ")} of ${nameOf(record)}`, after && (() => write(updateRequest(record, old, after.tag))));
}

/**
 * The change of one row by a person, who may take long over it: it is written only if the row is still what it was when
 * the editor was opened. If it is not, the rows in sight are read again, and a second try writes over what is there.
 */
export class RecordEdit {
  private before: Promise<TaggedRecord>;

  constructor(private readonly record: RecordName) {
    this.before = this.read();
  }

  async save(changes: Changes): Promise<void> {
    try {
      await updateRecord(this.record, await this.before, changes);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      this.before = this.read();
      changeCount.value++;
      throw new ApiError(412, error.word, "Somebody else changed the row meanwhile", "Save again to write over it, or cancel to see what it is now.", error.body);
    }
  }

  private read(): Promise<TaggedRecord> {
    const reading = readRecord(this.record);
    // Whoever saves is told; until then nobody waits for it.
    reading.catch(() => undefined);
    return reading;
  }
}

/** Creates a row; the answer is its key. */
export async function createRecord(table: string, keyColumns: string[], values: Changes): Promise<string[] | null> {
  const response = await send({
    method: "POST",
    path: apiPath("records", table),
    query: [["returning", "*"]],
    headers: { "Content-Type": "application/json" },
    body: writeData(values),
  });
  const row = dataOf(response, await textOf(response));
  const key = row instanceof Map && keyColumns.length ? keyColumns.map((name) => String(row.get(name) ?? "")) : null;
  changed(`Created ${table}${key ? ` ${key.join(", ")}` : ""}`, key && (() => write(recordRequest({ table, keyColumns, key }, "DELETE"))));
  return key;
}

/** Deletes a row. It can be brought back, as the key is part of what is written then. */
export async function deleteRecord(record: RecordName, before: TaggedRecord): Promise<void> {
  const headers: Record<string, string> = before.tag ? { "If-Match": before.tag } : {};
  await write({ ...recordRequest(record, "DELETE"), headers });
  changed(`Deleted ${nameOf(record)}`, () =>
    write({ method: "POST", path: apiPath("records", record.table), headers: { "Content-Type": "application/json" }, body: writeData(before.values) }),
  );
}

function changed(done: string, back: (() => Promise<unknown>) | null): void {
  lastChange.value = {
    done,
    back:
      back &&
      (async () => {
        await back();
        lastChange.value = { done: "Taken back", back: null };
        changeCount.value++;
      }),
  };
  changeCount.value++;
}

/** The errors of single columns in an answer, by column. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  const details = error.body && typeof error.body === "object" && "details" in error.body ? error.body.details : null;
  const found: Record<string, string> = {};
  if (details && typeof details === "object") for (const [name, message] of Object.entries(details)) found[name] = String(message);
  // What a database refuses is told as `table.column must have a value`.
  const named = /\.([^.\s]+) must have a value/.exec(`${error.hint ?? ""} ${error.message}`)?.[1];
  if (named) found[named] = "must have a value";
  return found;
}
