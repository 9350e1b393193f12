import { apiPath, sendEarly } from "../api";
import { place } from "../router";

/** How many rows a page has unless another number is chosen. */
export const PAGE_SIZE = 50;

/**
 * Asks for the rows of the entry that the page opens with before anything is drawn, which takes longer than the answer:
 * those that its screen shows unless the query of the page says otherwise, or it has too many columns.
 */
export function sendFirstRows(): void {
  const { path, query } = place.peek();
  const [, screen, name, ...more] = path.split("/").map(decodeURIComponent);
  if (screen !== "entry" || !name || more.length > 0 || query.size > 0) return;
  sendEarly({ path: apiPath("tables", name), query: [["limit", String(PAGE_SIZE)]] });
}
