import { type Kind, isNumeric } from "../column_type";
import { ExactNumber, type Value, isJson } from "../data_json";
import { base64OfHex, isHex } from "./bytes_text";
import { hasMixedEnds, withEndsOf, withPlainEnds } from "./line_ends";

/** What was typed for a column. `null` is NULL; `undefined` leaves the column to its default. */
export type Draft = string | null | undefined;

/** What is wrong with what was typed, where the console knows; the server says the rest. */
export function draftFault(draft: Draft, kind: Kind): string | null {
  if (kind !== "binary" || draft === null || draft === undefined || isHex(draft)) return null;
  return "Bytes are written in hexadecimal, two digits for each, as in 00ff";
}

/** What happens to the text that was there, beside what was typed. */
export function draftWarning(draft: Draft, before: Draft, kind: Kind): string | null {
  if (typeof before !== "string" || typeof draft !== "string" || !hasMixedEnds(before) || !isChanged(draft, before, kind)) return null;
  return "This text has line ends of several kinds (CRLF, LF, CR). Saved, all of them become LF.";
}

/** Whether something else was typed than what is there: inputs change line ends of texts that nobody touched. */
export function isChanged(draft: Draft, before: Draft, kind: Kind): boolean {
  if (draft === undefined) return false;
  if (typeof draft !== "string" || typeof before !== "string") return draft !== before;
  if (kind === "binary") return draft.toLowerCase() !== before.toLowerCase();
  return withPlainEnds(draft) !== withPlainEnds(before);
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** Whether a text can be sent as a number: one beyond all floats is no JSON. */
const isNumber = (text: string) => NUMBER.test(text.trim()) && isJson(text.trim());

/**
 * What was typed for a column of texts, as a number where there was one: databases without fixed types have both in the
 * same column, and keep what they are sent.
 */
export function likeBefore(value: Value, before: Value): Value {
  const wasNumber = typeof before === "number" || before instanceof ExactNumber;
  return wasNumber && typeof value === "string" && isNumber(value) ? new ExactNumber(value.trim()) : value;
}

/** The value that is written for what was typed. A text that is no number is sent as it is, and the server says so. */
export function draftValue(draft: string | null, before: Draft, kind: Kind): Value {
  if (draft === null) return null;
  if (kind === "binary") return base64OfHex(draft);
  if (kind === "boolean" && (draft === "true" || draft === "false")) return draft === "true";
  if (isNumeric(kind) && isNumber(draft)) return new ExactNumber(draft.trim());
  return withEndsOf(before ?? "", draft);
}
