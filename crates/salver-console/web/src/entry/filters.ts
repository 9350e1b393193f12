import { type Kind, isNumeric, kindOf } from "../column_type";
import type { Column } from "../catalog";
import type { Value } from "../data_json";
import { valueText } from "../grid/value";

/** A condition, as it stands in the query: `filter[column]operator=value`. */
export interface Filter {
  column: string;
  /** The operator of the API; `eq` is written as none. */
  operator: string;
  value: string;
}

/** A choice of the filter builder. */
export interface Comparison {
  id: string;
  label: string;
  needsValue: boolean;
}

const COMPARISONS: Comparison[] = [
  { id: "eq", label: "is", needsValue: true },
  { id: "ne", label: "is not", needsValue: true },
  { id: "contains", label: "contains", needsValue: true },
  { id: "starts", label: "starts with", needsValue: true },
  { id: "lt", label: "<", needsValue: true },
  { id: "lte", label: "≤", needsValue: true },
  { id: "gt", label: ">", needsValue: true },
  { id: "gte", label: "≥", needsValue: true },
  { id: "in", label: "is one of", needsValue: true },
  { id: "null", label: "is NULL", needsValue: false },
  { id: "not_null", label: "is not NULL", needsValue: false },
];

/** The comparisons that make sense for a kind of column. */
export function comparisonsOf(kind: Kind): Comparison[] {
  return COMPARISONS.filter(({ id }) => {
    // What is none of the others, such as durations, is shown in another form than conditions take.
    if (kind === "nested" || kind === "other") return id.endsWith("null");
    if (kind === "boolean" || kind === "binary") return ["eq", "ne", "null", "not_null"].includes(id);
    return kind === "text" || !["contains", "starts"].includes(id);
  });
}

/** Whether the values of a column can be chosen from as conditions. Those of bytes are hardly ever few. */
export function hasFacets({ type }: Column): boolean {
  const kind = kindOf(type);
  return kind !== "binary" && comparisonsOf(kind).some(({ id }) => id === "eq");
}

const PARAMETER = /^filter\[(.*)\](\w*)$/s;
const ALIASES: Record<string, string> = { "": "eq", neq: "ne", lteq: "lte", gteq: "gte", not_in: "nin" };

/** The conditions of a query. */
export function readFilters(query: URLSearchParams): Filter[] {
  return [...query].flatMap(([name, value]) => {
    const found = PARAMETER.exec(name);
    if (!found) return [];
    const operator = found[2] ?? "";
    return [{ column: found[1] ?? "", operator: ALIASES[operator] ?? operator, value }];
  });
}

/** A condition as a parameter of the query. */
export function writeFilter({ column, operator, value }: Filter): [string, string] {
  return [`filter[${column}]${operator === "eq" ? "" : operator}`, value];
}

const escapeLike = (text: string) => text.replace(/[\\%_]/g, (character) => `\\${character}`);
const unescapeLike = (text: string) => text.replace(/\\(.)/g, "$1");

/** A text as a value of a condition: in quotes where it would mean something else without them. */
function quoteText(text: string): string {
  const plain = text !== "" && text.trim() === text && !text.startsWith("'") && text.toLowerCase() !== "null";
  return plain ? text : `'${text.replace(/'/g, "''")}'`;
}

/** The text of a value in quotes. */
export const unquote = (text: string) => (/^'.*'$/s.test(text) ? text.slice(1, -1).replace(/''/g, "'") : text);

/** The condition for what was chosen in the builder. */
export function buildFilter(column: Column, comparison: string, text: string): Filter {
  const kind = kindOf(column.type);
  const textual = !isNumeric(kind) && kind !== "boolean";
  const filter = (operator: string, value: string): Filter => ({ column: column.name, operator, value });
  switch (comparison) {
    case "contains":
      return filter("ilike", `%${escapeLike(text)}%`);
    case "starts":
      return filter("like", `${escapeLike(text)}%`);
    case "null":
      return filter("null", "true");
    case "not_null":
      return filter("not_null", "true");
    case "in": {
      const parts = text.split(",").map((part) => part.trim());
      return filter("in", textual ? parts.map((part) => `'${unquote(part).replace(/'/g, "''")}'`).join(",") : parts.join(","));
    }
    default:
      return filter(comparison, textual ? quoteText(text) : text.trim());
  }
}

