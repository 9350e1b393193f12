import { useState } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { lastChange } from "./record";

/** Says what the last change was, and takes it back. */
export function UndoBar() {
  const [error, setError] = useState<unknown>(null);
  const change = lastChange.value;
  if (!change) return null;
  const undo = async () => {
    setError(null);
    try {
      await change.back?.();
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <div class="undo" role="status">
      <span>
        <bdi>{change.done}</bdi>
      </span>
      {change.back && (
        <button type="button" class="button small" onClick={undo}>
          Undo
        </button>
      )}
      <button type="button" class="button small quiet" onClick={() => (lastChange.value = null)}>
        Dismiss
      </button>
      <ErrorNote error={error} />
    </div>
  );
}
