import { isSpecial, numberOf } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn } from "../grid/grid";
import { valueText } from "../grid/value";
import { pointsOf } from "./geometry";
import { LAST_SECOND } from "./number_format";
import type { Aggregate, ChartSettings, Unit } from "./settings";

/** One mark of a chart. */
export interface Point {
  /** The text of the first axis. */
  label: string;
  /** The number of the first axis, seconds since 1970 for times; `null` for what is no number. */
  x: number | null;
  y: number | null;
}

/** What of the rows is not drawn. */
export interface LeftOut {
  /** How many rows lack a value. */
  missing: number;
  /** How many rows have NaN or an infinity. */
  special: number;
  /** How many groups come to NaN or an infinity, and how many rows are in them. */
  groups: number;
  rowsInGroups: number;
  /** How many have values that no chart of this kind has a place for, in words. */
  outside: { count: number; why: string } | null;
}

/** The marks of a chart and what they are measured in. */
export interface Series {
  points: Point[];
  /** Whether the first axis is one of time. */
  temporal: boolean;
  left: LeftOut;
}

/** The columns of rows that are groups already: of how many rows each is made, and how many of them have a value. */
export interface Counts {
  rows: string;
  filled: string | null;
}

/** What is drawn, if it can be, as one mark. */
interface Mark {
  label: string;
  x: Value;
  y: Value;
  rows: number;
  /** How many of the rows have a value on the second axis. */
  filled: number;
}

/** The marks of rows under settings. */
export function seriesOf(columns: GridColumn[], rows: Value[][], settings: ChartSettings, counts: Counts | null = null): Series {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const [x, y] = [at(settings.x), at(settings.y)];
  const { kind } = settings;
  const grouped = (kind === "bar" || kind === "line") && settings.aggregate !== "none";
  const temporal = /^(Date|Timestamp)/.test(columns[x]?.type ?? "");
  const count = (row: Value[], name: string | null | undefined) => (name ? Number(row[at(name)] ?? 0) : null);
  const all = rows.map((row): Mark => {
    const value = row[x] ?? null;
    const truncated = grouped && temporal && settings.unit && typeof value === "string" ? truncate(value, settings.unit) : value;
    const label = truncated === null ? "NULL" : valueText(truncated);
    const of = count(row, counts?.rows) ?? 1;
    const measure = row[y] ?? null;
    return { label, x: truncated, y: measure, rows: of, filled: count(row, counts?.filled) ?? (isMissing(measure) ? 0 : of) };
  });
  const marks = kind === "map" && settings.x === settings.y ? rows.flatMap((row) => placesOf(row[x] ?? null)) : grouped ? group(all, settings.aggregate) : all;
  const { isInside, why } = boundsOf(settings, temporal);
  const left: LeftOut = { missing: 0, special: 0, groups: 0, rowsInGroups: 0, outside: null };
  const drawn: Point[] = [];
  for (const mark of marks) {
    const point = { label: mark.label, x: numberOf(mark.x), y: numberOf(mark.y) };
    // Whatever its first value is, a bar has a place.
    if (kind !== "bar" && isMissing(mark.x)) left.missing += mark.rows;
    else if (kind !== "bar" && isSpecial(mark.x)) left.special += mark.rows;
    else if (!isInside(point)) left.outside = { count: (left.outside?.count ?? 0) + mark.rows, why };
    else if (kind === "histogram") drawn.push(point);
    else {
      left.missing += mark.rows - mark.filled;
      if (mark.filled === 0) continue;
      if (point.y !== null) drawn.push(point);
      else if (grouped || counts) {
        // Rows with values that come to none come to one that JSON has null for.
        left.groups++;
        left.rowsInGroups += mark.filled;
      } else left.special += mark.filled;
    }
  }
  if (kind === "line") drawn.sort((a, b) => (a.x ?? 0) - (b.x ?? 0));
  if (kind === "bar" && !temporal) drawn.sort((a, b) => (b.y ?? 0) - (a.y ?? 0));
  return { points: drawn, temporal, left };
}

/** Whether there is neither a number to draw nor one that can't be. */
function isMissing(value: Value): boolean {
  return numberOf(value) === null && !isSpecial(value);
}

/** The places of a geometry, or one that is none. */
function placesOf(value: Value): Mark[] {
  const places = typeof value === "string" ? pointsOf(value) : null;
  const mark = { label: "", x: null, y: null, rows: 1, filled: 1 };
  return places?.length ? places.map(({ x, y }) => ({ ...mark, x, y })) : [mark];
}

/** Which points a chart has a place for. */
function boundsOf({ kind }: ChartSettings, temporal: boolean): { isInside: (point: Point) => boolean; why: string } {
  if (kind === "map") {
    return { isInside: ({ x, y }) => Math.abs(y ?? 0) <= 90 && Math.abs(x ?? 0) <= 360, why: "outside of a map: latitudes are from -90 to 90, and longitudes from -360 to 360" };
  }
  // What is a category needs no place in time.
  const isInside = ({ x }: Point) => !temporal || kind === "bar" || Math.abs(x ?? 0) <= LAST_SECOND;
  return { isInside, why: "outside of the years that can be drawn, -271821 to 275760" };
}

/** The beginning of the hour, day, month or year of a time in ISO 8601. */
function truncate(time: string, unit: Exclude<Unit, "">): string {
  const zero = "-01-01T00:00:00Z";
  const year = /^[+-]?\d+/.exec(time)?.[0] ?? "";
  const rest = time.slice(year.length);
  const length = { year: 0, month: 3, day: 6, hour: 9 }[unit];
  const whole = rest.slice(0, length) + zero.slice(length);
  return year + (unit === "hour" ? whole : whole.slice(0, 6));
}

function group(marks: Mark[], aggregate: Aggregate): Mark[] {
  const groups = new Map<string, { mark: Mark; values: number[]; rows: number }>();
  for (const mark of marks) {
    const known = groups.get(mark.label);
    const entry = known ?? { mark, values: [], rows: 0 };
    if (!known) groups.set(mark.label, entry);
    entry.rows += mark.rows;
    if (!isMissing(mark.y)) entry.values.push(numberOf(mark.y) ?? Number(mark.y));
  }
  return [...groups.values()].map(({ mark, values, rows }) => {
    const counted = aggregate === "count";
    return { ...mark, y: counted ? rows : reduce(values, aggregate), rows, filled: counted ? rows : values.length };
  });
}

/** One value of several, with NaN as the server takes it: greater than all others. */
function reduce(values: number[], aggregate: Aggregate): number | null {
  if (values.length === 0) return null;
  const sum = () => values.reduce((total, value) => total + value, 0);
  const numbers = values.filter((value) => !Number.isNaN(value));
  switch (aggregate) {
    case "avg":
      return sum() / values.length;
    case "min":
      return numbers.length ? numbers.reduce((least, value) => Math.min(least, value)) : Number.NaN;
    case "max":
      return numbers.length < values.length ? Number.NaN : numbers.reduce((most, value) => Math.max(most, value));
    default:
      return sum();
  }
}
