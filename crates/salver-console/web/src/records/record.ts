import { signal } from "@preact/signals";
import { ApiError, type ApiRequest, apiPath, dataOf, send, textOf } from "../api";
import type { Entry } from "../catalog";
import { type Value, writeData } from "../data_json";
import { hexOfBase64 } from "./bytes_text";
import { likeBefore } from "./draft";
import { whyInexact } from "./exactness";
import { type RecordName, isBinary, keyText, nameOf, recordRequest } from "./record_request";
import { writeUntagged } from "./untagged";

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

/** Changes a row, or deletes it without changes, if it is still what was seen of it. */
async function writeIfSame(record: RecordName, seen: TaggedRecord, changes: Changes | null): Promise<void> {
  const method = changes ? "PUT" : "DELETE";
  const headers: Record<string, string> = changes ? { "Content-Type": "application/json" } : {};
  const body = changes ? { body: writeData(changes) } : {};
  if (seen.tag) return write({ ...recordRequest(record, method), ...body, headers: { ...headers, "If-Match": seen.tag } });
  return writeUntagged(record, seen.values, async () => (await readRecord(record)).values, { ...body, headers, method });
}

/** Changes a row, and keeps the way back. */
export async function updateRecord(record: RecordName, before: TaggedRecord, typed: Changes): Promise<void> {
  const changes: Changes = new Map([...typed].map(([name, value]) => [name, likeBefore(value, before.values.get(name) ?? null)]));
  const names = [...changes.keys()];
  const old: Changes = new Map(names.map((name) => [name, before.values.get(name) ?? null]));
  // While it is still there. Should it change before it is written over, its tag does, too.
  const whyFinal = await whyInexact(record, old);
  await writeIfSame(record, before, changes);
  const done = `Changed ${names.join(", ")} of ${nameOf(record)}`;
  if (whyFinal !== null) return changed(`${done}. It can't be undone: ${whyFinal}`, null);
  const after = await readRecord(record).catch(() => null);
  changed(done, after && (() => undoing(writeIfSame(record, after, old), "The row is still as it was changed")));
}

/** Creates a row; the answer is its key. */
export async function createRecord(entry: Entry, table: string, keyColumns: string[], values: Changes): Promise<string[] | null> {
  const response = await send({
    method: "POST",
    path: apiPath("records", table),
    query: [["returning", "*"]],
    headers: { "Content-Type": "application/json" },
    body: writeData(values),
  });
  const row = dataOf(response, await textOf(response));
  const key = row instanceof Map && keyColumns.length ? keyColumns.map((name) => String(shownValue(entry, name, row.get(name) ?? null) ?? "")) : null;
  const record = key && { table, entry, keyColumns, key };
  const after = record && (await readRecord(record).catch(() => null));
  changed(`Created ${table}${key ? ` ${keyText(key)}` : ""}`, after && (() => undoing(writeIfSame(record, after, null), "The row is still there")));
  return key;
}

/** A value in an answer of `/api/records` as grids show it. */
export function shownValue(entry: Entry, column: string, value: Value): Value {
  return typeof value === "string" && isBinary(entry, column) ? (hexOfBase64(value) ?? value) : value;
}

/**
 * Deletes a row, and keeps the way back unless something says why there is none. `referring` are tables whose rows may
 * have gone with it.
 */
export async function deleteRecord(record: RecordName, before: TaggedRecord, whyFinal: string | null, referring: string[]): Promise<void> {
  await writeIfSame(record, before, null);
  const insert: ApiRequest = { method: "POST", path: apiPath("records", record.table), headers: { "Content-Type": "application/json" }, body: writeData(before.values) };
  const alone = referring.length > 0 ? `. Undo brings back this row, and none of ${referring.join(", ")}` : "";
  const done = `Deleted ${nameOf(record)}`;
  if (whyFinal !== null) changed(`${done}. It can't be undone: ${whyFinal}`, null);
  else changed(done + alone, () => undoing(write(insert), "The row is still gone"));
}

/** Whether an error says that the row is not there: by the code of `/api/records`, or as it is told above. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && (error.word === "1003" || error.word === "record_not_found");
}

/** A try to take a change back: where it fails, the error says what is so still, and which column is to blame. */
async function undoing(trying: Promise<void>, still: string): Promise<void> {
  try {
    await trying;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 412 || isGone(error)) {
      const [what, hint] = isGone(error) ? ["deleted the row", null] : ["changed the row", "The page of the row shows what it is now; change it there."];
      throw new ApiError(error.status, error.word, `It was not taken back: somebody else ${what} since`, hint, error.body, error.asked);
    }
    const columns = Object.entries(fieldErrors(error)).map(([name, message]) => `${name}: ${message}`);
    const why = [error.message, ...columns].join("; ");
    throw new ApiError(error.status, error.word, `${still}. ${why}`, error.hint, error.body, error.asked);
  }
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
