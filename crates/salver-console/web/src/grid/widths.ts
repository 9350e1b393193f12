import { isNumeric, kindOf } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn } from "./grid";
import { cellText } from "./value";

const SAMPLE = 100;
const SMALLEST = 64;
const LARGEST = 340;
const CHARACTER = 7.4;
const PADDING = 22;
/** How far beyond its edges the grid draws columns. */
const MARGIN = 400;

/**
 * Widths of columns in pixels, from the lengths of names and of the first values. A fixed layout keeps columns where
 * they are while rows are scrolled.
 */
export function columnWidths(columns: GridColumn[], rows: Value[][]): number[] {
  const sample = rows.slice(0, SAMPLE);
  return columns.map((column, index) => {
    const longest = sample.reduce((most, row) => Math.max(most, cellText(row[index] ?? null).text.length), 4);
    const numeric = isNumeric(kindOf(column.type));
    const head = column.name.length * 8.2 + (column.type ? 34 : 0) + (column.key ? 28 : 0) + 14;
    const wanted = Math.max(longest * CHARACTER + (numeric ? 4 : 0), head) + PADDING;
    return Math.round(Math.min(LARGEST, Math.max(SMALLEST, wanted)));
  });
}

/** The columns in sight and a little beyond, and how wide those before and after them are. */
export function columnsInSight(widths: number[], left: number, width: number): { first: number; last: number; before: number; after: number } {
  let first = 0;
  let before = 0;
  while (first < widths.length && before + (widths[first] ?? 0) < left - MARGIN) before += widths[first++] ?? 0;
  let last = first;
  let end = before;
  while (last < widths.length && end < left + width + MARGIN) end += widths[last++] ?? 0;
  const after = widths.slice(last).reduce((sum, one) => sum + one, 0);
  return { first, last, before, after };
}
