import { computed, signal } from "@preact/signals";
import { ApiError, fetchChecked, isAbsent } from "./api";
import { type Index, type IndexEntry, FUNCTION_FILE, INDEX, QUERIES, STREAMS, TABLES } from "./catalog_shapes";
import { noteClosed, noteTold } from "./session/caller";
import { type Shape, list } from "./shape";

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
  /** Its name; empty where an application has only a path. */
  function: string;
  /** Where it is called by its name, which those of applications are not. */
  call?: string;
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
  /** Why it could not be loaded. */
  failure?: { message: string; hint: string | null };
  workers?: Record<string, number>;
}

/** A parameter of a named query. */
export interface QueryParameter {
  name: string;
  type: string;
  /** What it is when it is not sent; `null` may stand for no default, too. */
  default?: unknown;
  required: boolean;
  description?: string;
}

/** A named query. */
export interface NamedQuery {
  name: string;
  sql?: string;
  description?: string | null;
  parameters: QueryParameter[];
  /** The columns of its answer, none where they are not known. */
  columns: Column[];
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

/** What the catalog has beside entries, each from an answer of its own. */
export type Part = "functions" | "queries" | "columns" | "streams";

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
  /** The parts that are on their way. */
  awaited: Set<Part>;
  /** Why parts could not be read, or not all of them. */
  faults: Map<Part, ApiError>;
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

/** When the catalog was last read, in milliseconds of this page. */
let readAt = -Infinity;
let reading = 0;

/** What the index says before the rest of the catalog is there. */
export interface Indexed {
  entries: Map<string, Entry>;
  index: Index;
}

/**
 * Reads the catalog. Only the index must be there; the rest comes as it comes, and a caller may have no access to it.
 * `onIndex` is told what the index has before the rest is there. Resolves when all of it is.
 */
export async function loadCatalog(onIndex?: (indexed: Indexed) => unknown): Promise<void> {
  const own = ++reading;
  // The index is the first that is asked: it tells whether what the tab has is still right.
  const indexed = readIndex(own, onIndex);
  const parts: Promise<Put>[] = [readQueries(), readColumns(), readStreams()];
  const index = await indexed;
  if (!index) return;
  // A server that says where to ask says so where there are functions.
  if (!index.doors || index.doors.functions !== undefined) parts.push(readFunctions());
  else parts.push(Promise.resolve(partOf("functions", null, (all) => ({ ...all, functions: [] }))));
  outstanding = parts.length;
  await Promise.all(
    parts.map(async (part) => {
      const put = await part;
      const all = catalog.peek();
      if (own !== reading || !all) return;
      outstanding--;
      catalog.value = put(all);
    }),
  );
}

/** How many parts of the last reading are on their way. */
let outstanding = 0;

/** Reads the index into the catalog; `null` where it could not be read, or a newer reading has begun. */
async function readIndex(own: number, onIndex?: (indexed: Indexed) => unknown): Promise<Index | null> {
  clearTimeout(again);
  try {
    const { value: index, fault } = await fetchChecked("", INDEX);
    if (own !== reading) return null;
    const entries = new Map(Object.entries(index.entries).map(([name, entry]) => [name, completed(name, entry)]));
    noteTold(index);
    onIndex?.({ entries, index });
    catalog.value = { ...(catalog.peek() ?? NOTHING), entries, editsQueries: index.edits_queries ?? false };
    catalogError.value = fault;
    readAt = performance.now();
    // What loads is looked at again; parts that are slow are not asked for a second time meanwhile.
    const look = () => void (outstanding > 0 ? readIndex(reading) : loadCatalog());
    if ([...entries.values()].some(({ state }) => state === "loading")) again = setTimeout(look, LOADING_INTERVAL);
    return index;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) noteClosed();
    if (own === reading) catalogError.value = error instanceof ApiError ? error : new ApiError(0, "error", String(error), null, null);
    return null;
  }
}

/** A catalog that was read before this long counts as new, in milliseconds. */
const NEW = 2000;

/** Reads the catalog again, unless it was read just now. */
export function refreshCatalog(): void {
  if (catalog.peek() && performance.now() - readAt > NEW) void loadCatalog();
}

const NOTHING: Omit<Catalog, "entries" | "editsQueries"> = {
  functions: [],
  queries: [],
  tables: new Map(),
  streams: new Set(),
  awaited: new Set<Part>(["functions", "queries", "columns", "streams"]),
  faults: new Map(),
};

/** Puts a part into the catalog. */
type Put = (all: Catalog) => Catalog;

const readFunctions = () => readPart("functions", "api/functions", list(FUNCTION_FILE), (all, functions) => ({ ...all, functions: functions ?? [] }));
const readQueries = () => readPart("queries", "api/queries", QUERIES, (all, queries) => ({ ...all, queries: queries ?? [] }));
const readColumns = () =>
  readPart("columns", "api/columns", TABLES, (all, answer) => ({ ...all, tables: new Map(answer?.tables.map(({ name, columns }) => [name, columns])) }));
const readStreams = () => readPart("streams", "api/streams", STREAMS, (all, answer) => ({ ...all, streams: new Set(answer?.streams.map(({ name }) => name)) }));

/** Reads a part. What can't be read stays as it was before, and what is not there is left empty. */
async function readPart<T>(part: Part, path: string, shape: Shape<T>, put: (all: Catalog, value: T | null) => Catalog): Promise<Put> {
  try {
    const { value, fault } = await fetchChecked(path, shape);
    return partOf(part, fault, (all) => put(all, value));
  } catch (error) {
    if (isAbsent(error)) return partOf(part, null, (all) => put(all, null));
    return partOf(part, error instanceof ApiError ? error : new ApiError(0, "error", String(error), null, null), (all) => all);
  }
}

function partOf(part: Part, fault: ApiError | null, put: Put): Put {
  return (all) => {
    const awaited = new Set(all.awaited);
    awaited.delete(part);
    const faults = new Map(all.faults);
    faults.delete(part);
    if (fault) faults.set(part, fault);
    return { ...put(all), awaited, faults };
  };
}

function completed(name: string, entry: IndexEntry): Entry {
  return { ...entry, name, kind: entry.kind ?? "dataset", rows: entry.rows ?? null, source: entry.source ?? "", columns: entry.columns ?? [] };
}

/** The functions of a file that have a name to be called by. */
export function namedOf(file: FunctionFile): FunctionEndpoint[] {
  return file.endpoints.filter((endpoint) => endpoint.function !== "");
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
