import { useRef, useState } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { useLoaded } from "../use_loaded";
import type { Deletion, Prepared } from "./deletion";
import { nameOf } from "./record_request";
import { RecordDialog } from "./record_dialog";

interface Props {
  deletion: Deletion;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks before a row is deleted, and says what would be lost. */
export function DeleteDialog({ deletion, onDeleted, onClose }: Props) {
  const prepared = useLoaded("once", () => deletion.prepared);
  const cancel = useRef<HTMLButtonElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const { referring } = deletion;
  // A dialog that closes itself gives the focus back to where it was, and behind one that is open nothing takes it.
  const close = () => cancel.current?.closest("dialog")?.close();
  const remove = async () => {
    setBusy(true);
    try {
      await deletion.run();
      close();
      onDeleted();
    } catch (failed) {
      setError(failed);
      setBusy(false);
      prepared.reload();
      // A button that can't be pressed has lost the focus.
      cancel.current?.focus();
    }
  };
  return (
    <RecordDialog title={`Delete ${nameOf(deletion.record)}?`} onClose={onClose}>
      {referring.length > 0 && (
        <p>
          Rows of <bdi>{referring.join(", ")}</bdi> may refer to it. The database may delete or change them, too, and that can't be undone.
        </p>
      )}
      <p role="status">
        <bdi>{prepared.data ? outlook(prepared.data) : prepared.error ? "" : "Reading the row…"}</bdi>
      </p>
      <ErrorNote error={error ?? prepared.error} />
      <div class="row end">
        <button type="button" class="button" ref={cancel} autofocus onClick={close}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={busy || prepared.data === null} onClick={remove}>
          Delete
        </button>
      </div>
    </RecordDialog>
  );
}

/** What becomes of the row. */
function outlook({ whyFinal }: Prepared): string {
  return whyFinal === null ? "The row itself can be brought back." : `The row can't be brought back: ${whyFinal}.`;
}
