interface Props {
  running: boolean;
  /** Word for what is done. */
  label: string;
  onCancel: () => void;
  /** What a click does; without it the button submits its form. */
  onRun?: () => void;
  disabled?: boolean;
  title?: string;
}

/**
 * The button that begins a request, and cancels it while it runs. These are two buttons by their keys: one that became
 * the other during a click would submit its form by the click that cancels.
 */
export function RunButton({ running, label, onCancel, onRun, disabled, title }: Props) {
  if (running) {
    return (
      <button key="cancel" type="button" class="button danger" onClick={onCancel}>
        Cancel
      </button>
    );
  }
  return (
    <button key="run" type={onRun ? "button" : "submit"} class="button primary" onClick={onRun} disabled={disabled} title={title}>
      {label}
    </button>
  );
}
