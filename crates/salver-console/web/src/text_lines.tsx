import type { TextareaHTMLAttributes } from "preact";
import { useRef } from "preact/hooks";

interface Props extends Omit<TextareaHTMLAttributes, "value" | "onInput" | "rows"> {
  value: string;
  onText: (text: string) => void;
  /** Whether it has several lines from the beginning, for a text that is long. */
  long?: boolean;
}

/**
 * An input for a text of one line, which becomes one of several lines where the text has some: an `input` would drop
 * those that are pasted. Enter submits the form, as in any input of one line; with Shift or Alt it begins another line.
 */
export function TextLines({ value, onText, long = false, ...others }: Props) {
  // It stays one of several lines until it is made anew: what is typed shall not jump.
  const several = useRef(false);
  if (long || /[\r\n]/.test(value)) several.current = true;
  return (
    <textarea
      dir="auto"
      {...others}
      class={several.current ? undefined : "one-line"}
      rows={several.current ? 5 : 1}
      value={value}
      onKeyDown={several.current ? undefined : onOneLineKey}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

/** What a key does in an input of one line. */
export function onOneLineKey(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== "Enter" || event.isComposing) return;
  const { currentTarget: input } = event;
  if (!event.shiftKey && !event.altKey) {
    event.preventDefault();
    input.form?.requestSubmit();
  } else if (event.altKey) {
    // Browsers begin a line by themselves with Shift alone.
    event.preventDefault();
    input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end");
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
