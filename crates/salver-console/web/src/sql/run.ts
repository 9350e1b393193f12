import { ApiError, type ApiRequest, bodyOf, dataOf, fetchJson, send, unexpected } from "../api";
import type { Column } from "../catalog";
import { inferType } from "../column_type";
import type { Value } from "../data_json";
import { list, object, text } from "../shape";
import { type NamedCall, namedRequest } from "./named";

/** A statement with everything that its answer depends on. */
export interface Statement {
  sql: string;
  /** The JSON text of its parameters. */
  params: string | undefined;
  /** Where the statement is that of a named query: how it is called by its name. */
  named?: NamedCall;
}

/** What a statement gave. */
export interface Result {
  columns: Column[];
  rows: Value[][];
  /** Whether reading stopped at the limit, though there was more. */
  more: boolean;
  /** Whether a NULL among floats may be NaN or infinite. */
  unsure?: boolean;
  /** From the request to the last row that was read, in milliseconds. */
  ms: number;
}

/**
 * The request of a statement. `GET` is for statements that a link brought: the server refuses there to call functions
 * that may change something, so that no link does more than read.
 */
export function sqlRequest(statement: Statement, method: "GET" | "POST"): ApiRequest {
  const { sql, params, named } = statement;
  // Asked by its name it has the rights and the types of parameters that are declared for it, which its text alone has not.
  if (named) return namedRequest(named);
  if (method === "GET") {
    const query: [string, string][] = [["q", sql]];
    if (params !== undefined) query.push(["params", params]);
    return { path: "api/sql", query, sql };
  }
  const body = `{"sql":${JSON.stringify(sql)}${params === undefined ? "" : `,"params":${params}`}}`;
  return { method, path: "api/sql", headers: { "Content-Type": "application/json" }, body, sql };
}

/** The request for all rows of a statement in a format. */
export function fileRequest(statement: Statement, format: string): ApiRequest {
  if (statement.named) return namedRequest(statement.named, format);
  const request = sqlRequest(statement, "GET");
  return { ...request, query: [...(request.query ?? []), ["format", format]] };
}

/** Whether a statement gives the rows of a query, which can be described before they are there. */
function isQuery(sql: string): boolean {
  return /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(?:select|with|from|values|table)\b/i.test(sql);
}

const DESCRIBED = list(object<{ column_name: string; data_type: string }>({ column_name: text, data_type: text }));

/** The columns of a statement with their types. Undefined for what can't be described, such as `SHOW TABLES`. */
async function describe(statement: Statement, method: "GET" | "POST", signal: AbortSignal): Promise<Column[] | undefined> {
  if (statement.named) return statement.named.columns;
  if (!isQuery(statement.sql)) return undefined;
  try {
    const described = sqlRequest({ ...statement, sql: `DESCRIBE ${statement.sql}` }, method);
    const rows = await fetchJson(described, DESCRIBED, signal);
    return rows.map((row) => ({ name: row.column_name, type: row.data_type }));
  } catch {
    // The statement itself tells what is wrong with it.
    return undefined;
  }
}

/** Runs a statement and reads its rows as they come, at most `limit` of them; then the server is told to stop. */
export async function runStatement(
  statement: Statement,
  options: { method: "GET" | "POST"; limit: number; signal: AbortSignal; onRows?: (count: number) => void },
): Promise<Result> {
  const began = performance.now();
  const described = describe(statement, options.method, options.signal);
  const request = sqlRequest(statement, options.method);
  const response = await send({ ...request, headers: { ...request.headers, Accept: "application/x-ndjson" } }, options.signal);
  const { names, rows, more } = await bodyOf(response, () => readRows(response, options.limit, options.onRows));
  const ms = performance.now() - began;
  return { columns: columnsOf((await described) ?? [], names, rows), rows, more, ms };
}

/** Characters that are read for each row of the limit: rows that are much longer are fewer. */
const ROW_CHARACTERS = 1000;

async function readRows(
  response: Response,
  limit: number,
  onRows?: (count: number) => void,
): Promise<{ names: string[]; rows: Value[][]; more: boolean }> {
  const names: string[] = [];
  const rows: Value[][] = [];
  if (!response.body) return { names, rows, more: false };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let read = 0; ; ) {
    const { done, value } = await reader.read();
    read += value?.length ?? 0;
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) {
      if (!line) continue;
      if (rows.length >= limit) {
        await reader.cancel();
        return { names, rows, more: true };
      }
      addRow(rowOf(response, line), names, rows);
    }
    if (done) return { names, rows, more: false };
    if (read > limit * ROW_CHARACTERS) {
      // Where a row has just ended, the next part tells whether that was the last one.
      if (rows.length > 0 && rest === "" && (await reader.read()).done) return { names, rows, more: false };
      await reader.cancel();
      if (rows.length) return { names, rows, more: true };
      throw new ApiError(0, "too_large", "The first row is too long to be shown.", "Select fewer columns, or a part of long texts: left(text, 1000).", null);
    }
    onRows?.(rows.length);
  }
}

function rowOf(response: Response, line: string): Map<string, Value> {
  const row = dataOf(response, line);
  if (!(row instanceof Map)) throw unexpected(response, "It has something else than rows");
  return row;
}

function addRow(row: Map<string, Value>, names: string[], rows: Value[][]): void {
  // Where nulls are left out, a later row may have columns that the first ones lacked.
  for (const name of row.keys()) if (!names.includes(name)) names.push(name);
  rows.push(names.map((name) => row.get(name) ?? null));
}

function columnsOf(described: Column[], names: string[], rows: Value[][]): Column[] {
  const fits = names.every((name, index) => described[index]?.name === name);
  if (described.length && fits) return described;
  return names.map((name, index) => ({ name, type: inferType(rows.map((row) => row[index] ?? null)) }));
}
