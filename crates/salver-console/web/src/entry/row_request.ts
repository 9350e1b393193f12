import { type ApiRequest, apiPath, fetchRows, isAborted } from "../api";
import type { Entry } from "../catalog";
import type { Value } from "../data_json";
import { buildFilter, sqlName, sqlWhere, writeFilter } from "./filters";
import { readSpecialNumbers } from "./special_numbers";

/** The request for one row, by its key as grids show it. */
export function rowRequest(entry: Entry, keyColumns: string[], key: string[]): ApiRequest {
  const filters = keyColumns.map((name, index) => buildFilter(entry.columns.find((column) => column.name === name) ?? { name, type: "Utf8" }, "eq", key[index] ?? ""));
  return {
    path: apiPath("tables", entry.name),
    query: [...filters.map(writeFilter), ["limit", "1"]],
    sql: `select * from ${sqlName(entry.name)}${sqlWhere(filters, entry.columns) ?? ""}`,
  };
}

/** Reads the row of a request, with NaN and infinities as grids show them; `null` where there is none. */
export async function readRow(entry: Entry, request: ApiRequest): Promise<Map<string, Value> | null> {
  const data = await fetchRows(request);
  const special = await readSpecialNumbers(data, entry.columns, request).catch((error: unknown) => {
    if (isAborted(error)) throw error;
    return null;
  });
  const [row] = special ?? data.rows;
  return row ? new Map(data.columns.map((name, index) => [name, row[index] ?? null])) : null;
}