/** The condition that a column has a value. */
export function equalFilter(column: Column, value: Value): Filter {
  return value === null ? { column: column.name, operator: "null", value: "true" } : buildFilter(column, "eq", valueText(value));
}

/** A condition in the words of the builder. */
export function describeFilter(filter: Filter): { comparison: string; label: string; text: string } {
  const { operator, value } = filter;
  if (operator === "ilike" && /^%.*%$/s.test(value)) return { comparison: "contains", label: "contains", text: unescapeLike(value.slice(1, -1)) };
  if (operator === "like" && /%$/.test(value)) return { comparison: "starts", label: "starts with", text: unescapeLike(value.slice(0, -1)) };
  const negated = value === "false";
  if (operator === "null" || operator === "not_null") {
    const isNull = (operator === "null") !== negated;
    return { comparison: isNull ? "null" : "not_null", label: isNull ? "is NULL" : "is not NULL", text: "" };
  }
  const known = COMPARISONS.find(({ id }) => id === operator);
  return { comparison: operator, label: known?.label ?? operator, text: operator === "in" ? splitList(value).map(unquote).join(", ") : unquote(value) };
}

/** The parts of a list, where a comma in quotes does not part. */
export function splitList(list: string): string[] {
  const inner = /^\(.*\)$/s.test(list) ? list.slice(1, -1) : list;
  return inner.match(/'(?:[^']|'')*'|[^,]+/g)?.map((part) => part.trim()) ?? [];
}

/** A name in SQL. */
export const sqlName = (name: string): string => `"${name.replace(/"/g, '""')}"`;

/** A text in SQL. */
export const sqlText = (text: string): string => `'${text.replace(/'/g, "''")}'`;

const SQL_OPERATORS: Record<string, string> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=", like: "like", ilike: "ilike", nlike: "not like", nilike: "not ilike" };

/** The conditions as a `where` of SQL, empty for none; `null` if one of them has no counterpart here. */
export function sqlWhere(filters: Filter[], columns: Column[], extra: string[] = []): string | null {
  const terms = filters.map((filter) => sqlTerm(filter, columns.find(({ name }) => name === filter.column)?.type));
  if (terms.some((term) => term === null)) return null;
  const all = [...terms, ...extra];
  return all.length ? ` where ${all.join(" and ")}` : "";
}

/** What SQL takes for a number or a boolean without quotes. */
const PLAIN = /^(-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|true|false)$/;
/** The floats that are no numbers, which SQL takes as texts that are cast. */
const SPECIAL = /^[-+]?(nan|inf(inity)?)$/i;

/** A value of a condition in SQL. What is no value of its column stays a text, about which the server says so. */
function sqlLiteral(text: string, type: string | undefined): string {
  const kind = kindOf(type);
  const bare = text.trim();
  if ((isNumeric(kind) || kind === "boolean") && PLAIN.test(bare)) return bare;
  if (/^Float/.test(type ?? "") && SPECIAL.test(bare)) return `'${bare}'::${type === "Float64" ? "float8" : "float4"}`;
  return `${kind === "binary" ? "x" : ""}${sqlText(unquote(text))}`;
}

function sqlTerm({ column, operator, value }: Filter, type: string | undefined): string | null {
  const name = sqlName(column);
  const literal = (text: string) => sqlLiteral(text, type);
  if (operator === "null" || operator === "not_null") return `${name} is ${(operator === "null") !== (value === "false") ? "" : "not "}null`;
  if (/^null$/i.test(value) && (operator === "eq" || operator === "ne")) return `${name} is ${operator === "eq" ? "" : "not "}null`;
  if (operator === "in" || operator === "nin") return `${name} ${operator === "nin" ? "not " : ""}in (${splitList(value).map(literal).join(", ")})`;
  const sign = SQL_OPERATORS[operator];
  return sign ? `${name} ${sign} ${literal(value)}` : null;
}
