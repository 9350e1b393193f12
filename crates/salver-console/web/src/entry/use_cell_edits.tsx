import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Entry } from "../catalog";
import { kindOf } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn, GridEditing } from "../grid/grid";
import { CellEditor } from "../records/cell_editor";
import { type CellEdit, cellOf, draftOf, failed, isKept, withNow } from "../records/cell_edits";
import { type Draft, draftFault, draftValue, isChanged } from "../records/draft";
import type { LeftEditsProps } from "../records/left_edits";
import { RecordEdit } from "../records/record_edit";
import { useUnsaved } from "../unsaved";
import type { EntryFacts } from "./facts";
import { readRow, rowRequest } from "./row_request";

interface Place {
  entry: Entry;
  facts: EntryFacts;
  columns: GridColumn[];
  rows: Value[][];
  keyOfRow: (index: number) => string[] | null;
  isLoading: boolean;
  /** Whether the rows are shown as the database has them, and not by the types of their columns. */
  isStored: boolean;
}

let lastId = 0;

/**
 * The changes of cells of a grid. Each belongs to the key of its row, so that another order of the rows moves its editor
 * with the row; what is typed stays until it is saved or given up, also where the row is no longer on the page.
 */
export function useCellEdits({ entry, facts, columns, rows, keyOfRow, isLoading, isStored }: Place): { editing: GridEditing | undefined; left: LeftEditsProps } {
  const [edits, setEdits] = useState<CellEdit[]>([]);
  const [currentId, setCurrentId] = useState<number | null>(null);
  const latest = useRef(edits);
  latest.current = edits;
  useUnsaved(edits.some(isKept));
  const { records, described } = facts;

  const change = (id: number, next: (edit: CellEdit) => CellEdit) => setEdits((before) => before.map((edit) => (edit.id === id ? next(edit) : edit)));
  const remove = (id: number) => setEdits((before) => before.filter((edit) => edit.id !== id));
  // What is being saved stays until it is known how that went.
  const close = ({ id, busy }: CellEdit) => (busy ? setCurrentId((before) => (before === id ? null : before)) : remove(id));

  const save = async (edit: CellEdit, draft: Draft) => {
    const before = draftOf(edit.shown);
    const kind = kindOf(edit.type);
    if (draft === undefined || !isChanged(draft, before, kind)) return close(edit);
    const fault = draftFault(draft, kind);
    if (fault !== null) return change(edit.id, (known) => ({ ...known, draft, error: new Error(fault) }));
    change(edit.id, (known) => ({ ...known, draft, busy: true, error: null }));
    try {
      await edit.record.save(new Map([[edit.column, draftValue(draft, before, kind)]]), new Map([[edit.column, edit.shown]]));
      remove(edit.id);
    } catch (error) {
      change(edit.id, (known) => failed(known, error));
    }
  };

  const current = edits.find(({ id }) => id === currentId);
  const at = useMemo(() => current && cellOf(current, columns, rows.length, keyOfRow), [current?.id, columns, rows]) ?? null;
  useEffect(() => {
    // An editor goes with its row where nothing would be lost.
    if (current && !at && !isLoading && !isKept(current)) remove(current.id);
  }, [current?.id, at === null, isLoading]);

  const begin = (row: number, column: number) => {
    const key = keyOfRow(row);
    const name = columns[column]?.name;
    if (!key || name === undefined || !records) return;
    const known = latest.current.find((edit) => !edit.busy && edit.column === name && edit.key.join("\u0000") === key.join("\u0000"));
    if (known) return setCurrentId(known.id);
    // The row is compared with what was shown, in the same notation.
    const read = async () => (isStored ? null : readRow(entry, rowRequest(entry, facts.key, key)));
    const record = new RecordEdit({ table: records.name, entry, keyColumns: facts.key, key }, read);
    const id = ++lastId;
    const type = entry.columns.find((column) => column.name === name)?.type ?? "Utf8";
    const shown = rows[row]?.[column] ?? null;
    setEdits((before) => [...before.filter(isKept), { id, key, column: name, type, record, shown, draft: draftOf(shown), error: null, busy: false }]);
    setCurrentId(id);
    record.now().then(
      (now) => change(id, (edit) => (edit.busy ? edit : withNow(edit, now))),
      // Whoever saves is told.
      () => undefined,
    );
  };

  const left: LeftEditsProps = {
    edits: edits.filter((edit) => !edit.busy && !(edit.id === currentId && at) && !(isLoading && edit.id === currentId) && isKept(edit)),
    onSave: (edit) => void save(edit, edit.draft),
    onDiscard: ({ id }) => remove(id),
  };
  if (!records?.table.writes.update || facts.key.length === 0) return { editing: undefined, left };
  const editing: GridEditing = {
    at,
    begin,
    can: (row, column) => {
      const name = columns[column]?.name ?? "";
      return !facts.key.includes(name) && name in records.table.changeable && !records.table.changeable[name]?.readOnly && keyOfRow(row) !== null;
    },
    editor: () =>
      current && (
        <CellEditor
          key={current.id}
          edit={current}
          nullable={described.find(({ name }) => name === current.column)?.nullable ?? false}
          onDraft={(draft) => change(current.id, (before) => ({ ...before, draft }))}
          onSave={(draft) => void save(current, draft)}
          onClose={() => close(current)}
        />
      ),
  };
  return { editing, left };
}
