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
      onKeyDown={(event) => onEnter(event, several.current)}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

/** What Enter does in an input of one line, or of several. */
export function onEnter(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }, isOfSeveral: boolean): void {
  if (event.key !== "Enter" || event.isComposing) return;
  const { currentTarget: input } = event;
  if (event.altKey) {
    // With Alt browsers begin no line by themselves.
    event.preventDefault();
    input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end");
    input.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (!isOfSeveral && !event.shiftKey) {
    event.preventDefault();
    input.form?.requestSubmit();
  }
}
