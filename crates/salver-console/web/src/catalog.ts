import { computed, signal } from "@preact/signals";
import { ApiError, fetchJson } from "./api";

/** A column as the index of the catalog describes it. */
export interface Column {
  name: string;
  type: string;
}

/** A dataset, a table of a database, or a stream. */
export interface Entry {
  name: string;
  state: string;
  kind: "dataset" | "table" | "stream" | string;
  rows: number | null;
  version?: string;
  memory_bytes?: number;
  source: string;
  columns: Column[];
  /** Why it could not be loaded, or not be loaded again. */
  message?: string;
  /** What to try then. */
  hint?: string;
  failed_at_unix_s?: number;
  /** How far it has loaded. */
  percent?: number;
}

/** A parameter of a function. */
export interface FunctionParameter {
  name: string;
  type: string;
  required: boolean;
  description?: string;
}

/** A function of a file. */
export interface FunctionEndpoint {
  function: string;
  call: string;
  method?: string;
  path?: string;
  summary?: string;
  pure?: boolean;
  result?: string;
  parameters: FunctionParameter[];
}

/** A file of functions. */
export interface FunctionFile {
  name: string;
  language: string;
  application: boolean;
  title: string | null;
  description: string | null;
  endpoints: FunctionEndpoint[];
  workers?: Record<string, number>;
}

/** A named query. */
export interface NamedQuery {
  name: string;
  sql?: string;
  description?: string | null;
  parameters: { name: string; type: string; default?: unknown }[];
  /** The tag of its text, where the caller may change it. */
  etag?: string;
}

/** A column of a table of a database, as `/api/columns` describes it. */
export interface TableColumn {
  name: string;
  type: string;
  length?: number;
  pk?: boolean;
  /** The table that the column refers to. */
  fk?: string;
  nullable?: boolean;
}

/** Everything that is served, as far as the caller may know of it. */
export interface Catalog {
  entries: Map<string, Entry>;
  functions: FunctionFile[];
  queries: NamedQuery[];
  /** Whether the caller may save queries. */
  editsQueries: boolean;
  /** The tables of databases with their keys, by the name at `/api/records`. */
  tables: Map<string, TableColumn[]>;
  /** The names of the streams that take events. */
  streams: Set<string>;
}

/** The catalog, `null` until it is there. */
export const catalog = signal<Catalog | null>(null);

/** Why the catalog could not be read. */
export const catalogError = signal<ApiError | null>(null);

/** The entries by their names. */
export const entryNames = computed(() => [...(catalog.value?.entries.keys() ?? [])].sort((a, b) => a.localeCompare(b)));

/** Takes over a newer number of rows, which a screen was told. */
export function noteRows(name: string, rows: number): void {
  const all = catalog.peek();
  const entry = all?.entries.get(name);
  if (!all || !entry || entry.rows === rows) return;
  catalog.value = { ...all, entries: new Map(all.entries).set(name, { ...entry, rows }) };
}

/** How often the catalog is read again while something of it loads, in milliseconds. */
const LOADING_INTERVAL = 2000;
let again: ReturnType<typeof setTimeout> | undefined;

interface Index {
  /** What has not loaded yet has no kind, source or columns. */
  entries: Record<string, { state: string } & Partial<Entry>>;
  edits_queries?: boolean;
}

/**
 * Reads the catalog. Only the index must be there; a caller may have no access to the rest. `onEntries` is told what the
 * index has before the rest is there.
 */
export async function loadCatalog(onEntries?: (entries: Map<string, Entry>) => unknown): Promise<void> {
  try {
    const [{ index, entries }, functions, queries, tables, streams] = await Promise.all([
      loadIndex(onEntries),
      optional<FunctionFile[]>("api/functions", []),
      optional<NamedQuery[]>("api/queries", []),
      optional<{ tables: { name: string; columns: TableColumn[] }[] }>("api/columns", { tables: [] }),
      optional<{ streams: { name: string }[] }>("api/streams", { streams: [] }),
    ]);
    catalog.value = {
      entries,
      functions,
      queries,
      editsQueries: index.edits_queries ?? false,
      tables: new Map(tables.tables.map((table) => [table.name, table.columns])),
      streams: new Set(streams.streams.map((stream) => stream.name)),
    };
    catalogError.value = null;
    clearTimeout(again);
    if ([...catalog.value.entries.values()].some(({ state }) => state === "loading")) again = setTimeout(() => void loadCatalog(), LOADING_INTERVAL);
  } catch (error) {
    catalogError.value = error instanceof ApiError ? error : new ApiError(0, "error", String(error), null, null);
  }
}

async function loadIndex(onEntries?: (entries: Map<string, Entry>) => unknown): Promise<{ index: Index; entries: Map<string, Entry> }> {
  const index = await fetchJson<Index>("");
  const entries = new Map(Object.entries(index.entries).map(([name, entry]) => [name, completed(name, entry)]));
  onEntries?.(entries);
  return { index, entries };
}

function completed(name: string, entry: { state: string } & Partial<Entry>): Entry {
  return { ...entry, name, kind: entry.kind ?? "dataset", rows: entry.rows ?? null, source: entry.source ?? "", columns: entry.columns ?? [] };
}

async function optional<T>(path: string, without: T): Promise<T> {
  try {
    return await fetchJson<T>(path);
  } catch {
    return without;
  }
}

/** The database of a table, from the words of its source. */
export function databaseOf(entry: Entry): string | null {
  return /of the database (.+)$/.exec(entry.source)?.[1] ?? null;
}

/** The name of an entry's table at `/api/records`, or `null` for what is not a table of a database. */
export function recordsName(entry: Entry, tables: Map<string, TableColumn[]>): string | null {
  if (entry.kind !== "table") return null;
  const database = databaseOf(entry);
  const bare = database && entry.name.startsWith(`${database}.`) ? entry.name.slice(database.length + 1) : entry.name;
  return tables.has(entry.name) ? entry.name : tables.has(bare) ? bare : null;
}
