import { ExactNumber, type Value, writeData } from "../data_json";

/** How many characters of a value a cell shows. */
export const CELL_LENGTH = 160;

/** The whole value as text: what is copied, and what an editor begins with. Nothing for NULL. */
export function valueText(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "object" ? writeData(value) : String(value);
}

/**
 * Characters that have no picture are shown as their symbols, so that they can be seen at all, and those that turn the
 * direction of a text by their numbers, so that a text reads as it is.
 */
export function visibleText(text: string): string {
  const turned = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (character) => `‹U+${character.charCodeAt(0).toString(16).toUpperCase()}›`);
  return turned.replace(/[\u0000-\u001f\u007f]/g, (character) => (character === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + character.charCodeAt(0))));
}

/** What a cell shows of a value: its beginning, and whether there is more to open. */
export function cellText(value: Value): { text: string; more: boolean } {
  const whole = valueText(value);
  const cut = whole.length > CELL_LENGTH;
  return { text: visibleText(cut ? whole.slice(0, CELL_LENGTH) : whole), more: cut || (typeof value === "object" && value !== null && !(value instanceof ExactNumber)) || /[\n\r]/.test(whole) };
}
