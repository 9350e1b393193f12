import { useState } from "preact/hooks";
import { type Entry, catalog } from "../catalog";
import type { RecordTable } from "../entry/metadata";
import { ErrorNote } from "../error_note";
import { Icon } from "../icon";
import { type RecordName, createRecord, deleteRecord, readRecord } from "./record";
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
              await createRecord(records.name, keyColumns, values);
              setOpen(false);
            }}
            onCancel={() => setOpen(false)}
          />
        </RecordDialog>
      )}
    </>
  );
}

/** The button that deletes a row. The change can be taken back, so it asks nothing. */
export function RowActions({ record }: { record: RecordName }) {
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    try {
      await deleteRecord(record, await readRecord(record));
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <>
      <button type="button" class="row-delete" aria-label={`Delete ${record.key.join(", ")}`} title="Delete" onClick={remove}>
        <Icon name="close" size={12} />
      </button>
      {error !== null && (
        <RecordDialog title={`${record.table} ${record.key.join(", ")} was not deleted`} onClose={() => setError(null)}>
          <ErrorNote error={error} />
          <div class="row end">
            <button type="button" class="button" onClick={() => setError(null)}>
              Close
            </button>
          </div>
        </RecordDialog>
      )}
    </>
  );
}
