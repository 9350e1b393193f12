import { useEffect, useMemo, useState } from "preact/hooks";
import { fetchCount } from "../api";
import { type Entry, catalog } from "../catalog";
import type { Value } from "../data_json";
import { ErrorNote } from "../error_note";
import { Grid, type GridColumn } from "../grid/grid";
import { valueText } from "../grid/value";
import { Icon } from "../icon";
import { LeftEdits } from "../records/left_edits";
import { changeCount } from "../records/record";
import { NewRow, RowActions } from "../records/row_actions";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import { countStored, fetchShownPage } from "./as_stored";
import { ColumnPicker } from "./column_picker";
import { Downloads } from "./downloads";
import { FilterBar } from "./filter_bar";
import { Facets, defaultFacets } from "./facets";
import type { LoadedFacts } from "./facts";
import { referringTables } from "./metadata";
import { NoRows } from "./no_rows";
import { Pager } from "./pager";
import { rowUrl } from "./row_address";
import { useSpecialNumbers } from "./special_numbers";
import { UnreadableNote } from "./unreadable_note";
import { useCellEdits } from "./use_cell_edits";
import { type ViewState, countRequest, quoteName, rowsRequest, writeSort } from "./view_state";

interface Props {
  entry: Entry;
  state: ViewState;
  loaded: LoadedFacts;
}

