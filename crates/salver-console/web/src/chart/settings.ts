import { isNumeric, isTemporal, kindOf } from "../column_type";
import type { GridColumn } from "../grid/grid";

/** The kinds of charts. */
export const CHART_KINDS = ["bar", "line", "scatter", "histogram", "map"] as const;
/** A kind of chart. */
export type ChartKind = (typeof CHART_KINDS)[number];

/** How the values of one place on the first axis become one. `none` draws each row. */
export const AGGREGATES = ["none", "count", "sum", "avg", "min", "max"] as const;
/** A way of making one value of several. */
export type Aggregate = (typeof AGGREGATES)[number];

/** The parts of time that values are put together by; `""` keeps each instant. */
export const UNITS = ["", "hour", "day", "month", "year"] as const;
/** A part of time. */
export type Unit = (typeof UNITS)[number];

/** What a chart draws. For a map `x` is the longitude and `y` the latitude. */
export interface ChartSettings {
  kind: ChartKind;
  x: string;
  y: string;
  aggregate: Aggregate;
  /** How times on the first axis are put together where values are aggregated. */
  unit: Unit;
}

/** Settings as one text for a URL. */
export function writeSettings(settings: ChartSettings): string {
  return JSON.stringify([settings.kind, settings.x, settings.y, settings.aggregate, settings.unit]);
}

/** Settings from a text of a URL; `null` if it has none. */
export function readSettings(text: string | null): ChartSettings | null {
  if (!text) return null;
  try {
    const [kind, x, y, aggregate, unit] = JSON.parse(text) as string[];
    if (!CHART_KINDS.includes(kind as ChartKind) || !AGGREGATES.includes(aggregate as Aggregate)) return null;
    return { kind: kind as ChartKind, x: x ?? "", y: y ?? "", aggregate: aggregate as Aggregate, unit: UNITS.find((one) => one === unit) ?? "" };
  } catch {
    return null;
  }
}

const LATITUDE = /^(lat|latitude|y_?lat)$/i;
const LONGITUDE = /^(lon|lng|long|longitude|x_?lon)$/i;
const GEOMETRY = /^(geometry|geom|the_geom|geojson|location)$/i;
const KEY_LIKE = /(^|_)(id|key|uuid|year|month|day)$/i;

/** The columns of a place on the globe, if there are any. */
export function placeColumns(columns: GridColumn[]): { latitude: string; longitude: string } | null {
  const latitude = columns.find(({ name }) => LATITUDE.test(name))?.name;
  const longitude = columns.find(({ name }) => LONGITUDE.test(name))?.name;
  if (latitude && longitude) return { latitude, longitude };
  const [geometry] = geometryColumns(columns);
  return geometry ? { latitude: geometry.name, longitude: geometry.name } : null;
}

/** The columns that may have geometries in GeoJSON, each of which has both coordinates. */
export function geometryColumns(columns: GridColumn[]): GridColumn[] {
  return columns.filter(({ name, type }) => GEOMETRY.test(name) && kindOf(type) === "text");
}

/** Whether rows can be put together by the values of a column: not by lists, intervals and what else has no order. */
export function isCategory({ type }: GridColumn): boolean {
  return !["nested", "other"].includes(kindOf(type)) || /^Duration/.test(type ?? "");
}

/** Whether the values of a column lie on an axis. */
export function isOrdered({ type }: GridColumn): boolean {
  return isNumeric(kindOf(type)) || isTemporal(kindOf(type));
}

/** A chart that fits the columns: places on a map, values over time, or values of categories. Without a fitting column it names none. */
export function defaultSettings(columns: GridColumn[]): ChartSettings {
  const place = placeColumns(columns);
  if (place) return { kind: "map", x: place.longitude, y: place.latitude, aggregate: "none", unit: "" };
  const of = (test: (column: GridColumn) => boolean) => columns.find(test)?.name;
  const numeric = (column: GridColumn) => isNumeric(kindOf(column.type));
  const measure = of((column) => numeric(column) && !KEY_LIKE.test(column.name)) ?? of(numeric);
  const time = of((column) => isTemporal(kindOf(column.type)));
  if (time && measure) return { kind: "line", x: time, y: measure, aggregate: "sum", unit: "day" };
  const category = of((column) => ["text", "boolean"].includes(kindOf(column.type)) && !KEY_LIKE.test(column.name)) ?? of((column) => !numeric(column) && isCategory(column));
  if (category) return { kind: "bar", x: category, y: measure ?? category, aggregate: measure ? "sum" : "count", unit: "" };
  return { kind: "histogram", x: measure ?? "", y: "", aggregate: "none", unit: "" };
}

/** Why a chart can't be made of these columns; `null` where it can. */
export function misfit(columns: GridColumn[], { kind, x, y, aggregate }: ChartSettings): string | null {
  const column = (name: string) => columns.find((one) => one.name === name);
  const [first, second] = [column(x), column(y)];
  const grouped = (kind === "bar" || kind === "line") && aggregate !== "none";
  if (!first) return "Choose a column for each axis.";
  if (kind === "histogram" && !isOrdered(first)) return `A histogram needs a column of numbers or times, and ${x} is none.`;
  if (kind === "line" && !isOrdered(first)) return `A line needs numbers or times in their order, and ${x} is a column of others.`;
  if (grouped && !isCategory(first)) return `Rows can't be put together by ${x}, which is ${first.type}.`;
  if (kind === "histogram" || (grouped && aggregate === "count")) return null;
  if (!second) return "Choose a column for each axis.";
  return grouped && !isNumeric(kindOf(second.type)) ? `The ${aggregate} of ${y} can't be drawn, which is ${second.type}: choose a column of numbers, or count.` : null;
}
