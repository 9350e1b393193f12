import { pageUrl } from "../router";

/** Whether a value can be a segment of a path. Browsers take `.` and `..` for steps in it, and nothing for no segment. */
export function isSegment(value: string): boolean {
  return value !== "" && value !== "." && value !== "..";
}

/** The page of a row: its key in the path, or in the query where a value can't be a segment. */
export function rowUrl(entry: string, key: string[]): string {
  if (key.every(isSegment)) return pageUrl("entry", entry, "row", ...key);
  return `${pageUrl("entry", entry, "row")}?${new URLSearchParams(key.map((value) => ["key", value]))}`;
}

/** The key in the address of the page of a row: the parts of its path behind `row`, or those of its query. */
export function rowKeyOf(parts: string[], query: URLSearchParams): string[] {
  return parts.length > 0 ? parts : query.getAll("key");
}