/** The rows of an entry, page by page. */
export function RowsTab({ entry, state, loaded }: Props) {
  const { facts, hasKey } = loaded;
  // Rows don't wait for what is known of their keys. Where these are not among the columns that are shown, the rows are
  // read once more with them, when the first are there.
  const [key, setKey] = useState<string[]>([]);
  const request = rowsRequest(entry, state, key);
  const counting = countRequest(entry, state);
  const rows = useLoaded(`${JSON.stringify(request)}#${changeCount.value}`, (signal) => fetchShownPage(entry, state, request, key, signal));
  useEffect(() => {
    if (hasKey && !rows.loading) setKey(facts.key);
  }, [hasKey, rows.loading, facts.key]);
  const total = useLoaded(`${JSON.stringify(counting)}#${changeCount.value}`, (signal) =>
    fetchCount(counting, signal).catch((error: unknown) => countStored(entry, state, error, signal)),
  );
  const facetNames = place.value.query.get("facets");

  const { described } = facts;
  const columns = useMemo<GridColumn[]>(
    () => state.columns.map((column) => ({ ...column, key: facts.key.includes(column.name), refers: described.find(({ name }) => name === column.name)?.fk })),
    [state.columns.map(({ name }) => name).join("\u0000"), facts],
  );
  const unreadable = rows.data?.unreadable ?? null;
  const special = useSpecialNumbers(unreadable ? null : rows.data, entry.columns, request);
  const data = unreadable ? rows.data : special;
  const shown = useMemo(() => arrange(data, columns), [data?.rows, columns]);

  const onSort = (name: string, add: boolean) => {
    const known = state.sort.find(({ column }) => column === name);
    const others = add ? state.sort.filter(({ column }) => column !== name) : [];
    // Up, down, and back to the order of the source.
    const next = known?.descending ? others : [...others, { column: name, descending: known !== undefined }];
    setQuery({ sort: writeSort(next), page: null });
  };
  const keyOfRow = (index: number): string[] | null => {
    if (facts.key.length === 0) return null;
    const values = facts.key.map((name) => rows.data?.rows[index]?.[rows.data.columns.indexOf(name)] ?? null);
    return values.includes(null) ? null : values.map(valueText);
  };
  const rowLink = (_: Value[], index: number) => {
    const key = keyOfRow(index);
    return key ? rowUrl(entry.name, key) : undefined;
  };
  const cellLink = (column: GridColumn, value: Value, row: Value[], index: number) => {
    if (value === null) return undefined;
    if (column.refers) return rowUrl(entryOfTable(column.refers), [valueText(value)]);
    return column.key ? rowLink(row, index) : undefined;
  };
  const referring = useMemo(() => (facts.records ? referringTables(facts.records.table, catalog.value?.tables.keys() ?? []) : []), [facts]);
  const { editing, left } = useCellEdits({ entry, facts, columns, rows: shown, keyOfRow, isLoading: rows.loading, isStored: unreadable !== null });

  return (
    <>
      <FilterBar entry={entry} state={state}>
        {/* First, so that nothing moves when it comes. */}
        {facts.records?.table.writes.create && <NewRow entry={entry} records={facts.records} keyColumns={facts.key} />}
        <ColumnPicker entry={entry} state={state} />
        <button
          type="button"
          class="button small"
          aria-expanded={facetNames !== null}
          onClick={() => setQuery({ facets: facetNames === null ? defaultFacets(entry.columns).map(quoteName).join(",") : null })}
        >
          <Icon name="chart" size={14} /> Facets
        </button>
        <Downloads entry={entry} state={state} />
        <button type="button" class="button small" onClick={() => (rows.reload(), total.reload())}>
          Reload
        </button>
      </FilterBar>
      <div class={facetNames === null ? "" : "with-facets"}>
        {facetNames !== null && <Facets entry={entry} state={state} names={facetNames} />}
        <div class={`grid-area${rows.loading ? " busy" : ""}`} aria-busy={rows.loading}>
          <LeftEdits {...left} />
          {unreadable && rows.error === null && <UnreadableNote error={unreadable} />}
          {rows.error !== null && <ErrorNote error={rows.error} onRetry={rows.reload} />}
          {(rows.data || !rows.error) && (
            <Grid
              label={`Rows of ${entry.name}`}
              columns={columns}
              rows={shown}
              firstNumber={(state.page - 1) * state.limit + 1}
              sort={state.sort}
              onSort={onSort}
              rowLink={rowLink}
              cellLink={cellLink}
              editing={editing}
              rowLead={
                facts.records?.table.writes.remove
                  ? (_, index) => {
                      const key = keyOfRow(index);
                      return key && facts.records ? <RowActions record={{ table: facts.records.name, entry, keyColumns: facts.key, key }} referring={referring} /> : null;
                    }
                  : // Room for what a table probably takes.
                    entry.kind === "table" && loaded.waiting
                    ? () => null
                    : undefined
              }
              empty={rows.loading ? "Loading…" : <NoRows state={state} total={total.data} />}
            />
          )}
          {rows.data?.cut && <Cut shown={shown.length} />}
          <Pager page={state.page} limit={state.limit} shown={shown.length} total={total.error ? null : total.data} error={total.error} onCount={total.reload} />
        </div>
      </div>
      <RequestPanel request={rows.data && !rows.loading ? rows.data.request : request} />
    </>
  );
}

/** Says that a page would be too large, and how to see the other rows. */
function Cut({ shown }: { shown: number }) {
  if (shown === 0) return <p class="note warn">A row of these has more than 1 MB. Choose fewer columns, or download the rows.</p>;
  return (
    <p class="note warn row">
      <span>All rows of this page would be more than 1 MB: these are the first {shown}.</span>
      <button type="button" class="button small" onClick={() => setQuery({ limit: String(shown), page: null })}>
        {shown} rows a page
      </button>
    </p>
  );
}

/** The entry whose table this is: that of the same name, or with the database in front of it. */
function entryOfTable(table: string): string {
  const entries = catalog.value?.entries;
  if (!entries || entries.has(table)) return table;
  return [...entries.keys()].find((name) => name.endsWith(`.${table}`)) ?? table;
}

/** The rows with the values of the columns that are shown, in their order. */
function arrange(data: { columns: string[]; rows: Value[][] } | null, columns: GridColumn[]): Value[][] {
  if (!data) return [];
  const positions = columns.map(({ name }) => data.columns.indexOf(name));
  return data.rows.map((row) => positions.map((position) => row[position] ?? null));
}
