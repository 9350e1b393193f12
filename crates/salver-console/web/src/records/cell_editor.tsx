import { useState } from "preact/hooks";
import { kindOf } from "../column_type";
import type { Column } from "../catalog";
import { type Value } from "../data_json";
import { ApiError } from "../api";
import { valueText } from "../grid/value";
import { type Draft, FieldInput, draftValue } from "./field_input";
import { fieldErrors } from "./record";

interface Props {
  column: Column;
  value: Value;
  nullable: boolean;
  onSave: (value: Value) => Promise<void>;
  onClose: () => void;
}

/** The editor in place of a cell: Enter saves, Escape leaves the value as it was. */
export function CellEditor({ column, value, nullable, onSave, onClose }: Props) {
  const before: Draft = value === null ? null : valueText(value);
  const [draft, setDraft] = useState<Draft>(before);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const save = async (next: Draft) => {
    if (next === before || next === undefined) return onClose();
    setBusy(true);
    try {
      await onSave(draftValue(next, kindOf(column.type)));
    } catch (failed) {
      setError(failed);
      setBusy(false);
    }
  };
  const message = fieldErrors(error)[column.name] ?? (error instanceof ApiError ? [error.message, error.hint].filter(Boolean).join(": ") : error ? String(error) : null);
  return (
    <form
      class="cell-editor"
      aria-label={`Change ${column.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save(draft);
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
        if (event.key === "Enter" && event.target instanceof HTMLTextAreaElement && (event.ctrlKey || event.metaKey)) void save(draft);
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      <label class="visually-hidden" for="cell-input">
        {column.name}
      </label>
      <FieldInput id="cell-input" type={column.type} value={draft} onChange={setDraft} invalid={Boolean(message)} describedBy={message ? "cell-error" : undefined} autofocus />
      {message && (
        <p class="field-error" id="cell-error" role="alert">
          <bdi>{message}</bdi>
        </p>
      )}
      <div class="row">
        <button type="submit" class="button small primary" disabled={busy}>
          Save
        </button>
        <button type="button" class="button small" onClick={onClose}>
          Cancel
        </button>
        {nullable && (
          <button type="button" class="button small" onClick={() => void save(null)}>
            NULL
          </button>
        )}
      </div>
    </form>
  );
}
