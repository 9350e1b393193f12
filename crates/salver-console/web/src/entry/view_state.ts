import { type ApiRequest, apiPath } from "../api";
import type { Column, Entry } from "../catalog";
import type { SortKey } from "../grid/grid";
import { setQuery } from "../router";
import { type Filter, readFilters, sqlName, sqlWhere, writeFilter } from "./filters";

/** How many rows a page has unless another number is chosen. */
export const PAGE_SIZE = 50;
/** How many columns are shown unless others are chosen. */
export const FIRST_COLUMNS = 50;
/** The choices for the rows of a page. */
export const PAGE_SIZES = [25, 50, 100, 250, 1000];

/** The number of the last page, which is there without rows, too. */
export const lastPage = (total: number, limit: number): number => Math.max(1, Math.ceil(total / limit));

/** What of an entry is shown. It is the query of the page, in the grammar of `/api/tables`. */
export interface ViewState {
  filters: Filter[];
  sort: SortKey[];
  /** The columns that are shown, in their order. */
  columns: Column[];
  /** Whether the columns were chosen. */
  chosen: boolean;
  page: number;
  limit: number;
  /** Conditions in groups, which only a link can have: they are kept and sent. */
  groups: [string, string][];
}

/** A name in a list of names, in quotes where it needs them. */
export const quoteName = (name: string) => (/[",:]|^[-+ ]| $|\.nulls(first|last)$/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);

/** The names of a list. */
export function splitNames(text: string): string[] {
  return text.match(/"(?:[^"]|"")*"|[^,]+/g)?.map((name) => (name.startsWith('"') ? name.slice(1, -1).replace(/""/g, '"') : name)) ?? [];
}

/** Reads the state from the query of the page. */
export function readView(query: URLSearchParams, entry: Entry): ViewState {
  const names = splitNames(query.get("columns") ?? "");
  const known = names.flatMap((name) => entry.columns.find((column) => column.name === name) ?? []);
  const number = (name: string, otherwise: number) => Math.max(1, Math.floor(Number(query.get(name))) || otherwise);
  return {
    filters: readFilters(query),
    sort: readSort(query.get("sort") ?? ""),
    columns: known.length ? known : entry.columns.slice(0, FIRST_COLUMNS),
    chosen: known.length > 0,
    page: number("page", 1),
    limit: Math.min(1000, number("limit", PAGE_SIZE)),
    groups: [...query].filter(([name]) => ["or", "and", "not"].includes(name)),
  };
}

function readSort(text: string): SortKey[] {
  return splitSort(text).map((part) => {
    const descending = part.startsWith("-");
    const name = part.replace(/^[-+]/, "").replace(/\.nulls(first|last)$/, "");
    return { column: name.startsWith('"') ? name.slice(1, -1).replace(/""/g, '"') : name, descending };
  });
}

const splitSort = (text: string) => text.match(/[-+]?"(?:[^"]|"")*"(?:\.\w+)?|[^,]+/g) ?? [];

/** An order as a parameter. */
export function writeSort(sort: SortKey[]): string | null {
  return sort.length ? sort.map(({ column, descending }) => `${descending ? "-" : ""}${quoteName(column)}`).join(",") : null;
}

/** Shows other conditions, from the first page on. */
export function setFilters(before: Filter[], filters: Filter[]): void {
  const changes: Record<string, string | string[] | null> = { page: null };
  for (const filter of before) changes[writeFilter(filter)[0]] = null;
  for (const filter of filters) {
    const [name, value] = writeFilter(filter);
    const already = changes[name];
    changes[name] = Array.isArray(already) ? [...already, value] : [value];
  }
  setQuery(changes);
}

/** Shows other columns; those of the beginning need no parameter. */
export function setColumns(entry: Entry, names: string[]): void {
  const first = entry.columns.slice(0, FIRST_COLUMNS).map(({ name }) => name);
  const same = names.length === first.length && names.every((name, index) => name === first[index]);
  setQuery({ columns: same || names.length === 0 ? null : names.map(quoteName).join(",") });
}

/** The conditions as parameters. */
export function conditionQuery(state: ViewState): [string, string][] {
  return [...state.filters.map(writeFilter), ...state.groups];
}

/** The request for the rows that are shown. `also` are columns that are needed and not shown, such as those of the key. */
export function rowsRequest(entry: Entry, state: ViewState, also: string[] = []): ApiRequest {
  const query = downloadQuery(entry, state, also);
  query.push(["limit", String(state.limit)]);
  if (state.page > 1) query.push(["page", String(state.page)]);
  return { path: apiPath("tables", entry.name), query, sql: sqlOf(entry, state) };
}

/** The parameters of all rows of the view, on every page. */
export function downloadQuery(entry: Entry, state: ViewState, also: string[] = []): [string, string][] {
  const query: [string, string][] = [];
  const names = state.columns.map(({ name }) => name);
  const all = [...names, ...also.filter((name) => !names.includes(name))];
  if (state.chosen || names.length < entry.columns.length) query.push(["columns", all.map(quoteName).join(",")]);
  query.push(...conditionQuery(state));
  const sort = writeSort(state.sort);
  if (sort) query.push(["sort", sort]);
  return query;
}

function sqlOf(entry: Entry, state: ViewState): string | undefined {
  const where = state.groups.length ? null : sqlWhere(state.filters, entry.columns);
  if (where === null) return undefined;
  const columns = state.chosen || state.columns.length < entry.columns.length ? state.columns.map(({ name }) => sqlName(name)).join(", ") : "*";
  const order = state.sort.map(({ column, descending }) => `${sqlName(column)}${descending ? " desc" : ""} nulls first`).join(", ");
  const offset = state.page > 1 ? ` offset ${(state.page - 1) * state.limit}` : "";
  return `select ${columns} from ${sqlName(entry.name)}${where}${order ? ` order by ${order}` : ""} limit ${state.limit}${offset}`;
}

/** The request whose answer tells how many rows there are in all. */
export function countRequest(entry: Entry, state: ViewState): ApiRequest {
  return { path: apiPath("tables", entry.name), query: [...conditionQuery(state), ["count", "true"], ["limit", "0"]] };
}
