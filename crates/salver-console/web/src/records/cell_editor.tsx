import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../api";
import { kindOf } from "../column_type";
import { valueText } from "../grid/value";
import { type CellEdit, draftOf, isTouched } from "./cell_edits";
import { type Draft, draftWarning } from "./draft";
import { FieldInput } from "./field_input";
import { fieldErrors } from "./record";

interface Props {
  edit: CellEdit;
  nullable: boolean;
  onDraft: (draft: Draft) => void;
  onSave: (draft: Draft) => void;
  onClose: () => void;
}

/** The editor in place of a cell: Enter saves, with Ctrl where there are several lines; Escape leaves the value as it was. */
export function CellEditor({ edit, nullable, onDraft, onSave, onClose }: Props) {
  const { column, type, draft, error, busy, before, shown } = edit;
  const save = (next: Draft) => !busy && onSave(next);
  const message = fieldErrors(error)[column] ?? textOfError(error);
  const told = (value: typeof shown) => (value === null ? "NULL" : valueText(value).slice(0, 80) || "empty");
  const form = useRef<HTMLFormElement>(null);
  const warning = draftWarning(draft, draftOf(shown), kindOf(type));
  // At the edge of a grid what is said would be out of sight.
  useEffect(() => form.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [message, warning, before]);
  return (
    <form
      ref={form}
      class="cell-editor"
      aria-label={`Change ${column}`}
      onSubmit={(event) => {
        event.preventDefault();
        save(draft);
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
        if (event.key === "Enter" && event.target instanceof HTMLTextAreaElement && !event.defaultPrevented && (event.ctrlKey || event.metaKey)) save(draft);
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      <label class="visually-hidden" for="cell-input">
        {column}
      </label>
      <FieldInput
        id="cell-input"
        type={type}
        value={draft}
        before={draftOf(shown)}
        onChange={onDraft}
        invalid={Boolean(message)}
        describedBy={message ? "cell-error" : undefined}
        autofocus={isTouched(edit) ? "behind" : "all"}
      />
      {before !== undefined && !message && (
        <p class="changed-meanwhile" role="status">
          Somebody else changed it meanwhile: it was <bdi>{told(before)}</bdi> and is now <bdi>{told(shown)}</bdi>.
        </p>
      )}
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
          <button type="button" class="button small" disabled={busy} onClick={() => save(null)}>
            NULL
          </button>
        )}
      </div>
    </form>
  );
}

function textOfError(error: unknown): string | null {
  if (error instanceof ApiError) return [error.message, error.hint].filter(Boolean).join(": ");
  return error instanceof Error ? error.message : error ? String(error) : null;
}
