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

/** The button that begins a request, and cancels it while it runs. */
export function RunButton({ running, label, onCancel, onRun, disabled, title }: Props) {
  if (running) {
    return (
      <button type="button" class="button danger" onClick={onCancel}>
        Cancel
      </button>
    );
  }
  return (
    <button type={onRun ? "button" : "submit"} class="button primary" onClick={onRun} disabled={disabled} title={title}>
      {label}
    </button>
  );
}
