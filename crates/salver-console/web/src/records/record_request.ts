import { type ApiRequest, apiPath } from "../api";
import { kindOf } from "../column_type";
import type { Entry } from "../catalog";
import { isSegment } from "../entry/row_address";
import { base64OfHex } from "./bytes_text";

/** A row by its table and its key. */
export interface RecordName {
  /** The name of the table at `/api/records`. */
  table: string;
  /** The same table as an entry, which knows the types of its columns. */
  entry: Entry;
  keyColumns: string[];
  /** The values of the key as grids show them: bytes in hexadecimal. */
  key: string[];
}

/** A key in words. */
export function keyText(key: string[]): string {
  return key.map((value) => (value.trim() === "" ? `"${value}"` : value)).join(", ");
}

/** The row in words. */
export function nameOf({ table, key }: RecordName): string {
  return `${table} ${keyText(key)}`;
}

/** Whether values of a column are bytes. */
export function isBinary(entry: Entry, column: string): boolean {
  return kindOf(entry.columns.find(({ name }) => name === column)?.type) === "binary";
}

/**
 * The request for a row: by its key in the path, with `~` between several values, or by conditions where a value means
 * something else in a path. A change by conditions must say how many rows it may touch.
 */
export function recordRequest({ table, entry, keyColumns, key }: RecordName, method: string): ApiRequest {
  const written = key.map((value, index) => (isBinary(entry, keyColumns[index] ?? "") ? base64OfHex(value) : value));
  if (written.every((value) => isSegment(value) && !/[,~]/.test(value))) return { method, path: apiPath("records", table, written.join("~")) };
  const query = keyColumns.map((name, index): [string, string] => ["filter", `${name},eq,${written[index]}`]);
  // Otherwise a condition that can't be read would be left out, and another row be found.
  query.push(method === "GET" ? ["strict", "1"] : ["max_affected", "1"]);
  return { method, path: apiPath("records", table), query };
}
