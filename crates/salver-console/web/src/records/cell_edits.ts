import { kindOf } from "../column_type";
import type { Value } from "../data_json";
import { valueText } from "../grid/value";
import { type Draft, isChanged } from "./draft";
import { EditConflict, type RecordEdit, type Values, isSame } from "./record_edit";

/** The change of a cell, from when its editor opens until it is saved or given up. It belongs to its row, wherever that is. */
export interface CellEdit {
  id: number;
  /** The key of the row. */
  key: string[];
  column: string;
  /** The type of the column. */
  type: string;
  record: RecordEdit;
  /** The value that the person was shown last. */
  shown: Value;
  draft: Draft;
  /** What was shown before, where somebody else changed the value meanwhile. */
  before?: Value;
  error: unknown;
  /** Whether it is being saved. */
  busy: boolean;
}

/** What an editor of a value begins with. */
export const draftOf = (value: Value): Draft => (value === null ? null : valueText(value));

/** Whether something else was typed than what is there. */
export const isTouched = ({ draft, shown, type }: CellEdit): boolean => isChanged(draft, draftOf(shown), kindOf(type));

/** Whether something would be lost with the edit. */
export const isKept = (edit: CellEdit): boolean => edit.busy || isTouched(edit) || edit.error !== null;

/** An edit that knows what the row is now: it shows that value, and what was typed stays. */
export function withNow(edit: CellEdit, now: Values): CellEdit {
  const value = now.get(edit.column) ?? null;
  if (isSame(value, edit.shown)) return edit;
  return { ...edit, shown: value, before: edit.shown, draft: isTouched(edit) ? edit.draft : draftOf(value) };
}

/** An edit that could not be saved. */
export function failed(edit: CellEdit, error: unknown): CellEdit {
  const known = error instanceof EditConflict ? withNow(edit, error.now) : edit;
  return { ...known, busy: false, error };
}

/** Where the cell of an edit is on the page; `null` where it is not. */
export function cellOf(edit: CellEdit, columns: { name: string }[], rows: number, keyOfRow: (index: number) => string[] | null): { row: number; column: number } | null {
  const column = columns.findIndex(({ name }) => name === edit.column);
  if (column < 0) return null;
  for (let row = 0; row < rows; row++) {
    const key = keyOfRow(row);
    if (key?.length === edit.key.length && key.every((value, index) => value === edit.key[index])) return { row, column };
  }
  return null;
}
