import { useEffect, useRef, useState } from "preact/hooks";
import { catalog, catalogError, type NamedQuery } from "../catalog";
import { parquetRefuses } from "../column_type";
import { Editor } from "../editor/editor";
import { placeOf } from "../editor/position";
import { ErrorNote } from "../error_note";
import { PartFault } from "../part_fault";
import { RequestPanel } from "../request_panel";
import { pageUrl } from "../router";
import { keepTyped, readTyped } from "../session/drafts";
import { LogInHint } from "../session/log_in_hint";
import { sessionKnown } from "../session/session";
import { object, record, text } from "../shape";
import { askableEntries, askableKnown, mayUseSql, watchAskable } from "./askable";
import { HistoryPanel } from "./history_panel";
import { loadHistory } from "./history";
import { typedValues, withoutNamedValue } from "./named";
import { NamedForm } from "./named_form";
import { OutcomePanel } from "./outcome_panel";
import { ParameterForm } from "./parameter_form";
import { findPlaceholders, placeOfValue, withPlaces, withoutValue } from "./placeholders";
import { sqlRequest } from "./run";
import { SaveQueryForm } from "./save_query_form";
import { keepDraft, loadDraft, readState, showQuery, showStatement } from "./state";
import { Toolbar } from "./toolbar";
import { type Order, statementOf, useRun } from "./use_run";
import "./sql.css";

/** SQL over everything that is served. */
export default function SqlScreen() {
  useEffect(watchAskable, []);
  // Whose draft and history are shown must be known, and what to begin with where there are none.
  if (!sessionKnown.value) return <p class="loading">Loading…</p>;
  // A query is shown by its name, with the parameters that it declares.
  if (readState().query !== null && (catalog.value ? catalog.value.awaited.has("queries") : !catalogError.value)) return <p class="loading">Loading…</p>;
  if (!askableKnown.value && readState().query === null && readState().sql === null && loadDraft() === null && !catalogError.value) return <p class="loading">Loading…</p>;
  return <Statements />;
}

