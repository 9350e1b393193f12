import { effect } from "@preact/signals";
import { ApiError, type ApiRequest, type Page, apiPath, fetchData, fetchEvents, fetchPage, fetchRows, rowsOf } from "../api";
import { type Entry, type TableColumn, catalog, recordsName } from "../catalog";
import { kindOf } from "../column_type";
import { base64OfHex } from "../records/bytes_text";
import { readRecord, shownValue } from "../records/record";
import { type RecordName, recordRequest } from "../records/record_request";
import { type Filter, describeFilter, splitList, unquote } from "./filters";
import type { ViewState } from "./view_state";

/** A page of rows; those that are read as the database has them say why. */
export type ShownPage = Page & {
  /** Why the rows could not be read by the types of their columns; `null` where they are. */
  unreadable: ApiError | null;
  /** The request that they came with. */
  request: ApiRequest;
};

/**
 * Whether an error says that a row has a value that is none of its column's type, as databases without fixed types may
 * have, or one that the type can't represent. `/api/records` shows such values as they are.
 */
export function isUnreadable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.word === "query_execution" && /\/api\/records\b/.test(error.hint ?? "");
}

/** Reads a page of rows: by the types of the columns, or as the database has them where that is not possible. */
export async function fetchShownPage(entry: Entry, state: ViewState, request: ApiRequest, also: string[], signal: AbortSignal): Promise<ShownPage> {
  try {
    return { ...(await fetchPage(request, signal)), unreadable: null, request };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const table = recordsName(entry, await knownTables());
    const stored = table === null ? null : storedRequest(table, entry, state, also);
    if (!stored) throw error;
    const { events, cut } = await fetchEvents(stored, signal);
    const { columns, rows } = rowsOf(events);
    return { columns, rows: rows.map((row) => row.map((value, at) => shownValue(entry, columns[at] ?? "", value))), headers: new Headers(), cut, unreadable: error, request: stored };
  }
}

/** Reads the one row of a request, as `record` where it can't be read by the types of its columns. */
export async function fetchShownRow(request: ApiRequest, record: RecordName | null, signal: AbortSignal): Promise<ShownPage> {
  try {
    return { ...(await fetchRows(request, signal)), cut: false, unreadable: null, request };
  } catch (error) {
    if (!isUnreadable(error) || record === null) throw error;
    const { values } = await readRecord(record, signal);
    const row = [...values].map(([name, value]) => shownValue(record.entry, name, value));
    return { columns: [...values.keys()], rows: [row], headers: new Headers(), cut: false, unreadable: error, request: recordRequest(record, "GET") };
  }
}

/** Counts the rows of a view as the database has them, where its conditions are on a value that can't be read. */
export async function countStored(entry: Entry, state: ViewState, error: unknown, signal: AbortSignal): Promise<number> {
  const table = isUnreadable(error) ? recordsName(entry, await knownTables()) : null;
  const request = table === null ? null : storedRequest(table, entry, { ...state, page: 1, limit: 1 }, []);
  const answer = request && (await fetchData(request, signal));
  const count = answer instanceof Map ? Number(answer.get("results")) : NaN;
  if (!Number.isInteger(count)) throw error;
  return count;
}

/** The tables of databases, once they are known. */
function knownTables(): Promise<Map<string, TableColumn[]>> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const all = catalog.value;
      if (!all || all.awaited.has("columns")) return;
      resolve(all.tables);
      queueMicrotask(() => stop());
    });
  });
}

/** The request for the rows of a view at `/api/records`; `null` where its grammar can't say what is shown. */
export function storedRequest(table: string, entry: Entry, state: ViewState, also: string[]): ApiRequest | null {
  // There, names with these are of columns of other tables, or several.
  const isPlain = (name: string) => !/[,.]/.test(name);
  const conditions = state.filters.map((filter) => (isPlain(filter.column) ? storedCondition(filter, entry) : null));
  if (state.groups.length > 0 || conditions.includes(null) || !state.sort.every(({ column }) => isPlain(column))) return null;
  const names = [...new Set([...state.columns.map(({ name }) => name), ...also])];
  const query: [string, string][] = [];
  if (names.length < entry.columns.length && names.every(isPlain)) query.push(["include", names.join(",")]);
  for (const condition of conditions) query.push(["filter", condition ?? ""]);
  for (const { column, descending } of state.sort) query.push(["order", `${column},${descending ? "desc" : "asc"}`]);
  query.push(["page", `${state.page},${state.limit}`], ["strict", "1"]);
  return { path: apiPath("records", table), query };
}

const OPERATORS: Record<string, string> = { eq: "eq", ne: "neq", lt: "lt", lte: "le", gt: "gt", gte: "ge", contains: "cs", starts: "sw", in: "in", nin: "nin", null: "is", not_null: "nis" };

function storedCondition(filter: Filter, entry: Entry): string | null {
  const { column, value } = filter;
  const { comparison, text } = describeFilter(filter);
  const operator = OPERATORS[comparison];
  if (operator === undefined) return null;
  if (operator === "is" || operator === "nis") return `${column},${operator}`;
  if (/^null$/i.test(value) && (comparison === "eq" || comparison === "ne")) return `${column},${comparison === "eq" ? "is" : "nis"}`;
  const isBinary = kindOf(entry.columns.find(({ name }) => name === column)?.type) === "binary";
  const written = (one: string) => (isBinary ? base64OfHex(one) : one);
  if (operator !== "in" && operator !== "nin") return `${column},${operator},${written(text)}`;
  const parts = splitList(value).map(unquote);
  return parts.some((part) => part.includes(",")) ? null : `${column},${operator},${parts.map(written).join(",")}`;
}
