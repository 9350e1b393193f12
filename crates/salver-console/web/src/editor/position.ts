/** A place in a text, as offsets: `from` is where it is, `to` the end of the word there. */
export interface TextPlace {
  from: number;
  to: number;
}

/** The place of a line and a column, both counted from 1 and in characters. */
export function placeAt(line: number, column: number, text: string): TextPlace | undefined {
  const lines = text.split("\n");
  const shown = Math.min(line, lines.length);
  if (shown < 1) return undefined;
  const start = lines.slice(0, shown - 1).reduce((sum, before) => sum + before.length + 1, 0);
  // The server counts characters, and the editor counts UTF-16 units.
  const characters = Array.from(lines[shown - 1] ?? "");
  const from = start + characters.slice(0, column - 1).join("").length;
  const word = /^(?:"(?:[^"]|"")*"|[\p{L}\p{N}_$.]+|\S)/u.exec(text.slice(from));
  return { from, to: from + (word ? word[0].length : 0) };
}

/** The place that the message of an error names: `at line 2, column 5`, or the end of the text. */
export function placeOf(message: string, text: string): TextPlace | undefined {
  const match = /\bat line (\d+), column (\d+)/.exec(message);
  if (match) return placeAt(Number(match[1]), Number(match[2]), text);
  return /found: EOF\b/.test(message) ? { from: text.length, to: text.length } : undefined;
}
