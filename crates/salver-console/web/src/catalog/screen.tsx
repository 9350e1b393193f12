import "./catalog.css";
import { useEffect } from "preact/hooks";
import { type Catalog, type Entry, type Part, catalog, catalogError, databaseOf, loadCatalog, namedOf, refreshCatalog } from "../catalog";
import { ErrorNote } from "../error_note";
import { Icon, type IconName } from "../icon";
import { PartFault } from "../part_fault";
import { pageUrl } from "../router";
import { LogInHint } from "../session/log_in_hint";
import { mayLogIn } from "../session/session";
import { Starts } from "./starts";

const PARTS: Part[] = ["functions", "queries", "columns", "streams"];

/** Everything that is served, and ways to begin. */
export function CatalogScreen() {
  // Numbers of rows change, so they are read again when one comes back to the catalog.
  useEffect(() => {
    refreshCatalog();
  }, []);
  const all = catalog.value;
  if (!all) {
    return (
      <section class="screen">
        <h1>Catalog</h1>
        {catalogError.value ? <ErrorNote error={catalogError.value} onRetry={() => void loadCatalog()} /> : <p class="muted">Loading…</p>}
      </section>
    );
  }
  const groups = groupsOf(all);
  return (
    <section class="screen catalog">
      <header class="screen-head">
        <h1>Catalog</h1>
        <span class="spring" />
        <button type="button" class="button small" onClick={() => void loadCatalog()}>
          Reload
        </button>
        <p class="muted">{summary(all)}</p>
      </header>
      <ErrorNote error={catalogError.value} onRetry={() => void loadCatalog()} />
      <PartFault parts={PARTS} left="The others are shown." />
      <Starts all={all} />
      {groups.map(({ title, icon, entries }) => (
        <section key={title} aria-label={title}>
          <h2 class="group-title">
            <Icon name={icon} /> <bdi>{title}</bdi>
          </h2>
          <div class="table-scroll">
            <table class="plain-table catalog-table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col" class="numeric">
                    Rows
                  </th>
                  <th scope="col">Columns</th>
                  <th scope="col">Source</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <EntryRow key={entry.name} entry={entry} streams={all.streams} />
                ))}
              </tbody>
            </table>
          </div>
        </section>
      ))}
      <Functions all={all} />
      <Queries all={all} />
      {groups.length === 0 && all.functions.length === 0 && all.streams.size === 0 && all.queries.length === 0 && (
        <div class="note">
          <p class="note-title">{mayLogIn.value ? "There is nothing here for callers who have not logged in." : "Nothing is served yet."}</p>
          <LogInHint />
          {!mayLogIn.value && (
            <p>
              Start the server with something to serve: <code>salver serve data/</code> takes every file of a folder, <code>salver serve sqlite:app.db</code> a database.
            </p>
          )}
        </div>
      )}
    </section>
  );
}

function EntryRow({ entry, streams }: { entry: Entry; streams: Set<string> }) {
  const names = entry.columns.map(({ name }) => name);
  const takesEvents = streams.has(entry.name);
  return (
    <tr>
      <th scope="row">
        <a href={takesEvents ? pageUrl("stream", entry.name) : pageUrl("entry", entry.name)}>
          <bdi>{entry.name}</bdi>
        </a>
      </th>
      <td class="numeric">{entry.rows === null ? <span class="muted">{entry.kind === "table" ? "live" : "–"}</span> : entry.rows.toLocaleString("en")}</td>
      <td class="catalog-columns" title={names.slice(0, 60).join(", ")}>
        <bdi>{names.slice(0, 8).join(", ")}</bdi>
        {names.length > 8 && <span class="muted"> and {names.length - 8} more</span>}
      </td>
      <td class="catalog-source">
        {entry.state === "failed" && <span class="badge bad">failed</span>} {entry.state === "loading" && <span class="badge warn">loading {entry.percent ?? 0} %</span>}{" "}
        {entry.state !== "failed" && entry.message && <span class="badge warn">stale</span>} <bdi>{entry.message ?? (databaseOf(entry) ? "" : entry.source)}</bdi>
      </td>
    </tr>
  );
}

