import { fetchEarly } from "../api";
import type { Entry } from "../catalog";
import { place } from "../router";
import { readView, rowsRequest } from "./view_state";

/**
 * Asks for the rows of the entry that the page opens with as soon as it is known to exist, and before anything is drawn,
 * which takes longer than the answer: those that its screen shows, by the query of the page.
 */
export function fetchFirstRows(entries: Map<string, Entry>): Promise<unknown> | undefined {
  const { path, query } = place.peek();
  const [, screen, name, ...more] = path.split("/").map(decodeURIComponent);
  if (screen !== "entry" || !name || more.length > 0 || (query.get("tab") ?? "rows") !== "rows") return undefined;
  const entry = entries.get(name);
  return entry?.columns.length ? fetchEarly(rowsRequest(entry, readView(query, entry))) : undefined;
}
