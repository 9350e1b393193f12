/** How the placeholders of a statement are filled: by position (`$1`, `?`) or by name (`$id`). */
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
  const named = new Set<string>();
  let highest = 0;
  for (const [, name = ""] of bare.matchAll(/\$(\w+)/g)) {
    if (/^\d+$/.test(name)) highest = Math.max(highest, Number(name));
    else named.add(name);
  }
  if (named.size) return { kind: "named", names: [...named] };
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
  if (JSON_VALUE.test(text)) {
    try {
      JSON.parse(text);
      return text;
    } catch {
      // Something like `[draft` is a text, too.
    }
  }
  return JSON.stringify(typed);
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