function Statements() {
  const state = readState();
  const [typed] = useState(typedStatement);
  // The query that the statement was loaded from.
  const [queryName, setQueryName] = useState<string | null>(state.query);
  const query = queryOf(queryName);
  const [sql, setSql] = useState(() => typed?.sql ?? state.sql ?? (state.query === null ? (loadDraft() ?? firstStatement()) : (queryOf(state.query)?.sql ?? "")));
  const [values, setValues] = useState(typed?.values ?? state.values);
  const [history, setHistory] = useState(loadHistory);
  const [historyOpen, setHistoryOpen] = useState(false);
  const [saveOpen, setSaveOpen] = useState(false);
  const [fileError, setFileError] = useState<unknown>(null);
  const [saved, setSaved] = useState<string | null>(null);
  const { outcome, run, cancel, forget } = useRun(setHistory);
  // The statement or the query of the address that was run last, by whatever way.
  const ran = useRef<string | null>(null);

  // A text that was changed is a statement of one's own, with the rights of whoever runs it.
  const named = query && sql === query.sql ? query : null;
  const order = (explain?: Order["explain"]): Order => ({ sql, values, query: named, limit: state.limit, method: "POST", ...(explain ? { explain } : {}) });
  const [missing, setMissing] = useState<string[]>([]);
  const lackingOf = (next: Pick<Order, "sql" | "values" | "query">) => (next.query ? withoutNamedValue(next.query, next.values) : withoutValue(findPlaceholders(next.sql), next.values));
  const type = (next: { sql: string; values: Record<string, string> }) => {
    setSql(next.sql);
    setValues(next.values);
    setSaved(null);
    if (next.sql !== query?.sql) keepDraft(next.sql);
    const first = state.query === null ? state.sql : query?.sql;
    keepTyped(next.sql === first && sameValues(next.values, state.values) ? null : JSON.stringify(next));
  };
  /** Runs, unless a value is missing that it needs. */
  const begin = (next: Order, shown: string) => {
    const lacking = lackingOf(next);
    setMissing(lacking);
    ran.current = shown;
    if (lacking.length === 0) run(next);
    return lacking.length === 0;
  };
  const start = (next: Order) => {
    if (!next.sql.trim() || !begin(next, next.query ? shownQuery(next.query.name) : next.sql)) return;
    keepTyped(null);
    setSaved(null);
    if (next.query) return showQuery(next.query.name, typedValues(next.query, next.values));
    keepDraft(next.sql);
    showStatement(next.sql, shownValues(next));
  };

  // What stands in the address is run when the page is opened, and when the history of the browser leads to it. A link
  // may come from anywhere, so it is run as GET, which calls no function that may change something.
  useEffect(() => {
    const loaded = queryOf(state.query);
    const linked = loaded?.sql ?? state.sql;
    const shown = state.query === null ? state.sql : shownQuery(state.query);
    if (shown === null || ran.current === shown) return;
    if (linked === null) {
      setQueryName(state.query);
      setSql(typedStatement()?.sql ?? "");
      setSaved(null);
      forget();
      return;
    }
    // What was typed over it and not run is still there.
    const over = typedStatement();
    // What another statement gave is not what this one gives.
    forget();
    setSaved(null);
    setQueryName(state.query);
    setSql(over?.sql ?? linked);
    setValues(over?.values ?? state.values);
    begin({ sql: linked, values: state.values, query: loaded, limit: state.limit, method: "GET", isLinked: true }, shown);
  }, [state.sql, state.query]);

  const onSaved = (name: string) => {
    setSaveOpen(false);
    setSaved(name);
    if (outcome?.error) forget();
    setMissing([]);
    const now = queryOf(name);
    if (now?.sql === undefined) return;
    // From here on it is the query that is run.
    setQueryName(name);
    setSql(now.sql);
    keepTyped(null);
    ran.current = shownQuery(name);
    showQuery(name, typedValues(now, values));
  };

  const error = outcome?.error instanceof Error ? outcome.error : null;
  const place = error && outcome?.statement.sql === sql ? placeOf(error.message, sql) : undefined;
  const statement = statementOf({ sql, values, query: named });
  const unfilled = lackingOf(order());
  const lacking = unfilled.filter((name) => missing.includes(name));
  return (
    <section class="screen sql">
      <h1 class="visually-hidden">SQL</h1>
      <Editor
        // Its suggestions are those of when it is made.
        key={askableEntries().length === catalog.value?.entries.size ? "all" : "some"}
        value={sql}
        onChange={(next) => type({ sql: next, values })}
        onRun={() => start(order())}
        language={{ name: "sql" }}
        label="SQL statement"
        lines={6}
        mark={place && error ? { ...place, message: error.message } : null}
      />
      {state.query !== null && !queryOf(state.query) && <NoQuery name={state.query} />}
      {query && <QueryNote query={query} isChanged={named === null} onBack={() => type({ sql: query.sql ?? "", values })} />}
      {named ? (
        <NamedForm query={named} values={values} onChange={(next) => type({ sql, values: next })} onRun={() => start(order())} missing={lacking} />
      ) : (
        <ParameterForm placeholders={findPlaceholders(sql)} values={values} onChange={(next) => type({ sql, values: next })} onRun={() => start(order())} missing={lacking} />
      )}
      <Toolbar
        running={outcome?.running ?? false}
        limit={state.limit}
        statement={statement}
        noParquet={outcome?.result && outcome.statement.sql === sql ? parquetRefuses(outcome.result.columns) : null}
        onError={setFileError}
        historyOpen={historyOpen}
        onRun={() => start(order())}
        onCancel={cancel}
        onExplain={mayUseSql.value ? (explain) => start(order(explain)) : null}
        onHistory={() => setHistoryOpen(!historyOpen)}
        onSave={catalog.value?.editsQueries ? () => setSaveOpen(!saveOpen) : null}
      />
      <ErrorNote error={fileError} />
      {saveOpen && <SaveQueryForm sql={sql} name={query?.etag === undefined ? null : queryName} onSaved={onSaved} onClose={() => setSaveOpen(false)} />}
      {saved !== null && (
        <p class="note good" role="status">
          Saved as the query <bdi>{saved}</bdi>.
        </p>
      )}
      {historyOpen && (
        <HistoryPanel
          runs={history}
          onChange={setHistory}
          onChoose={(chosen) => {
            setQueryName(chosen.query ?? null);
            type(chosen);
            setHistoryOpen(false);
          }}
        />
      )}
      {outcome && <OutcomePanel outcome={outcome} state={state} onAgain={() => start(order())} />}
      {!outcome && !named && <Welcome isAlone={state.query === null} onChoose={(chosen) => start({ ...order(), sql: chosen, query: null })} setSql={setSql} />}
      <RequestPanel request={outcome ? sqlRequest(outcome.statement, outcome.method) : sqlRequest(statementOf({ sql, values: withPlaces(values, unfilled), query: named }), "POST")} places={outcome ? [] : unfilled.map(placeOfValue)} />
    </section>
  );
}

