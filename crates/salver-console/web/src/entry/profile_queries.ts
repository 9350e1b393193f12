import { type ApiRequest, fetchRows } from "../api";
import { type Bin, binsBetween } from "../chart/bins";
import { isNumeric, isTemporal, kindOf, numberOf } from "../column_type";
import type { Column, Entry } from "../catalog";
import type { Value } from "../data_json";
import { specialNumber } from "../special_number";
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
/** What the largest floats are divided by, so that no distance between them is beyond all floats. */
const SCALE = 4;
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

const isFloat = ({ type }: Column) => type.startsWith("Float");

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
  // JSON has null for what is no number among floats, and its text tells.
  if (isFloat(column)) parts.push(...["min", "max", "avg"].map((call) => `${call}(${name})::text as ${call}_told_${index}`));
  return parts;
}

/** What is asked of a column, beside others. */
interface Asked<Detail, Answer> {
  entry: Entry;
  state: ViewState;
  column: Column;
  detail: Detail;
  signal: AbortSignal;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** A value of the only row of an answer, by its name. */
type ValueOf = (name: string) => Value;

/** What columns are asked for together is read in one scan. */
class Together<Detail, Answer> {
  private asked: Asked<Detail, Answer>[] = [];

  /** `request` asks for columns at once, and `read` takes the answer of one, by its place. */
  constructor(
    private request: (entry: Entry, state: ViewState, of: { column: Column; detail: Detail }[]) => ApiRequest | null,
    private read: (value: ValueOf, place: number, of: { entry: Entry; detail: Detail }) => Answer,
  ) {}

  ask(entry: Entry, state: ViewState, column: Column, detail: Detail, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setTimeout(() => this.send());
      this.asked.push({ entry, state, column, detail, signal, resolve, reject });
    });
  }

  private send(): void {
    const groups = new Map<string, Asked<Detail, Answer>[]>();
    for (const one of this.asked) {
      const key = JSON.stringify([one.entry.name, whereOf(one.entry, one.state)]);
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    this.asked = [];
    for (const group of groups.values()) {
      for (let start = 0; start < group.length; start += TOGETHER) void this.answer(group.slice(start, start + TOGETHER));
    }
  }

  private async answer(group: Asked<Detail, Answer>[]): Promise<void> {
    const wanted = group.filter(({ signal }) => !signal.aborted);
    const [first] = wanted;
    if (!first) return;
    const controller = new AbortController();
    const left = () => wanted.every(({ signal }) => signal.aborted) && controller.abort();
    for (const { signal } of wanted) signal.addEventListener("abort", left);
    try {
      const request = this.request(first.entry, first.state, wanted);
      if (!request) throw new Error("the conditions have no counterpart in SQL");
      const { columns, rows } = await fetchRows(request, controller.signal);
      const value: ValueOf = (name) => rows[0]?.[columns.indexOf(name)] ?? null;
      wanted.forEach((one, place) => one.resolve(this.read(value, place, one)));
    } catch (error) {
      // One column may be what nothing can be computed of.
      if (wanted.length === 1) first.reject(error);
      else await Promise.all(wanted.map((one) => this.answer([one])));
    }
  }
}

const profiles = new Together<null, Profile>(
  (entry, state, of) => profileRequest(entry, state, of.map(({ column }) => column)),
  (value, place, { entry }) => profileOf(value, place, (entry.rows ?? 0) > EXACT_ROWS),
);

/** The figures of a column. */
export function fetchProfile(entry: Entry, state: ViewState, column: Column, signal: AbortSignal): Promise<Profile> {
  return profiles.ask(entry, state, column, null, signal);
}

function profileOf(value: (name: string) => Value, index: number, estimated: boolean): Profile {
  const distinct = value(`distinct_${index}`);
  return {
    rows: Number(value("n_rows")),
    filled: Number(value(`filled_${index}`)),
    distinct: distinct === null ? null : Number(distinct),
    estimated,
    least: value(`least_${index}`) ?? specialNumber(value(`min_told_${index}`)),
    most: value(`most_${index}`) ?? specialNumber(value(`max_told_${index}`)),
    mean: value(`mean_${index}`) ?? specialNumber(value(`avg_told_${index}`)),
  };
}

/** The numbers that a distribution is counted over: in SQL, from a bound to another, and what these are in seconds. */
export interface Span {
  value: string;
  low: number;
  high: number;
  /** How many rows have a value. */
  filled: number;
  from: number;
  to: number;
}

/** The span of a column between the bounds in its figures; `null` where they are no numbers. */
export function spanOf(column: Column, profile: Profile): Span | null {
  const from = numberOf(profile.least);
  const to = numberOf(profile.most);
  if (from === null || to === null || !(from < to)) return null;
  const kind = kindOf(column.type);
  const name = sqlName(column.name);
  const { filled } = profile;
  if (kind === "number") {
    const scale = Number.isFinite(to - from) ? 1 : SCALE;
    return { value: scale === 1 ? `${name}::double` : `${name}::double / ${scale}`, low: from / scale, high: to / scale, filled, from, to };
  }
  const unit = kind === "timestamp" ? /^Timestamp\((s|ms|us|µs|ns)\b/.exec(column.type)?.[1] : kind === "date" ? "day" : "1";
  const factor = unit === undefined ? undefined : UNITS[unit];
  if (factor === undefined) return null;
  const [low, high] = [Math.floor(from * factor), Math.ceil(to * factor)];
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) return null;
  return { value: kind === "date" ? `${name}::int` : `${name}::bigint`, low, high, filled, from, to };
}

