import { ExactNumber, type Value } from "./data_json";

/** What a column is for the console: how its values are aligned, compared, profiled and drawn. */
export type Kind = "integer" | "number" | "boolean" | "date" | "time" | "timestamp" | "text" | "binary" | "nested" | "other";

/** The kind of a type as the API names it, such as `Timestamp(ms, "UTC")`. Text without a type. */
export function kindOf(type: string | undefined): Kind {
  if (!type) return "text";
  if (/^U?Int\d/.test(type)) return "integer";
  if (/^(Float|Decimal)/.test(type)) return "number";
  if (type === "Boolean") return "boolean";
  if (type === "Date32") return "date";
  if (/^(Timestamp|Date64)/.test(type)) return "timestamp";
  if (/^Time(32|64)/.test(type)) return "time";
  if (/^(Large)?Utf8/.test(type)) return "text";
  if (/Binary/.test(type)) return "binary";
  if (/^(Struct|Map|(Large|FixedSize)?List)/.test(type)) return "nested";
  const values = /^(?:Dictionary\([^,]+,|RunEndEncoded\([^,]+,)\s*(.+)\)$/.exec(type)?.[1];
  return values ? kindOf(values.trim()) : "other";
}

/** Whether values of the kind are numbers. */
export function isNumeric(kind: Kind): boolean {
  return kind === "integer" || kind === "number";
}

/** Whether values of the kind lie on a line of time. */
export function isTemporal(kind: Kind): boolean {
  return kind === "date" || kind === "timestamp";
}

const SHORT: Record<Kind, string> = {
  integer: "int",
  number: "num",
  boolean: "bool",
  date: "date",
  time: "time",
  timestamp: "time",
  text: "text",
  binary: "bin",
  nested: "json",
  other: "?",
};

/** The kind in a few letters, for the heads of columns. */
export function shortKind(kind: Kind): string {
  return SHORT[kind];
}

/** The type in words people use: `Utf8` is `text`, `Decimal128(10, 2)` is `decimal(10, 2)`. */
export function typeLabel(type: string): string {
  const kind = kindOf(type);
  switch (kind) {
    case "text":
      return "text";
    case "integer":
      return type.toLowerCase();
    case "number":
      return type.replace(/^Decimal\d+/, "decimal").replace(/^Float/, "float");
    case "timestamp": {
      const zone = /"([^"]+)"/.exec(type)?.[1];
      return zone ? `timestamp ${zone}` : "timestamp";
    }
    case "nested":
      return /^Struct/.test(type) ? "struct" : /^Map/.test(type) ? "map" : "list";
    case "other":
      return type;
    default:
      return kind;
  }
}

/** The first column of a type that Parquet has none for, wherever in it: durations, intervals of several units, unions. */
export function parquetRefuses(columns: { name: string; type: string }[]): string | null {
  return columns.find(({ type }) => /\bDuration\(|\bInterval\(MonthDayNano|\bUnion\(/.test(type.replace(/"(?:[^"\\]|\\.)*"/g, "")))?.name ?? null;
}

/** Years have four digits, and beyond these a sign and more. */
const ISO_DATE = /^(?:\d{4}|[+-]\d{4,})-\d\d-\d\d$/;
const ISO_TIMESTAMP = /^(?:\d{4}|[+-]\d{4,})-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;
const TIME_PARTS = /^([+-]?\d+)-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?(?:Z|([+-])(\d\d):?(\d\d))?)?$/;
/** After so many years the days and the weeks are the same again. */
const CYCLE_YEARS = 400;
const CYCLE_S = 146_097 * 86_400;

/** A time in ISO 8601 in seconds since 1970, of any year; without a zone in UTC. `null` for what is no time. */
function secondsOf(text: string): number | null {
  const found = TIME_PARTS.exec(text);
  if (!found) return null;
  const part = (at: number) => Number(found[at] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  // Dates of JavaScript end 270,000 years from now; those of columns do not.
  const near = 2000 + (((year % CYCLE_YEARS) + CYCLE_YEARS) % CYCLE_YEARS);
  const date = new Date(Date.UTC(near, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || part(4) > 24 || part(5) > 59) return null;
  const zone = (found[7] === "-" ? -60 : 60) * (part(8) * 60 + part(9));
  return date.getTime() / 1000 + ((year - near) / CYCLE_YEARS) * CYCLE_S + part(4) * 3600 + part(5) * 60 + part(6) - zone;
}

/** The type that the values of a column seem to have, for answers that come without types. */
export function inferType(values: Iterable<Value>): string {
  const seen = new Set<string>();
  let count = 0;
  for (const value of values) {
    if (value === null) continue;
    seen.add(typeOfValue(value));
    if (++count === 200) break;
  }
  if (seen.size === 2 && seen.has("Int64") && seen.has("Float64")) return "Float64";
  return seen.size === 1 ? ([...seen][0] ?? "Utf8") : "Utf8";
}

function typeOfValue(value: Value): string {
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "Int64" : "Float64";
  if (value instanceof ExactNumber) return /^-?\d+$/.test(value.text) ? "Int64" : "Float64";
  if (typeof value === "string") return ISO_DATE.test(value) ? "Date32" : ISO_TIMESTAMP.test(value) ? "Timestamp" : "Utf8";
  return "Struct";
}

/** A value as a number for drawing: times in seconds since 1970. `null` where there is none. */
export function numberOf(value: Value): number | null {
  if (value === null || typeof value === "boolean") return value === null ? null : Number(value);
  if (typeof value === "string") {
    const number = ISO_DATE.test(value) || ISO_TIMESTAMP.test(value) ? (secondsOf(value) ?? Number.NaN) : Number(value);
    return value !== "" && Number.isFinite(number) ? number : null;
  }
  if (typeof value === "number" || value instanceof ExactNumber) return Number.isFinite(Number(value)) ? Number(value) : null;
  return null;
}

/** Whether a value is a number that is none to draw: NaN, infinite, or beyond what floats hold. */
export function isSpecial(value: Value): boolean {
  return (typeof value === "number" || value instanceof ExactNumber) && !Number.isFinite(Number(value));
}
