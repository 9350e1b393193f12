import { isJson } from "../data_json";

/** How the placeholders of a statement are filled: by position (`$1`, `?`), or by name (`$id`, and `$1` beside it). */
export interface Placeholders {
  kind: "none" | "numbered" | "named";
  /** `1`, `2`, … or the names, in the order of the form. */
  names: string[];
}

/** Quoted texts, quoted names, dollar quotes and comments: in these a `$` or a `?` is no placeholder. */
const SKIPPED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$/g;

/** Finds the placeholders of a statement. */
export function findPlaceholders(sql: string): Placeholders {
  const bare = sql.replace(SKIPPED, " ");
  const names = new Set([...bare.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name));
  const isNumber = (name: string) => /^\d+$/.test(name);
  // Where one has a name, the others are names, too.
  if ([...names].some((name) => !isNumber(name))) return { kind: "named", names: [...names] };
  const highest = Math.max(0, ...[...names].map(Number));
  const marks = bare.match(/\?/g)?.length ?? 0;
  const count = Math.min(Math.max(highest, marks), 100);
  if (count === 0) return { kind: "none", names: [] };
  return { kind: "numbered", names: Array.from({ length: count }, (_, index) => String(index + 1)) };
}

const JSON_VALUE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|"(?:[^"\\\n]|\\.)*"|[[{].*)$/s;

/**
 * The JSON text of a value that was typed: numbers, `true`, `false`, `null`, lists and quoted texts are what they look
 * like, anything else is a text. Numbers stay text, so that none of their digits is lost.
 */
export function valueAsJson(typed: string): string {
  const text = typed.trim();
  // Something like `[draft` is a text, too.
  return JSON_VALUE.test(text) && isJson(text) ? text : JSON.stringify(typed);
}

/** The placeholders without a value. */
export function withoutValue(placeholders: Placeholders, values: Record<string, string>): string[] {
  return placeholders.names.filter((name) => (values[name] ?? "") === "");
}

/** The JSON text of `params` for these placeholders, or undefined if there are none. */
export function paramsAsJson(placeholders: Placeholders, values: Record<string, string>): string | undefined {
  const json = (name: string) => valueAsJson(values[name] ?? "");
  if (placeholders.kind === "none") return undefined;
  if (placeholders.kind === "numbered") return `[${placeholders.names.map(json).join(",")}]`;
  return `{${placeholders.names.map((name) => `${JSON.stringify(name)}:${json(name)}`).join(",")}}`;
}

/** What stands in code for a value that is not given yet, as a text that says what belongs there. */
export function placeOfValue(name: string): string {
  return `YOUR_${/^\d+$/.test(name) ? `VALUE_${name}` : name.toUpperCase()}`;
}

/** The values, with a place for each of those that are missing. */
export function withPlaces(values: Record<string, string>, missing: string[]): Record<string, string> {
  return { ...values, ...Object.fromEntries(missing.map((name) => [name, placeOfValue(name)])) };
}
