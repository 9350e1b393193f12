/** A text as a textarea has it, which makes every line end a `\n`. */
export function withPlainEnds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** The kinds of line ends that a text has. */
function endsOf(text: string): Set<string> {
  return new Set(text.match(/\r\n|\r|\n/g) ?? []);
}

/** Whether a text has line ends of more than one kind, which an edited text can't keep. */
export function hasMixedEnds(text: string): boolean {
  return endsOf(text).size > 1;
}

/** What was typed in place of a text, with the line ends of that text where all of them are alike. */
export function withEndsOf(before: string, typed: string): string {
  const [end, ...others] = endsOf(before);
  return end === undefined || others.length > 0 ? withPlainEnds(typed) : withPlainEnds(typed).replaceAll("\n", end);
}
