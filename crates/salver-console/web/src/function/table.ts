import { rowsOf } from "../api";
import { inferType } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn } from "../grid/grid";

/** Rows that were found in an answer. */
export interface Table {
  columns: GridColumn[];
  rows: Value[][];
  /** Whether the answer says more than the rows, so that it should not begin with them. */
  isAside: boolean;
}

/** How deep rows are looked for: GraphQL has them in `data`, below the name of a field. */
const DEPTH_MAX = 3;
/** So many members beside the rows only tell about them, like a total or a next page. */
const BESIDE_MAX = 2;

interface Found {
  rows: Value[];
  isAside: boolean;
}

/** The one list of objects in a value. */
function findRows(value: Value | undefined, depth = 0): Found | null {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => item instanceof Map) ? { rows: value, isAside: false } : null;
  if (!(value instanceof Map) || depth === DEPTH_MAX) return null;
  const found = [...value.values()].map((member) => findRows(member, depth + 1)).filter((member) => member !== null);
  const [only] = found;
  return only && found.length === 1 ? { rows: only.rows, isAside: only.isAside || value.size > 1 + BESIDE_MAX } : null;
}

/** The rows of an answer, if there is one list of objects in it. */
export function tableOf(data: Value | undefined): Table | null {
  const found = findRows(data);
  if (!found) return null;
  const { columns, rows } = rowsOf(found.rows);
  return {
    columns: columns.map((name, index) => ({ name, type: inferType(rows.map((row) => row[index] ?? null)) })),
    rows,
    isAside: found.isAside,
  };
}
