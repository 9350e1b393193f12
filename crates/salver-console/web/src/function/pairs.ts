/** A name and the text that was typed for it. */
export type Pair = [name: string, value: string];

/** The pairs of a field, which are kept as one text, as every field of the form is. */
export function readPairs(text: string): Pair[] {
  try {
    const pairs: unknown = JSON.parse(text || "[]");
    return Array.isArray(pairs) ? pairs.filter(isPair) : [];
  } catch {
    // A link may have anything.
    return [];
  }
}

function isPair(value: unknown): value is Pair {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "string");
}

/** The text of pairs; those without a name and a value are none. */
export function writePairs(pairs: Pair[]): string {
  const given = pairs.filter(([name, value]) => name !== "" || value !== "");
  return given.length ? JSON.stringify(given) : "";
}
