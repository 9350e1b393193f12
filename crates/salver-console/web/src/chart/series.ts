import { numberOf } from "../column_type";
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

/** The marks of a chart and what they are measured in. */
export interface Series {
  points: Point[];
  /** Whether the first axis is one of time. */
  temporal: boolean;
  /** How many rows could not be drawn, as one of their values is missing. */
  left: number;
  /** How many have values that no chart of this kind has a place for, in words. */
  outside: { count: number; why: string } | null;
}

/** The marks of rows under settings. */
export function seriesOf(columns: GridColumn[], rows: Value[][], settings: ChartSettings): Series {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const x = at(settings.x);
  const y = at(settings.y);
  const grouped = (settings.kind === "bar" || settings.kind === "line") && settings.aggregate !== "none";
  const temporal = /^(Date|Timestamp)/.test(columns[x]?.type ?? "");
  const all = rows.map((row) => {
    const value = row[x] ?? null;
    const truncated = grouped && temporal && settings.unit && typeof value === "string" ? truncate(value, settings.unit) : value;
    return { label: truncated === null ? "NULL" : valueText(truncated), x: numberOf(truncated), y: numberOf(row[y] ?? null) };
  });
  const points = settings.kind === "map" && settings.x === settings.y ? rows.map((row) => placesOf(row[x] ?? null)).flat() : grouped ? group(all, settings.aggregate) : all;
  const whole = points.filter((point) => (settings.kind === "bar" ? point.y !== null : settings.kind === "histogram" ? point.x !== null : point.x !== null && point.y !== null));
  const { isInside, why } = boundsOf(settings, temporal);
  const drawn = whole.filter(isInside);
  const outside = whole.length > drawn.length ? { count: whole.length - drawn.length, why } : null;
  if (settings.kind === "line") drawn.sort((a, b) => (a.x ?? 0) - (b.x ?? 0));
  if (settings.kind === "bar" && !temporal) drawn.sort((a, b) => (b.y ?? 0) - (a.y ?? 0));
  return { points: drawn, temporal, left: points.length - whole.length, outside };
}

/** The places of a geometry, or one that is none. */
function placesOf(value: Value): Point[] {
  const places = typeof value === "string" ? pointsOf(value) : null;
  return places?.length ? places.map(({ x, y }) => ({ label: "", x, y })) : [{ label: "", x: null, y: null }];
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

function group(points: Point[], aggregate: Aggregate): Point[] {
  const groups = new Map<string, { point: Point; values: number[]; count: number }>();
  for (const point of points) {
    const known = groups.get(point.label);
    const entry = known ?? { point, values: [], count: 0 };
    if (!known) groups.set(point.label, entry);
    entry.count++;
    if (point.y !== null) entry.values.push(point.y);
  }
  return [...groups.values()].map(({ point, values, count }) => ({ ...point, y: aggregate === "count" ? count : reduce(values, aggregate) }));
}

function reduce(values: number[], aggregate: Aggregate): number | null {
  if (values.length === 0) return null;
  const sum = () => values.reduce((total, value) => total + value, 0);
  switch (aggregate) {
    case "avg":
      return sum() / values.length;
    case "min":
      return values.reduce((least, value) => Math.min(least, value));
    case "max":
      return values.reduce((most, value) => Math.max(most, value));
    default:
      return sum();
  }
}
