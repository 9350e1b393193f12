import { numberOf } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn } from "../grid/grid";
import { valueText } from "../grid/value";
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
  const points = grouped ? group(all, settings.aggregate) : all;
  const drawn = points.filter((point) => (settings.kind === "bar" ? point.y !== null : settings.kind === "histogram" ? point.x !== null : point.x !== null && point.y !== null));
  if (settings.kind === "line") drawn.sort((a, b) => (a.x ?? 0) - (b.x ?? 0));
  if (settings.kind === "bar" && !temporal) drawn.sort((a, b) => (b.y ?? 0) - (a.y ?? 0));
  return { points: drawn, temporal, left: points.length - drawn.length };
}

/** The beginning of the hour, day, month or year of a time in ISO 8601. */
function truncate(time: string, unit: Exclude<Unit, "">): string {
  const zero = "0000-01-01T00:00:00Z";
  const length = { year: 4, month: 7, day: 10, hour: 13 }[unit];
  return unit === "hour" ? time.slice(0, length) + zero.slice(length) : (time.slice(0, length) + zero.slice(length)).slice(0, 10);
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
