import { useRef } from "preact/hooks";
import { isNumeric, kindOf } from "../column_type";
import type { TableColumn } from "../catalog";
import type { RecordField } from "../entry/metadata";
import { TextLines } from "../text_lines";
import { type Draft, draftWarning } from "./draft";

/**
 * What a column takes where nothing is given, in words. The descriptions of tables say what may not be NULL and which
 * keys the database makes, and not always what has a default.
 */
export function leftOutOf(field: RecordField | undefined, isRequired: boolean, column: TableColumn | undefined): string {
  if (isRequired) return "a value is needed";
  return column && !column.nullable && !field?.readOnly ? "a value is needed, unless the column has a default" : "default";
}

interface Props {
  id: string;
  type: string;
  value: Draft;
  /** What is there now. */
  before: Draft;
  onChange: (value: Draft) => void;
  invalid?: boolean;
  describedBy?: string | undefined;
  /** Takes the focus when it is there: with its text chosen, or behind it, where somebody goes on typing. */
  autofocus?: "all" | "behind" | undefined;
  /** What the column takes where nothing is given, in words. */
  leftOut?: string;
  maxLength?: number | undefined;
}

/** The input for a value of a column, with a warning where the text can't keep its line ends. */
export function FieldInput({ id, type, value, before, onChange, invalid, describedBy, autofocus, leftOut = "default", maxLength }: Props) {
  const kind = kindOf(type);
  // Another kind of input in its place would lose the cursor.
  const several = useRef(false);
  const warning = draftWarning(value, before, kind);
  const descriptions = [describedBy, warning && `${id}-warning`].filter(Boolean).join(" ") || undefined;
  const focus = autofocus === "all" ? focusAll : autofocus ? focusOnce : undefined;
  const common = { id, "aria-invalid": invalid ?? false, "aria-describedby": descriptions, ref: focus };
  if (kind === "boolean") {
    return (
      <select {...common} value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value || null)}>
        <option value="">{value === undefined ? leftOut : "NULL"}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  }
  const placeholder = value === null ? "NULL" : value === undefined ? leftOut : kind === "binary" ? "hexadecimal, as in 00ff" : "";
  const text = value ?? "";
  // A database without fixed types may have a text with line ends in any column.
  if (kind === "text" || /[\r\n]/.test(text)) several.current = true;
  if (several.current) {
    return (
      <>
        <TextLines {...common} long={text.length > 60} maxLength={maxLength && maxLength < 10000 && kind === "text" ? maxLength : undefined} value={text} placeholder={placeholder} onText={onChange} />
        {warning && (
          <span class="field-warning" id={`${id}-warning`} role="status">
            {warning}
          </span>
        )}
      </>
    );
  }
  return (
    <input
      {...common}
      dir="auto"
      inputMode={isNumeric(kind) ? "decimal" : undefined}
      value={text}
      placeholder={placeholder}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const focusOnce = (element: HTMLElement | null): boolean => {
  if (!element || element.dataset.focused) return false;
  element.dataset.focused = "yes";
  element.focus();
  return true;
};

const focusAll = (element: HTMLElement | null) => {
  if (focusOnce(element) && (element instanceof HTMLInputElement || (element instanceof HTMLTextAreaElement && element.rows === 1))) element.select();
};
