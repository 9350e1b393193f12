import { type Kind, isNumeric, kindOf } from "../column_type";
import { ExactNumber, type Value } from "../data_json";

/** What was typed for a column. `null` is NULL; `undefined` leaves the column to its default. */
export type Draft = string | null | undefined;

/** The value that is written for what was typed. A text that is no number is sent as it is, and the server says so. */
export function draftValue(draft: string | null, kind: Kind): Value {
  if (draft === null) return null;
  if (kind === "boolean" && (draft === "true" || draft === "false")) return draft === "true";
  if (isNumeric(kind) && /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(draft.trim())) return new ExactNumber(draft.trim());
  return draft;
}

interface Props {
  id: string;
  type: string;
  value: Draft;
  onChange: (value: Draft) => void;
  invalid?: boolean;
  describedBy?: string | undefined;
  autofocus?: boolean;
  maxLength?: number | undefined;
}

/** The input for a value of a column. */
export function FieldInput({ id, type, value, onChange, invalid, describedBy, autofocus, maxLength }: Props) {
  const kind = kindOf(type);
  const common = { id, "aria-invalid": invalid ?? false, "aria-describedby": describedBy, ref: autofocus ? focusOnce : undefined };
  if (kind === "boolean") {
    return (
      <select {...common} value={value ?? ""} onChange={(event) => onChange(event.currentTarget.value || null)}>
        <option value="">{value === undefined ? "default" : "NULL"}</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  }
  const placeholder = value === null ? "NULL" : value === undefined ? "default" : "";
  const text = value ?? "";
  if (kind === "text" && (text.length > 60 || text.includes("\n"))) {
    return <textarea {...common} dir="auto" rows={5} value={text} placeholder={placeholder} onInput={(event) => onChange(event.currentTarget.value)} />;
  }
  return (
    <input
      {...common}
      dir="auto"
      inputMode={isNumeric(kind) ? "decimal" : undefined}
      maxLength={maxLength && maxLength < 10000 ? maxLength : undefined}
      value={text}
      placeholder={placeholder}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const focusOnce = (element: HTMLElement | null) => {
  if (!element || element.dataset.focused) return;
  element.dataset.focused = "yes";
  element.focus();
  if (element instanceof HTMLInputElement) element.select();
};
