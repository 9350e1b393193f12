import { useEffect, useRef } from "preact/hooks";
import { CopyButton } from "../copy_button";
import { ExactNumber, type Value, writeData } from "../data_json";
import { JsonTree } from "./json_tree";
import { valueText } from "./value";

/** The whole of a value that a cell shows in part. A text that is JSON can be opened, too. */
export function ValueDialog({ name, value, onClose }: { name: string; value: Value; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const nested = typeof value === "object" && value !== null && !(value instanceof ExactNumber);
  return (
    <dialog ref={dialog} class="dialog wide" aria-labelledby="value-title" onClose={onClose}>
      <div class="row">
        <h2 id="value-title">
          <bdi>{name}</bdi>
        </h2>
        <span class="spring" />
        <CopyButton text={() => (nested ? writeData(value, 2) : valueText(value))} />
        <button type="button" class="button small" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div class="whole-value" tabIndex={0} role="region" aria-label="Value">
        {nested ? <JsonTree value={value} /> : <pre dir="auto" tabIndex={0}>{valueText(value)}</pre>}
      </div>
    </dialog>
  );
}
