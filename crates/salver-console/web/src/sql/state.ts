import { place, setQuery } from "../router";
import { readKept, writeKept } from "../session/kept";

/** What is below the editor. */
export const VIEWS = ["rows", "chart", "plan"] as const;
/** One of the views. */
export type View = (typeof VIEWS)[number];

/** How many rows may be read. */
export const LIMITS = [100, 1000, 10_000, 100_000] as const;

/** The state of the screen in the address of the page. */
export interface SqlState {
  sql: string | null;
  /** The name of a named query, whose text is the server's. */
  query: string | null;
  values: Record<string, string>;
  limit: number;
  view: View;
  chart: string | null;
}

const VALUE = "v.";

/** Reads the state; reading it in a component draws that again when it changes. */
export function readState(): SqlState {
  const { query } = place.value;
  const values: Record<string, string> = {};
  for (const [name, value] of query) if (name.startsWith(VALUE)) values[name.slice(VALUE.length)] = value;
  const limit = Number(query.get("limit"));
  return {
    sql: query.get("q"),
    query: query.get("query"),
    values,
    limit: LIMITS.find((known) => known === limit) ?? 1000,
    view: VIEWS.find((known) => known === query.get("view")) ?? "rows",
    chart: query.get("chart"),
  };
}

/** Puts a statement that was run into the address, so that a link shows the same. */
export function showStatement(sql: string, values: Record<string, string>): void {
  const changes: Record<string, string | null> = { q: sql, query: null };
  for (const name of Object.keys(readState().values)) changes[VALUE + name] = null;
  for (const [name, value] of Object.entries(values)) changes[VALUE + name] = value;
  const before = readState();
  setQuery(changes, { replace: before.sql === sql || (before.sql === null && before.query === null) });
}

/** Puts a named query that was run into the address, with the values that were given. */
export function showQuery(name: string, values: Record<string, string>): void {
  const before = readState();
  const changes: Record<string, string | null> = { q: null, query: name };
  for (const known of Object.keys(before.values)) changes[VALUE + known] = null;
  for (const [known, value] of Object.entries(values)) changes[VALUE + known] = value;
  setQuery(changes, { replace: before.query === name || (before.query === null && before.sql === null) });
}

const DRAFT = "salver.sql.draft";

/** The text that the user last had in the editor. */
export const loadDraft = (): string | null => readKept(DRAFT);

/** Keeps the text of the editor for the next visit. */
export const keepDraft = (sql: string): void => writeKept(DRAFT, sql);
