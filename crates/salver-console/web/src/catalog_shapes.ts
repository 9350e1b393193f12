import type { Column, Entry, FunctionEndpoint, FunctionFile, FunctionParameter, NamedQuery, QueryParameter, TableColumn } from "./catalog";
import { type Shape, anything, flag, list, nullable, number, object, optional, otherwise, record, text } from "./shape";

/** An entry as the index has it: what has not loaded yet has no kind, source or columns. */
export type IndexEntry = { state: string } & Partial<Omit<Entry, "name" | "state">>;

/** The index of everything. */
export interface Index {
  entries: Record<string, IndexEntry>;
  edits_queries?: boolean | undefined;
  /** Where else to ask; what there is not, or not for the caller, is missing. */
  doors?: { functions?: string | undefined; me?: string | undefined } | undefined;
  /** Who the caller is; absent for who is not known. */
  caller?: string | undefined;
  /** The methods by which callers can be known; absent where nobody is asked who they are. */
  auth?: string[] | undefined;
}

const column = object<Column>({ name: text, type: text });

const indexEntry = object<IndexEntry>({
  state: text,
  kind: optional(text),
  rows: optional(number),
  version: optional(text),
  memory_bytes: optional(number),
  source: optional(text),
  columns: optional(list(column)),
  message: optional(text),
  hint: optional(text),
  failed_at_unix_s: optional(number),
  percent: optional(number),
});

export const INDEX = object<Index>({
  entries: record(indexEntry),
  edits_queries: optional(flag),
  doors: optional(object({ functions: optional(text), me: optional(text) })),
  caller: optional(text),
  auth: optional(list(text)),
});

const parameter = object<FunctionParameter>({ name: text, type: text, required: flag, description: optional(text) });

const endpoint = object<FunctionEndpoint>({
  function: otherwise(text, ""),
  call: optional(text),
  method: optional(text),
  path: optional(text),
  summary: optional(text),
  pure: optional(flag),
  result: optional(text),
  parameters: list(parameter),
});

export const FUNCTION_FILE = object<FunctionFile>({
  name: text,
  language: text,
  application: otherwise(flag, false),
  title: nullable(text),
  description: nullable(text),
  endpoints: otherwise(list(endpoint), []),
  failure: optional(object({ message: text, hint: nullable(text) })),
  workers: optional(record(number)),
});

const queryParameter = object<QueryParameter>({ name: text, type: text, default: optional(anything), required: otherwise(flag, true), description: optional(text) });

const query = object<NamedQuery>({
  name: text,
  sql: optional(text),
  description: nullable(text),
  parameters: list(queryParameter),
  columns: otherwise(list(column), []),
  etag: optional(text),
});

export const QUERIES = list(query);

const tableColumn = object<TableColumn>({
  name: text,
  type: text,
  length: optional(number),
  pk: optional(flag),
  fk: optional(text),
  nullable: optional(flag),
});

export const TABLES: Shape<{ tables: { name: string; columns: TableColumn[] }[] }> = object({
  tables: list(object({ name: text, columns: list(tableColumn) })),
});

export const STREAMS: Shape<{ streams: { name: string }[] }> = object({ streams: list(object({ name: text })) });
