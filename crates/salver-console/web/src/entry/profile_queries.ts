import { type ApiRequest, fetchRows } from "../api";
import type { Bin } from "../chart/view";
import { isNumeric, isTemporal, kindOf, numberOf } from "../column_type";
import type { Column, Entry } from "../catalog";
import type { Value } from "../data_json";
import { sqlName, sqlWhere } from "./filters";
import type { ViewState } from "./view_state";

/** From how many rows on distinct values are estimated. */
const EXACT_ROWS = 1_000_000;
const TOP_VALUES = 6;
/** More than a cell shows of a text, so that it still tells that there is more. */
const SHOWN_CHARACTERS = 2000;

/** The figures of a column under the conditions that hold. */
export interface Profile {
  rows: number;
  filled: number;
  /** `null` for what has no equality, or no estimate. */
  distinct: number | null;
  estimated: boolean;
  least: Value;
  most: Value;
  mean: Value;
}

/** A statement for `/api/sql`. */
export function sqlRequest(sql: string): ApiRequest {
  return { method: "POST", path: "api/sql", headers: { "Content-Type": "text/plain" }, body: sql, sql };
}

/** Whether a column has a distribution over numbers or time. */
export function hasHistogram(column: Column): boolean {
  const kind = kindOf(column.type);
  return isNumeric(kind) || isTemporal(kind);
}

/** The `where` of the view with one more condition; `null` where a condition has no counterpart in SQL. */
function whereOf(entry: Entry, state: ViewState, extra: string[] = []): string | null {
  return state.groups.length ? null : sqlWhere(state.filters, entry.columns, extra);
}

/** The request for the figures of a column; `null` where the conditions can't be said in SQL. */
export function profileRequest(entry: Entry, state: ViewState, column: Column): ApiRequest | null {
  const where = whereOf(entry, state);
  if (where === null) return null;
  const kind = kindOf(column.type);
  const name = sqlName(column.name);
  const parts = ["count(*) as n_rows", `count(${name}) as n_filled`];
  const estimated = (entry.rows ?? 0) > EXACT_ROWS;
  if (kind !== "nested" && kind !== "other" && !(estimated && kind !== "integer" && kind !== "text")) {
    parts.push(estimated ? `approx_distinct(${name}) as n_distinct` : `count(distinct ${name}) as n_distinct`);
  }
  // Of a long text the beginning is shown.
  const shown = (value: string) => (kind === "text" ? `left(${value}, ${SHOWN_CHARACTERS})` : value);
  if (!["nested", "binary", "boolean", "other"].includes(kind)) parts.push(`${shown(`min(${name})`)} as least`, `${shown(`max(${name})`)} as most`);
  if (isNumeric(kind)) parts.push(`avg(${name}) as mean`);
  return sqlRequest(`select ${parts.join(", ")} from ${sqlName(entry.name)}${where}`);
}

/** The figures of a column. */
export async function fetchProfile(entry: Entry, request: ApiRequest, signal: AbortSignal): Promise<Profile> {
  const { columns, rows } = await fetchRows(request, signal);
  const value = (name: string) => rows[0]?.[columns.indexOf(name)] ?? null;
  const distinct = value("n_distinct");
  return {
    rows: Number(value("n_rows")),
    filled: Number(value("n_filled")),
    distinct: distinct === null ? null : Number(distinct),
    estimated: (entry.rows ?? 0) > EXACT_ROWS,
    least: value("least"),
    most: value("most"),
    mean: value("mean"),
  };
}

/** The request for a distribution in bars of equal width; `null` where the conditions can't be said in SQL. */
export function histogramRequest(entry: Entry, state: ViewState, column: Column, bars: number): ApiRequest | null {
  const kind = kindOf(column.type);
  const name = sqlName(column.name);
  // What is infinite or no number lies in no bar.
  const finite = column.type.startsWith("Float") ? [`abs(${name}) < 1e300`] : [`${name} is not null`];
  const where = whereOf(entry, state, finite);
  if (where === null) return null;
  const number = isTemporal(kind) ? `extract(epoch from ${name})::double` : `${name}::double`;
  return sqlRequest(
    `with v as (select ${number} as x from ${sqlName(entry.name)}${where}), ` +
      "r as (select min(x) as lo, max(x) as hi from v) " +
      `select least(coalesce(floor((v.x - r.lo) / nullif(r.hi - r.lo, 0) * ${bars}), 0), ${bars - 1})::bigint as bar, min(r.lo) as lo, max(r.hi) as hi, count(*) as n ` +
      "from v cross join r group by 1 order by 1",
  );
}

/** The distribution of a column, with the bars that have no rows. */
export async function fetchHistogram(request: ApiRequest, bars: number, signal: AbortSignal): Promise<Bin[]> {
  const { columns, rows } = await fetchRows(request, signal);
  const [bar, lo, hi, n] = ["bar", "lo", "hi", "n"].map((name) => columns.indexOf(name)) as [number, number, number, number];
  const first = rows[0];
  if (!first) return [];
  const from = numberOf(first[lo] ?? null) ?? 0;
  const to = numberOf(first[hi] ?? null) ?? 0;
  if (from === to) return [{ from, to, count: Number(first[n]) }];
  const width = (to - from) / bars;
  const counts = new Map(rows.map((row) => [Number(row[bar]), Number(row[n])]));
  return Array.from({ length: bars }, (_, index) => ({ from: from + index * width, to: from + (index + 1) * width, count: counts.get(index) ?? 0 }));
}

/** The request for the most frequent values of a column. */
export function topRequest(entry: Entry, state: ViewState, column: Column): ApiRequest | null {
  const name = sqlName(column.name);
  const where = whereOf(entry, state, [`${name} is not null`]);
  return where === null ? null : sqlRequest(`select ${name} as v, count(*) as n from ${sqlName(entry.name)}${where} group by 1 order by 2 desc, 1 limit ${TOP_VALUES}`);
}
