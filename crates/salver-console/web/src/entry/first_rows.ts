import { apiPath, fetchEarly } from "../api";
import type { Entry } from "../catalog";
import { place } from "../router";

/** How many rows a page has unless another number is chosen. */
export const PAGE_SIZE = 50;
/** How many columns are shown unless others are chosen. */
export const FIRST_COLUMNS = 50;

/**
 * Asks for the rows of the entry that the page opens with as soon as it is known to exist, and before anything is drawn,
 * which takes longer than the answer: those that its screen shows unless the query of the page says otherwise.
 */
export function fetchFirstRows(entries: Map<string, Entry>): Promise<unknown> | undefined {
  const { path, query } = place.peek();
  const [, screen, name, ...more] = path.split("/").map(decodeURIComponent);
  if (screen !== "entry" || !name || more.length > 0 || query.size > 0) return undefined;
  const columns = entries.get(name)?.columns.length ?? 0;
  if (columns === 0 || columns > FIRST_COLUMNS) return undefined;
  return fetchEarly({ path: apiPath("tables", name), query: [["limit", String(PAGE_SIZE)]] });
}
