import { type ApiRequest, fetchRows } from "../api";
import type { Bin } from "../chart/view";
import { isNumeric, isTemporal, kindOf, numberOf } from "../column_type";
import type { Column, Entry } from "../catalog";
import type { Value } from "../data_json";
import { sqlName, sqlWhere } from "./filters";
import type { ViewState } from "./view_state";

/** From how many rows on distinct values are estimated. */
export const EXACT_ROWS = 1_000_000;
/** With more texts than these, the most frequent ones are looked for among the first rows. */
const MANY_VALUES = 10_000;
/** Columns whose figures one statement computes. */
const TOGETHER = 12;
/** How many of a unit of time are a second; numbers have none. */
const UNITS: Record<string, number> = { "1": 1, day: 1 / 86_400, s: 1, ms: 1e3, us: 1e6, "µs": 1e6, ns: 1e9 };
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

/** The request for the figures of some columns; `null` where the conditions can't be said in SQL. */
export function profileRequest(entry: Entry, state: ViewState, columns: Column[]): ApiRequest | null {
  const where = whereOf(entry, state);
  if (where === null) return null;
  const parts = ["count(*) as n_rows", ...columns.flatMap((column, index) => figures(column, index, (entry.rows ?? 0) > EXACT_ROWS))];
  return sqlRequest(`select ${parts.join(", ")} from ${sqlName(entry.name)}${where}`);
}

/** What is computed of a column, under names that end in its place. */
function figures(column: Column, index: number, estimated: boolean): string[] {
  const kind = kindOf(column.type);
  const name = sqlName(column.name);
  const parts = [`count(${name}) as filled_${index}`];
  if (kind !== "nested" && kind !== "other" && !(estimated && kind !== "integer" && kind !== "text")) {
    parts.push(`${estimated ? `approx_distinct(${name})` : `count(distinct ${name})`} as distinct_${index}`);
  }
  // Of a long text the beginning is shown.
  const shown = (value: string) => (kind === "text" ? `left(${value}, ${SHOWN_CHARACTERS})` : value);
  if (!["nested", "binary", "boolean", "other"].includes(kind)) parts.push(`${shown(`min(${name})`)} as least_${index}`, `${shown(`max(${name})`)} as most_${index}`);
  if (isNumeric(kind)) parts.push(`avg(${name}) as mean_${index}`);
  return parts;
}

interface Asked {
  entry: Entry;
  state: ViewState;
  column: Column;
  signal: AbortSignal;
  resolve: (profile: Profile) => void;
  reject: (error: unknown) => void;
}

let asked: Asked[] = [];

/** The figures of a column. Columns that are asked for together are read in one scan. */
export function fetchProfile(entry: Entry, state: ViewState, column: Column, signal: AbortSignal): Promise<Profile> {
  return new Promise((resolve, reject) => {
    if (asked.length === 0) setTimeout(askTogether);
    asked.push({ entry, state, column, signal, resolve, reject });
  });
}

function askTogether(): void {
  const groups = new Map<string, Asked[]>();
  for (const one of asked) {
    const key = JSON.stringify([one.entry.name, whereOf(one.entry, one.state)]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  asked = [];
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += TOGETHER) void answer(group.slice(start, start + TOGETHER));
  }
}

async function answer(group: Asked[]): Promise<void> {
  const wanted = group.filter(({ signal }) => !signal.aborted);
  const [first] = wanted;
  if (!first) return;
  const controller = new AbortController();
  const left = () => wanted.every(({ signal }) => signal.aborted) && controller.abort();
  for (const { signal } of wanted) signal.addEventListener("abort", left);
  try {
    const request = profileRequest(first.entry, first.state, wanted.map(({ column }) => column));
    if (!request) throw new Error("the conditions have no counterpart in SQL");
    const { columns, rows } = await fetchRows(request, controller.signal);
    const value = (name: string) => rows[0]?.[columns.indexOf(name)] ?? null;
    wanted.forEach(({ entry, resolve }, index) => resolve(profileOf(value, index, (entry.rows ?? 0) > EXACT_ROWS)));
  } catch (error) {
    // One column may be what no figures can be computed of.
    if (wanted.length === 1) first.reject(error);
    else await Promise.all(wanted.map((one) => answer([one])));
  }
}

