import { useMemo } from "preact/hooks";
import { type Catalog, type Entry, type TableColumn, recordsName } from "../catalog";
import { useLoaded } from "../use_loaded";
import { type RecordTable, keyOf, recordTable } from "./metadata";

/** What screens know of an entry beside its columns. */
export interface EntryFacts {
  /** The columns of its key, none until they are known. */
  key: string[];
  /** The table at `/api/records`, and what it takes; `null` for what is no table, and until it is known. */
  records: { name: string; table: RecordTable } | null;
  /** The columns of the table, where it is one. */
  described: TableColumn[];
}

/** Facts as they come: each part is there without the others. */
export interface LoadedFacts {
  facts: EntryFacts;
  /** Whether the key is known. */
  hasKey: boolean;
  /** Whether more may come. */
  waiting: boolean;
  error: unknown;
  reload: () => void;
}

const NO_KEY: string[] = [];
const NO_COLUMNS: TableColumn[] = [];

/** Loads the facts of an entry. */
export function useFacts(all: Catalog | null, entry: Entry | undefined): LoadedFacts {
  const name = all && entry ? recordsName(entry, all.tables) : null;
  const described = (name !== null && all?.tables.get(name)) || NO_COLUMNS;
  // The key of a table is known with the columns of databases; a dataset has none there.
  const isAwaited = entry?.kind === "table" && name === null && all?.awaited.has("columns");
  const keys = useLoaded(entry && !isAwaited ? `${entry.name}/${entry.columns.length}/${name}` : null, async () => {
    if (name !== null) return described.flatMap((column) => (column.pk ? [column.name] : []));
    return entry ? keyOf(entry) : NO_KEY;
  });
  const table = useLoaded(name, async () => (name === null ? null : recordTable(name)));
  const key = keys.data ?? NO_KEY;
  const facts = useMemo(() => ({ key, records: name !== null && table.data ? { name, table: table.data } : null, described }), [key, name, table.data, described]);
  return {
    facts,
    hasKey: entry !== undefined && !isAwaited && !keys.loading,
    waiting: isAwaited === true || keys.loading || table.loading,
    error: keys.error ?? table.error,
    reload: () => {
      if (keys.error) keys.reload();
      if (table.error) table.reload();
    },
  };
}