/** A named query of the catalog. */
function queryOf(name: string | null): NamedQuery | null {
  return (name !== null && catalog.value?.queries.find((query) => query.name === name)) || null;
}

/** What of an address says that a query is shown; no statement is this text. */
const shownQuery = (name: string) => `\u0000${name}`;

/** Says what Run runs. */
function QueryNote({ query, isChanged, onBack }: { query: NamedQuery; isChanged: boolean; onBack: () => void }) {
  if (!isChanged) {
    return (
      <p class="muted">
        The query <bdi>{query.name}</bdi>, run by its name{query.description ? ": " : "."}
        <bdi>{query.description}</bdi>
      </p>
    );
  }
  return (
    <p class="row" role="status">
      <span>
        The text is not that of the query <bdi>{query.name}</bdi>: it is run as SQL, with your rights.
      </span>
      <button type="button" class="button small" onClick={onBack}>
        Back to the query
      </button>
    </p>
  );
}

/** Says that there is no query of the name in the address, as far as the list of queries could be read. */
function NoQuery({ name }: { name: string }) {
  if (catalog.value?.faults.has("queries")) return <PartFault parts={["queries"]} left="So it is not known what this query is." />;
  return (
    <div class="note">
      <p>
        There is no query <bdi>{name}</bdi>, or you may not run it.
      </p>
      <LogInHint />
    </div>
  );
}

/** What was typed on this step of the history and not run. */
function typedStatement(): { sql: string; values: Record<string, string> } | null {
  try {
    return TYPED(JSON.parse(readTyped() ?? "null"), "", []) ?? null;
  } catch {
    return null;
  }
}

const TYPED = object<{ sql: string; values: Record<string, string> }>({ sql: text, values: record(text) });

const sameValues = (one: Record<string, string>, other: Record<string, string>) => JSON.stringify(one) === JSON.stringify(other);

/** Only the values that the statement has a place for. */
function shownValues({ sql, values }: Order): Record<string, string> {
  return Object.fromEntries(findPlaceholders(sql).names.map((name) => [name, values[name] ?? ""]));
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replace(/"/g, '""')}"`;
}

/** Something to run at once, on data that is there. */
function firstStatement(): string {
  const entry = askableEntries().find(({ state, rows }) => state === "ready" && rows !== 0);
  return entry ? `SELECT *\nFROM ${quoted(entry.name)}\nLIMIT 100` : "SELECT 1 AS one";
}

/** What to begin with. Where it does not stand alone, what is above has the hint that a log-in may show more. */
function Welcome({ isAlone, onChoose, setSql }: { isAlone: boolean; onChoose: (sql: string) => void; setSql: (sql: string) => void }) {
  const entries = askableEntries()
    .filter(({ state }) => state === "ready")
    .slice(0, 12);
  const others = (catalog.value?.entries.size ?? 0) - askableEntries().length;
  return (
    <div class="sql-welcome">
      <p class="muted">
        {others > 0 ? "Each of these entries" : <>Every <a href={pageUrl()}>entry</a></>} is a table, whatever it is made of, and can be joined with every other one. <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement.
        {others > 0 && ` You may not ask ${others === 1 ? "one entry" : `${others} entries`} in SQL that you may read elsewhere.`}
      </p>
      {isAlone && entries.length === 0 && <LogInHint />}
      <p class="row">
        {entries.map(({ name }) => (
          <button
            key={name}
            type="button"
            class="button small"
            onClick={() => {
              const sql = `SELECT *\nFROM ${quoted(name)}\nLIMIT 100`;
              setSql(sql);
              onChoose(sql);
            }}
          >
            <bdi>{name}</bdi>
          </button>
        ))}
      </p>
    </div>
  );
}
