import type { Value } from "../data_json";
import { valueText } from "../grid/value";

/** Columns that refer to a key, each with the column of the key that it holds. */
export type Reference = [column: string, keyColumn: string][];

/**
 * Which columns of some rows hold the key of the row they refer to. `candidates` are those that refer to each column of
 * the key, as far as that is told; of several the rows tell, whose values must be those of the key. `null` where that
 * leaves it open.
 */
export function referenceOf(keyColumns: string[], key: string[], candidates: string[][], rows: ((column: string) => Value)[]): Reference | null {
  if (keyColumns.length === 0 || rows.length === 0) return null;
  const holds = (column: string, at: number) => rows.every((row) => valueText(row(column)) === key[at]);
  const reference: Reference = [];
  for (const [at, keyColumn] of keyColumns.entries()) {
    const columns = candidates[at] ?? [];
    const inOrder = keyColumns.length > 1 && columns.length === keyColumns.length ? columns[at] : undefined;
    const found = inOrder !== undefined && holds(inOrder, at) ? [inOrder] : columns.filter((column) => holds(column, at));
    const [column] = found;
    if (column === undefined || found.length !== 1 || reference.some(([taken]) => taken === column)) return null;
    reference.push([column, keyColumn]);
  }
  return reference;
}
