import { useState } from "preact/hooks";
import { kindOf, typeLabel } from "../column_type";
import type { Column, TableColumn } from "../catalog";
import type { Value } from "../data_json";
import type { RecordTable } from "../entry/metadata";
import { ErrorNote } from "../error_note";
import { valueText } from "../grid/value";
import { useUnsaved } from "../unsaved";
import { type Draft, draftFault, draftValue, isChanged } from "./draft";
import { FieldInput, leftOutOf } from "./field_input";
import { type Changes, fieldErrors } from "./record";

interface Props {
  columns: Column[];
  table: RecordTable;
  /** The columns of the table in its database, which know what may be NULL. */
  described: TableColumn[];
  /** The row that is changed; `null` for a new one. */
  row: Map<string, Value> | null;
  saveLabel: string;
  /** Writes the values that differ from the row. */
  onSave: (changes: Changes) => Promise<void>;
  onCancel: () => void;
}

/** The form of a row, new or known. Errors of a column stand below it. */
export function RecordForm({ columns, table, described, row, saveLabel, onSave, onCancel }: Props) {
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const errors = { ...fieldErrors(error), ...faults };
  const fields = row ? table.changeable : table.fields;
  // What the description leaves out, the database computes.
  const editable = columns.filter(({ name, type }) => kindOf(type) !== "nested" && name in fields && (row === null || !fields[name]?.readOnly));

  const before = (name: string): Draft => {
    const value = row?.get(name);
    return row ? (value === null || value === undefined ? null : valueText(value)) : undefined;
  };
  useUnsaved(editable.some(({ name, type }) => isChanged(drafts[name], before(name), kindOf(type))));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const changes: Changes = new Map();
    const wrong: Record<string, string> = {};
    for (const { name, type } of editable) {
      const draft = drafts[name];
      const kind = kindOf(type);
      if (draft === undefined || !isChanged(draft, before(name), kind)) continue;
      const fault = draftFault(draft, kind);
      if (fault === null) changes.set(name, draftValue(draft, before(name), kind));
      else wrong[name] = fault;
    }
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return setError(null);
    if (row && changes.size === 0) return onCancel();
    setBusy(true);
    try {
      await onSave(changes);
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="record-form" onSubmit={submit}>
      {editable.map(({ name, type }, index) => {
        const draft = name in drafts ? drafts[name] : before(name);
        const column = described.find((one) => one.name === name);
        const id = `field-${name}`;
        const message = errors[name];
        return (
          <div class="field" key={name}>
            <div class="row">
              <label for={id}>
                <bdi>{name}</bdi>
              </label>
              <small>
                {typeLabel(type)}
                {column?.pk && " · key"}
                {column?.fk && ` · refers to ${column.fk}`}
              </small>
              <span class="spring" />
              {(column === undefined || column.nullable) && draft !== null && kindOf(type) !== "boolean" && (
                <button type="button" class="button small quiet" onClick={() => setDrafts({ ...drafts, [name]: null })}>
                  Set NULL
                </button>
              )}
            </div>
            <FieldInput
              id={id}
              type={type}
              value={draft}
              before={before(name)}
              onChange={(value) => setDrafts({ ...drafts, [name]: value })}
              invalid={Boolean(message)}
              describedBy={message ? `${id}-error` : undefined}
              autofocus={index === 0 ? "all" : undefined}
              leftOut={leftOutOf(fields[name], table.required.includes(name), column)}
              maxLength={fields[name]?.maxLength}
            />
            {message && (
              <span class="field-error" id={`${id}-error`} role="alert">
                {message}
              </span>
            )}
          </div>
        );
      })}
      <ErrorNote error={error} />
      <div class="row end">
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy}>
          {saveLabel}
        </button>
      </div>
    </form>
  );
}