function profileOf(value: (name: string) => Value, index: number, estimated: boolean): Profile {
  const distinct = value(`distinct_${index}`);
  return {
    rows: Number(value("n_rows")),
    filled: Number(value(`filled_${index}`)),
    distinct: distinct === null ? null : Number(distinct),
    estimated,
    least: value(`least_${index}`),
    most: value(`most_${index}`),
    mean: value(`mean_${index}`),
  };
}

/**
 * The request for a distribution in bars of equal width; `null` where the conditions can't be said in SQL. With the
 * figures of the column, its bounds need not be looked for.
 */
export function histogramRequest(entry: Entry, state: ViewState, column: Column, bars: number, profile?: Profile): ApiRequest | null {
  const name = sqlName(column.name);
  const from = profile && numberOf(profile.least);
  const to = profile && numberOf(profile.most);
  const bar = typeof from === "number" && typeof to === "number" && from < to ? barBetween(column, from, to, bars) : null;
  if (bar !== null) {
    const where = whereOf(entry, state, profile?.filled === profile?.rows ? [] : [`${name} is not null`]);
    return where === null ? null : sqlRequest(`select ${bar} as bar, ${from} as lo, ${to} as hi, count(*) as n from ${sqlName(entry.name)}${where} group by 1 order by 1`);
  }
  // What is infinite or no number lies in no bar.
  const finite = column.type.startsWith("Float") ? [`abs(${name}) < 1e300`] : [`${name} is not null`];
  const where = whereOf(entry, state, finite);
  if (where === null) return null;
  const number = isTemporal(kindOf(column.type)) ? `extract(epoch from ${name})::double` : `${name}::double`;
  return sqlRequest(
    `with v as (select ${number} as x from ${sqlName(entry.name)}${where}), ` +
      "r as (select min(x) as lo, max(x) as hi from v) " +
      `select least(coalesce(floor((v.x - r.lo) / nullif(r.hi - r.lo, 0) * ${bars}), 0), ${bars - 1})::bigint as bar, min(r.lo) as lo, max(r.hi) as hi, count(*) as n ` +
      "from v cross join r group by 1 order by 1",
  );
}

/** The bar of a value between bounds, in SQL; `null` for types whose numbers are not known here. */
function barBetween(column: Column, from: number, to: number, bars: number): string | null {
  const kind = kindOf(column.type);
  const unit = kind === "timestamp" ? /^Timestamp\((s|ms|us|µs|ns)\b/.exec(column.type)?.[1] : kind === "date" ? "day" : "1";
  const factor = unit === undefined ? undefined : UNITS[unit];
  if (factor === undefined) return null;
  const least = Math.floor(from * factor);
  const width = Math.ceil(to * factor) - least;
  const value = kind === "date" ? `${sqlName(column.name)}::int::bigint` : sqlName(column.name);
  if (kind === "number") return `least(greatest(floor((${value}::double - (${from})) * ${bars / (to - from)}), 0), ${bars - 1})::bigint`;
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(width)) return null;
  return `least(greatest((${value}::bigint - (${least})) * ${bars} / ${width}, 0), ${bars - 1})`;
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

/** The request for the most frequent values of a column; where there are very many of a text, among the first rows. */
export function topRequest(entry: Entry, state: ViewState, column: Column, profile?: Profile): ApiRequest | null {
  const name = sqlName(column.name);
  const where = whereOf(entry, state, [`${name} is not null`]);
  if (where === null) return null;
  const rows = `${sqlName(entry.name)}${where}`;
  const from = topIsPartial(column, profile) ? `(select ${name} from ${rows} limit ${EXACT_ROWS})` : rows;
  return sqlRequest(`select ${name} as v, count(*) as n from ${from} group by 1 order by 2 desc, 1 limit ${TOP_VALUES}`);
}

/** Whether the most frequent values are those of the first rows. */
export function topIsPartial(column: Column, profile?: Profile): boolean {
  return kindOf(column.type) === "text" && (profile?.filled ?? 0) > EXACT_ROWS && (profile?.distinct ?? 0) > MANY_VALUES;
}
