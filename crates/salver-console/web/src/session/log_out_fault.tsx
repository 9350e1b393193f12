import { useEffect, useRef } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { logOut, logOutFault } from "./session";

/** Says that a log-out has failed, and why. */
export function LogOutFault() {
  const dialog = useRef<HTMLDialogElement>(null);
  const fault = logOutFault.value;
  useEffect(() => {
    if (fault === null) dialog.current?.close();
    else if (!dialog.current?.open) dialog.current?.showModal();
  }, [fault]);
  const close = () => {
    logOutFault.value = null;
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="log-out-title" onClose={close}>
      <h2 id="log-out-title">You are still logged in</h2>
      <ErrorNote error={fault} onRetry={() => void logOut()} />
      <div class="row end">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}
