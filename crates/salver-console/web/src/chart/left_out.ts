import type { LeftOut } from "./series";
import type { ChartSettings } from "./settings";

/** What a chart does not draw, in words: nothing is left out in silence. */
export function leftOutTexts({ missing, special, groups, rowsInGroups, outside }: LeftOut, { kind, x, y }: Pick<ChartSettings, "kind" | "x" | "y">): string[] {
  const lacking = kind !== "map" ? "a value" : x === y ? "a point" : "a place";
  return [
    missing > 0 && `${rows(missing)} without ${lacking}`,
    special > 0 && specialText(special),
    groups > 0 && `${counted(groups, "group")} of ${rows(rowsInGroups)} that ${groups === 1 ? "comes" : "come"} to NaN or infinity`,
    outside && `${outside.count.toLocaleString("en")} ${outside.why}`,
  ].filter((text) => typeof text === "string");
}

/** How many rows have no number to draw. */
export function specialText(special: number): string {
  return `${rows(special)} with NaN or infinity`;
}

const rows = (count: number) => counted(count, "row");

function counted(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}