function Functions({ all }: { all: Catalog }) {
  if (all.functions.length === 0) return null;
  return (
    <section aria-label="Functions">
      <h2 class="group-title">
        <Icon name="function" /> Functions
      </h2>
      <div class="table-scroll">
        <table class="plain-table catalog-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Language</th>
              <th scope="col">Parameters</th>
              <th scope="col">What it does</th>
            </tr>
          </thead>
          <tbody>
            {all.functions.flatMap(({ name, language, failure }) =>
              failure
                ? [
                    <tr key={name}>
                      <th scope="row">
                        <bdi>{name}</bdi>
                      </th>
                      <td>{language}</td>
                      <td />
                      <td class="catalog-source">
                        <span class="badge bad">failed</span> <bdi>{failure.message}</bdi>
                      </td>
                    </tr>,
                  ]
                : [],
            )}
            {all.functions.flatMap((file) =>
              namedOf(file).map((endpoint) => (
                <tr key={`${file.name}/${endpoint.function}`}>
                  <th scope="row">
                    <a href={pageUrl("function", file.name, endpoint.function)}>
                      {file.name}/{endpoint.function}
                    </a>
                  </th>
                  <td>{file.language}</td>
                  <td class="catalog-columns">{endpoint.parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(", ")}</td>
                  <td class="catalog-source">{endpoint.summary}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Queries({ all }: { all: Catalog }) {
  if (all.queries.length === 0) return null;
  return (
    <section aria-label="Named queries">
      <h2 class="group-title">
        <Icon name="query" /> Queries
      </h2>
      <div class="table-scroll">
        <table class="plain-table catalog-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Parameters</th>
              <th scope="col">What it answers</th>
            </tr>
          </thead>
          <tbody>
            {all.queries.map((query) => (
              <tr key={query.name}>
                <th scope="row">
                  <a href={`${pageUrl("sql")}?query=${encodeURIComponent(query.name)}`}>{query.name}</a>
                </th>
                <td class="catalog-columns">{query.parameters.map(({ name }) => name).join(", ")}</td>
                <td class="catalog-source">{query.description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface Group {
  title: string;
  icon: IconName;
  entries: Entry[];
}

function groupsOf(all: Catalog): Group[] {
  const groups = new Map<string, Group>();
  const add = (title: string, icon: IconName, entry: Entry) => {
    const group = groups.get(title) ?? { title, icon, entries: [] };
    group.entries.push(entry);
    groups.set(title, group);
  };
  const entries = [...all.entries.values()].sort((a, b) => a.name.localeCompare(b.name));
  for (const entry of entries.filter(({ kind }) => kind !== "table" && kind !== "stream")) add("Datasets", "dataset", entry);
  for (const entry of entries.filter(({ kind }) => kind === "table")) add(`Database ${databaseOf(entry) ?? ""}`.trim(), "table", entry);
  for (const entry of entries.filter(({ kind }) => kind === "stream")) add("Streams", "stream", entry);
  return [...groups.values()];
}

function summary(all: Catalog): string {
  const entries = [...all.entries.values()];
  const of = (number: number, one: string, many: string) => (number ? `${number} ${number === 1 ? one : many}` : null);
  const parts = [
    of(entries.filter(({ kind }) => kind !== "table" && kind !== "stream").length, "dataset", "datasets"),
    of(entries.filter(({ kind }) => kind === "table").length, "table", "tables"),
    of(all.streams.size, "stream", "streams"),
    of(all.functions.reduce((sum, file) => sum + namedOf(file).length, 0), "function", "functions"),
    of(all.queries.length, "query", "queries"),
  ];
  return parts.filter(Boolean).join(" · ");
}
