import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A dialog around a form of a row, or a question about one. */
export function RecordDialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="record-title" onClose={onClose}>
      <h2 id="record-title">
        <bdi>{title}</bdi>
      </h2>
      {children}
    </dialog>
  );
}
