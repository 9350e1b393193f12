import type { ApiRequest } from "../api";
import { apiPath } from "../api";
import type { Column, NamedQuery, QueryParameter } from "../catalog";
import { valueAsJson } from "./placeholders";

/** A call of a named query: its name, the parameters that are sent, and the columns of its answer where they are known. */
export interface NamedCall {
  name: string;
  query: [string, string][];
  columns: Column[];
}

/** How an empty text is typed: a field without anything is a parameter that is not sent. */
const EMPTY_TEXT = '""';

/** The call of a query with typed values. The server reads each as the type that is declared for it. */
export function namedCall(query: NamedQuery, values: Record<string, string>): NamedCall {
  const sent = query.parameters.flatMap(({ name, type }): [string, string][] => {
    const typed = values[name] ?? "";
    if (typed === "") return [];
    return [[name, type === "text" && typed === EMPTY_TEXT ? "" : typed]];
  });
  return { name: query.name, query: sent, columns: query.columns };
}

/** The request of a call, with the suffix of a format or without. */
export function namedRequest({ name, query }: NamedCall, format?: string): ApiRequest {
  return { path: apiPath("queries", format === undefined ? name : `${name}.${format}`), query };
}

/** The required parameters without a value. */
export function withoutNamedValue(query: NamedQuery, values: Record<string, string>): string[] {
  return query.parameters.flatMap(({ name, required }) => (required && (values[name] ?? "") === "" ? [name] : []));
}

/** The values that are typed, for the address. */
export function typedValues(query: NamedQuery, values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(query.parameters.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])));
}

/** The values as a statement of one's own takes them, which has neither defaults nor types: what is not a text is JSON. */
export function valuesForSql(query: NamedQuery, values: Record<string, string>): Record<string, string> {
  const asTyped = ({ name, type, default: otherwise }: QueryParameter): string => {
    const typed = values[name] ?? "";
    const text = typed === "" ? otherwise : typed === EMPTY_TEXT ? "" : typed;
    if (text === undefined || text === null) return "null";
    const isText = type !== "integer" && type !== "number" && type !== "boolean";
    // A text that looks like a number stays one in quotes.
    return isText && (text === "" || valueAsJson(String(text)) === String(text).trim()) ? JSON.stringify(text) : String(text);
  };
  return Object.fromEntries(query.parameters.map((parameter) => [parameter.name, asTyped(parameter)]));
}