/** The request for the distributions of columns between known bounds; `null` where the conditions can't be said in SQL. */
export function histogramsRequest(entry: Entry, state: ViewState, spans: Span[], bars: number): ApiRequest | null {
  const where = whereOf(entry, state);
  if (where === null) return null;
  const parts = spans.map(({ value, low, high }, place) => `histogram(${value}, ${low}, ${high}, ${bars}) as bars_${place}`);
  return sqlRequest(`select ${parts.join(", ")} from ${sqlName(entry.name)}${where}`);
}

/** The bars of the small distribution of a column. */
const SMALL_BARS = 24;

const histograms = new Together<Span, Distribution>(
  (entry, state, of) => histogramsRequest(entry, state, of.map(({ detail }) => detail), SMALL_BARS),
  (value, place, { detail }) => distributionOf(value(`bars_${place}`), detail.from, detail.to, detail.filled),
);

/** The distribution of a column in the bars of its profile; `null` where there is none. */
export async function fetchSmallHistogram(entry: Entry, state: ViewState, column: Column, profile: Profile, signal: AbortSignal): Promise<Distribution | null> {
  const span = spanOf(column, profile);
  if (span) return histograms.ask(entry, state, column, span, signal);
  const request = histogramRequest(entry, state, column, SMALL_BARS);
  return request && fetchDistribution(request, signal);
}

/** The request for a distribution whose bounds are not known; `null` where the conditions can't be said in SQL. */
export function histogramRequest(entry: Entry, state: ViewState, column: Column, bars: number): ApiRequest | null {
  const name = sqlName(column.name);
  const where = whereOf(entry, state);
  if (where === null) return null;
  const number = isTemporal(kindOf(column.type)) ? `extract(epoch from ${name})::double` : `${name}::double`;
  // What is infinite or no number lies in no bar.
  const finite = isFloat(column) ? `abs(x) <= ${Number.MAX_VALUE}` : "x is not null";
  // The distance of the largest floats is beyond all floats, and that of a part of them is not.
  const [scale, by] = isFloat(column) ? [`, case when max(abs(x)) > 1e307 then ${SCALE} else 1 end::double as s`, " / r.s"] : ["", ""];
  return sqlRequest(
    `with a as (select ${number} as x from ${sqlName(entry.name)}${where}), v as (select x from a where ${finite}), ` +
      `r as (select min(x) as lo, max(x) as hi${scale} from v), c as (select count(*) as n_rows, count(x) as filled from a) ` +
      `select histogram(v.x${by}, r.lo${by}, r.hi${by}, ${bars}) as bars, min(r.lo) as lo, max(r.hi) as hi, ` +
      "(select n_rows from c) as n_rows, (select filled from c) as filled from v cross join r",
  );
}

/** A distribution, with what lies in none of its bars. */
export interface Distribution {
  bins: Bin[];
  /** How many rows have no value. */
  nulls: number;
  /** How many have NaN or an infinity. */
  special: number;
}

/** The distribution that such a request asks for. */
export async function fetchDistribution(request: ApiRequest, signal: AbortSignal): Promise<Distribution> {
  const { columns, rows } = await fetchRows(request, signal);
  const value: ValueOf = (name) => rows[0]?.[columns.indexOf(name)] ?? null;
  const filled = Number(value("filled"));
  return distributionOf(value("bars"), numberOf(value("lo")) ?? 0, numberOf(value("hi")) ?? 0, filled, Number(value("n_rows")) - filled);
}

/** The bars of equal width between bounds, from the numbers in them. */
function distributionOf(bars: Value, from: number, to: number, filled: number, nulls = 0): Distribution {
  const counts = Array.isArray(bars) ? bars.map(Number) : [];
  const drawn = counts.reduce((sum, count) => sum + count, 0);
  const bins = drawn === 0 ? [] : from === to ? [{ from, to, count: drawn }] : binsBetween(from, to, counts);
  return { bins, nulls, special: filled - drawn };
}

/** The request for the most frequent values of a column; where there are very many of a text, among the first rows. */
export function topRequest(entry: Entry, state: ViewState, column: Column, profile?: Profile): ApiRequest | null {
  const name = sqlName(column.name);
  const where = whereOf(entry, state, profile && profile.filled === profile.rows ? [] : [`${name} is not null`]);
  if (where === null) return null;
  const rows = `${sqlName(entry.name)}${where}`;
  const from = topIsPartial(column, profile) ? `(select ${name} from ${rows} limit ${EXACT_ROWS})` : rows;
  const told = isFloat(column) ? `, ${name}::text as told` : "";
  return sqlRequest(`select ${name} as v, count(*) as n${told} from ${from} group by 1 order by 2 desc, 1 limit ${TOP_VALUES}`);
}

/** The most frequent values that such a request asks for, with their numbers. */
export async function fetchTop(request: ApiRequest, signal: AbortSignal): Promise<Value[][]> {
  const { rows } = await fetchRows(request, signal);
  return rows.map(([value = null, count = null, told = null]) => [value ?? specialNumber(told), count]);
}

/** Whether the most frequent values are those of the first rows. */
export function topIsPartial(column: Column, profile?: Profile): boolean {
  return kindOf(column.type) === "text" && (profile?.filled ?? 0) > EXACT_ROWS && (profile?.distinct ?? 0) > MANY_VALUES;
}
