import "./entry.css";
import { useEffect } from "preact/hooks";
import { catalog, catalogError, databaseOf, loadCatalog, refreshCatalog } from "../catalog";
import type { Entry } from "../catalog";
import { ErrorNote, ErrorScreen } from "../error_note";
import { UndoBar } from "../records/undo_bar";
import { pageUrl, place, setQuery } from "../router";
import type { ScreenProps } from "../screens";
import { caller, hasWays } from "../session/caller";
import { LogInHint } from "../session/log_in_hint";
import { isAskable, watchAskable } from "../sql/askable";
import { ChartTab } from "./chart_tab";
import { FilterBar } from "./filter_bar";
import { useFacts } from "./facts";
import { FactsFault } from "./facts_fault";
import { sqlName } from "./filters";
import { ProfileTab } from "./profile_tab";
import { RowsTab } from "./rows_tab";
import { type ViewState, readView, rowsRequest } from "./view_state";

const TABS = [
  { id: "rows", label: "Rows" },
  { id: "columns", label: "Columns" },
  { id: "chart", label: "Chart" },
];

/** The screen of an entry: its rows, a profile of its columns, and charts. */
export default function EntryScreen({ parts }: ScreenProps) {
  const name = parts[0] ?? "";
  const all = catalog.value;
  const entry = all?.entries.get(name);
  const loaded = useFacts(all, entry);

  // Where callers are known, not all of them may ask in SQL what they may read.
  useEffect(() => {
    if (hasWays.value || caller.value !== null) watchAskable();
  }, [hasWays.value, caller.value]);

  // An entry that is not there yet may have come since the catalog was read.
  useEffect(() => {
    if (all && !entry) refreshCatalog();
  }, [name]);

  if (catalogError.value && !all) return <ErrorScreen error={catalogError.value} onRetry={() => void loadCatalog()} />;
  if (!all) return <p class="loading">Loading…</p>;
  if (!entry) {
    return (
      <section class="screen">
        <h1>
          There is no <bdi>{name}</bdi>
        </h1>
        <p>
          It may have another name, or you may not see it. <a href={pageUrl()}>Everything that is served</a>
        </p>
        <LogInHint />
        <ErrorNote error={catalogError.value} onRetry={() => void loadCatalog()} />
      </section>
    );
  }
  const tab = TABS.find(({ id }) => id === place.value.query.get("tab"))?.id ?? "rows";
  const state = readView(place.value.query, entry);
  return (
    <section class="screen">
      <EntryHead entry={entry} state={state} />
      {entry.message && (
        <div class={`note ${entry.state === "failed" ? "error" : "warn"}`} role="status">
          <p class="note-title">{entry.state === "failed" ? "It could not be loaded" : "It could not be loaded again; these are its rows from before"}</p>
          <p>
            <bdi>{entry.message}</bdi>
          </p>
          {entry.hint && <p>{entry.hint}</p>}
          <p class="row">
            <button type="button" class="button small" onClick={() => void loadCatalog()}>
              Try again
            </button>
          </p>
        </div>
      )}
      <FactsFault entry={entry} loaded={loaded} />
      <UndoBar />
      {entry.columns.length > 0 && (
        <>
          <nav class="tabs page-tabs" aria-label={`Views of ${name}`}>
            {TABS.map(({ id, label }) => (
              <button key={id} type="button" class="tab" aria-current={tab === id ? "page" : undefined} onClick={() => setQuery({ tab: id === "rows" ? null : id })}>
                {label}
                {id === "columns" && <span class="muted"> {entry.columns.length}</span>}
              </button>
            ))}
          </nav>
          {tab !== "rows" && <FilterBar entry={entry} state={state} />}
          {tab === "rows" && <RowsTab entry={entry} state={state} loaded={loaded} />}
          {tab === "columns" && <ProfileTab key={name} entry={entry} state={state} keyColumns={loaded.facts.key} />}
          {tab === "chart" && <ChartTab entry={entry} state={state} />}
        </>
      )}
    </section>
  );
}

function EntryHead({ entry, state }: { entry: Entry; state: ViewState }) {
  const database = databaseOf(entry);
  return (
    <header class="screen-head">
      <h1>
        <bdi>{entry.name}</bdi>
      </h1>
      <span class="badge">{entry.kind}</span>
      {entry.state !== "ready" && <span class={`badge ${entry.state === "failed" ? "bad" : "warn"}`}>{entry.state}</span>}
      <span class="spring" />
      {catalog.value?.streams.has(entry.name) && (
        <a class="button" href={pageUrl("stream", entry.name)}>
          Live events
        </a>
      )}
      {isAskable(entry) && (
        <a class="button" href={`${pageUrl("sql")}?q=${encodeURIComponent(rowsRequest(entry, state).sql ?? `select * from ${sqlName(entry.name)} limit 100`)}`}>
          Query in SQL
        </a>
      )}
      <p class="muted">
        <bdi>{database ? `Table of the database ${database}` : entry.source}</bdi>
      </p>
    </header>
  );
}
