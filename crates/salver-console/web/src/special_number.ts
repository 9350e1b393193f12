import type { Value } from "./data_json";
import { valueText } from "./grid/value";

/** What JSON has no number for, by its text in CSV and in SQL. */
const SPECIAL: Record<string, number> = { NaN: NaN, inf: Infinity, "-inf": -Infinity, Infinity, "-Infinity": -Infinity };

/** What JSON has null for, by its text; `null` for anything else. */
export function specialNumber(text: Value): number | null {
  return (typeof text === "string" ? SPECIAL[text] : undefined) ?? null;
}

/** Rows with what JSON has null for, from the texts of the columns at these positions; `null` where these are other rows. */
export function filledRows(data: Value[][], positions: number[], texts: string[][]): Value[][] | null {
  if (texts.length < data.length) return null;
  const rows: Value[][] = [];
  for (const [index, row] of data.entries()) {
    const filled = [...row];
    for (const [place, at] of positions.entries()) {
      const text = texts[index]?.[place] ?? "";
      const special = SPECIAL[text];
      const value = row[at] ?? null;
      if (value === null && special !== undefined) filled[at] = special;
      else if (valueText(value) !== text) return null;
    }
    rows.push(filled);
  }
  return rows;
}
