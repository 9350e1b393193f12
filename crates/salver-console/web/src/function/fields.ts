import type { FunctionParameter } from "../catalog";
import { isJson, parseData, writeData } from "../data_json";
import type { Document, Schema } from "../docs/openapi";
import { exampleOf } from "../docs/schema";
import { type Pair, readPairs } from "./pairs";

/** How the value of a parameter is given in the form. */
export type FieldKind = "text" | "integer" | "number" | "boolean" | "choice" | "file" | "json" | "any" | "pairs";

/** One field of the form of a function. */
export interface Field {
  name: string;
  kind: FieldKind;
  /** What it takes, in words. */
  type: string;
  required: boolean;
  description?: string;
  /** The JSON text of the value that the function takes when nothing is sent. */
  default?: string;
  /** The JSON text of a value that fits, where the type has members or items. */
  example?: string;
  /** The JSON texts of the values to choose from. */
  choices: string[];
  /** Of pairs, how each of their values is given. */
  values?: FieldKind;
}

function kindOf(type: string, schema: Schema | undefined): FieldKind {
  if (schema?.enum) return "choice";
  const named = [schema?.type ?? type].flat()[0] ?? "any";
  if (schema?.format === "binary" || /^\[?(bytes|upload|file)\]?$/i.test(type)) return "file";
  switch (named) {
    case "string":
      return "text";
    case "integer":
    case "number":
    case "boolean":
      return named;
    case "array":
    case "object":
      return "json";
    default:
      return "any";
  }
}

const WORDS: Record<FieldKind, string> = {
  text: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  choice: "one of the values",
  file: "file",
  json: "JSON",
  any: "number, text or JSON",
  pairs: "further arguments by their names",
};

/** The fields of a function, from what the file declares and what the OpenAPI document knows beyond that. */
export function fieldsOf(parameters: FunctionParameter[], schema: Schema | undefined, document: Document | null): Field[] {
  return parameters.map((parameter) => {
    if (takesOthers(parameter.name)) return pairsField(parameter);
    const known = schema?.properties?.[parameter.name];
    const kind = kindOf(parameter.type, known);
    const description = parameter.description ?? known?.description;
    return {
      name: parameter.name,
      kind,
      type: kind === "json" && known?.type === "array" ? "list, as JSON" : WORDS[kind],
      required: parameter.required,
      ...(description ? { description } : {}),
      ...(known?.default === undefined ? {} : { default: JSON.stringify(known.default) }),
      ...(kind === "json" && known && document ? { example: JSON.stringify(exampleOf(document, known)) } : {}),
      choices: (known?.enum ?? []).map((value) => JSON.stringify(value)),
    };
  });
}

/** Whether a parameter takes the arguments that no other one has: `**kw` of Python, `...` of R. */
function takesOthers(name: string): boolean {
  return name === "..." || name.startsWith("**");
}

function pairsField({ name, type, description }: FunctionParameter): Field {
  const values = kindOf(type, undefined);
  const words = type === "any" ? WORDS.pairs : `${WORDS.pairs}, each a ${WORDS[values]}`;
  return { name, kind: "pairs", values, type: words, required: false, ...(description ? { description } : {}), choices: [] };
}

/** The JSON text of what was typed into a field; undefined for an optional field that was left empty. */
export function fieldJson(field: Field, typed: string): string | undefined {
  if (typed === "" && (!field.required || field.kind !== "text")) return undefined;
  switch (field.kind) {
    case "text":
      return JSON.stringify(typed);
    case "any":
    case "json":
    case "integer":
    case "number":
      return normalized(typed, field.kind === "any");
    default:
      return typed;
  }
}

/** Typed JSON without its line ends, every digit kept. What is no JSON goes as a text, for the server to judge. */
function normalized(typed: string, listOfNumbers: boolean): string {
  try {
    const written = writeData(parseData(typed));
    return isJson(written) ? written : JSON.stringify(typed);
  } catch {
    // `1, 2, 3` is what people write for a vector.
    if (listOfNumbers && /^\s*-?[\d.]+(?:\s*,\s*-?[\d.]+)+\s*$/.test(typed) && isJson(`[${typed}]`)) return normalized(`[${typed}]`, false);
    return JSON.stringify(typed);
  }
}

/** The texts of the arguments by their names, with those of pairs under names of their own. */
export function namedArguments(fields: Field[], values: Record<string, string>): { field: Field; name: string; typed: string }[] {
  return fields.flatMap((field) => {
    const typed = values[field.name] ?? "";
    if (field.kind !== "pairs") return [{ field, name: field.name, typed }];
    const one: Field = { ...field, kind: field.values ?? "any" };
    return readPairs(typed).flatMap(([name, value]) => (name === "" ? [] : [{ field: one, name, typed: value }]));
  });
}

/** The JSON text of all arguments. */
export function argumentsJson(fields: Field[], values: Record<string, string>): string {
  const members = namedArguments(fields, values).flatMap(({ field, name, typed }) => {
    const json = fieldJson(field, typed);
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  return `{${members.join(",")}}`;
}

/** What is missing before the function can be called. */
export function missingFields(fields: Field[], values: Record<string, string>): string[] {
  return fields.flatMap((field) => {
    const typed = values[field.name] ?? "";
    if (field.kind === "pairs") return pairFaults(fields, readPairs(typed));
    return field.required && field.kind !== "file" && fieldJson(field, typed) === undefined ? [field.name] : [];
  });
}

/** What is wrong with pairs: each needs a name that no other argument has. */
function pairFaults(fields: Field[], pairs: Pair[]): string[] {
  const taken = new Set(fields.map(({ name }) => name));
  return pairs.flatMap(([name, value]) => {
    if (name === "") return value === "" ? [] : [`a name for ${value}`];
    if (taken.has(name)) return [`another name for ${name}, which is taken`];
    taken.add(name);
    return [];
  });
}
