import { ErrorNote } from "../error_note";
import type { CellEdit } from "./cell_edits";
import { keyText } from "./record_request";

export interface LeftEditsProps {
  edits: CellEdit[];
  onSave: (edit: CellEdit) => void;
  onDiscard: (edit: CellEdit) => void;
}

/** Changes that are not saved and whose editor is no longer there: what was typed is not lost. */
export function LeftEdits({ edits, onSave, onDiscard }: LeftEditsProps) {
  return (
    <>
      {edits.map((edit) => (
        <div key={edit.id} class="note warn left-edit" role="alert">
          <p class="note-title">
            <bdi>{edit.column}</bdi> of the row <bdi>{keyText(edit.key)}</bdi> is not saved
          </p>
          <p dir="auto" class="left-value">
            {edit.draft === null ? "NULL" : edit.draft}
          </p>
          <ErrorNote error={edit.error} />
          <p class="row">
            <button type="button" class="button small primary" onClick={() => onSave(edit)}>
              Save
            </button>
            <button type="button" class="button small" onClick={() => onDiscard(edit)}>
              Discard
            </button>
          </p>
        </div>
      ))}
    </>
  );
}
