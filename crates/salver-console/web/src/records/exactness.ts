import { type ApiRequest, fetchData } from "../api";
import { isNumeric, kindOf } from "../column_type";
import type { Column } from "../catalog";
import type { Value } from "../data_json";
import { writeFilter } from "../entry/filters";
import { rowRequest } from "../entry/row_request";
import { quoteName } from "../entry/view_state";
import { hexOfBase64 } from "./bytes_text";
import type { RecordName } from "./record_request";

const NUMBER = /^-?(\d+(\.\d+)?([eE][-+]?\d+)?|NaN|Infinity)$/;

/**
 * Why some of the values that `/api/records` shows of a row could not be written back as they are in the database, in
 * words; `null` where all can. JSON has null for NaN, and the same text for bytes in base64 and for a text that looks
 * so, which databases without fixed types have in the same column.
 */
export async function whyInexact(record: RecordName, values: Map<string, Value>): Promise<string | null> {
  const columns = record.entry.columns.filter(({ name }) => values.has(name));
  const ofAnotherType = columns.filter((column) => hasAnotherType(column, values.get(column.name) ?? null));
  if (ofAnotherType.length > 0) return `${namesOf(ofAnotherType)} has a value of another type than its column`;

  const nulls = columns.filter(({ name, type }) => /^Float/.test(type) && values.get(name) === null);
  const encoded = columns.filter((column) => mayBeEncoded(column, values.get(column.name) ?? null));
  if (nulls.length === 0 && encoded.length === 0) return null;
  let found: Map<string, Value> | null;
  try {
    found = await readShown(record, nulls, encoded);
  } catch {
    return `${namesOf([...nulls, ...encoded])} can't be compared with what the database has`;
  }
  if (!found) return `${namesOf(nulls)} may be NaN or infinite, which looks like NULL here`;
  const different = encoded.filter((column) => !isSame(column, values.get(column.name) ?? null, found.get(column.name) ?? null));
  return different.length > 0 ? `${namesOf(different)} has text where its column has bytes, or bytes where it has text` : null;
}

const namesOf = (columns: Column[]) => columns.map(({ name }) => name).join(", ");

/** Whether a value is one that its column would not take from a client, as SQLite may have in any column. */
function hasAnotherType({ type }: Column, value: Value): boolean {
  const kind = kindOf(type);
  if (kind === "boolean") return typeof value === "string";
  if (!isNumeric(kind) || value === null) return false;
  return kind === "integer" ? !/^-?\d+$/.test(String(value)) : /^Float/.test(type) && !NUMBER.test(String(value));
}

/** Whether a value may be bytes in base64, or a text that looks so. */
function mayBeEncoded({ type }: Column, value: Value): boolean {
  if (typeof value !== "string" || value === "") return false;
  const kind = kindOf(type);
  return kind === "binary" || (kind === "text" && hexOfBase64(value) !== null);
}

/** Whether a value in base64, or a text that looks so, is what the other APIs show of it. */
function isSame({ type }: Column, value: Value, shown: Value): boolean {
  return kindOf(type) === "binary" ? hexOfBase64(String(value)) === shown : value === shown;
}

/** What `/api/tables` shows of some columns; `null` if others are not NULL in the database. */
async function readShown(record: RecordName, nulls: Column[], shown: Column[]): Promise<Map<string, Value> | null> {
  const { entry, keyColumns, key } = record;
  const request: ApiRequest = rowRequest(entry, keyColumns, key);
  const columns: [string, string] = ["columns", [...new Set([...keyColumns, ...shown.map(({ name }) => name)])].map(quoteName).join(",")];
  const conditions = nulls.map(({ name }) => writeFilter({ column: name, operator: "null", value: "true" }));
  const rows = await fetchData({ ...request, query: [columns, ...(request.query ?? []), ...conditions] });
  const [row] = Array.isArray(rows) ? rows : [];
  if (row instanceof Map) return row;
  if (nulls.length === 0) throw new Error("the row is gone");
  return null;
}
