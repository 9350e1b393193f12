import { useRef, useState } from "preact/hooks";
import { type Entry, catalog } from "../catalog";
import type { RecordTable } from "../entry/metadata";
import { Icon } from "../icon";
import { DeleteDialog } from "./delete_dialog";
import { Deletion } from "./deletion";
import { createRecord } from "./record";
import { type RecordName, keyText } from "./record_request";
import { RecordDialog } from "./record_dialog";
import { RecordForm } from "./record_form";

/** The button for a new row, and its form. */
export function NewRow({ entry, records, keyColumns }: { entry: Entry; records: { name: string; table: RecordTable }; keyColumns: string[] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        <Icon name="plus" size={14} /> New row
      </button>
      {open && (
        <RecordDialog title={`New row of ${entry.name}`} onClose={() => setOpen(false)}>
          <RecordForm
            columns={entry.columns}
            table={records.table}
            described={catalog.value?.tables.get(records.name) ?? []}
            row={null}
            saveLabel="Create"
            onSave={async (values) => {
              await createRecord(entry, records.name, keyColumns, values);
              setOpen(false);
            }}
            onCancel={() => setOpen(false)}
          />
        </RecordDialog>
      )}
    </>
  );
}

/** The button that deletes a row, once that is confirmed. */
export function RowActions({ record, referring }: { record: RecordName; referring: string[] }) {
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const done = () => {
    setDeletion(null);
    // The button may go with the row; the grid stays.
    button.current?.closest("table")?.querySelector<HTMLElement>('td[tabindex="0"]')?.focus();
  };
  return (
    <>
      <button type="button" ref={button} class="row-delete" aria-label={`Delete ${keyText(record.key)}`} title="Delete" onClick={() => setDeletion(new Deletion(record, referring))}>
        <Icon name="close" size={12} />
      </button>
      {deletion && <DeleteDialog deletion={deletion} onDeleted={done} onClose={() => setDeletion(null)} />}
    </>
  );
}
