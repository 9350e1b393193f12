import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, fetchJson } from "../api";
import { catalog, catalogError, type NamedQuery } from "../catalog";
import { QUERIES } from "../catalog_shapes";
import { Editor } from "../editor/editor";
import { placeOf } from "../editor/position";
import { RequestPanel } from "../request_panel";
import { pageUrl } from "../router";
import { keepTyped, readTyped } from "../session/drafts";
import { sessionKnown } from "../session/session";
import { object, record, text } from "../shape";
import { askableEntries, askableKnown, watchAskable } from "./askable";
import { HistoryPanel } from "./history_panel";
import { loadHistory } from "./history";
import { OutcomePanel } from "./outcome_panel";
import { ParameterForm } from "./parameter_form";
import { findPlaceholders, withoutValue } from "./placeholders";
import { sqlRequest } from "./run";
import { SaveQueryForm } from "./save_query_form";
import { keepDraft, loadDraft, readState, showStatement } from "./state";
import { Toolbar } from "./toolbar";
import { type Order, statementOf, useRun } from "./use_run";
import "./sql.css";

/** SQL over everything that is served. */
export default function SqlScreen() {
  useEffect(watchAskable, []);
  // Whose draft and history are shown must be known, and what to begin with where there are none.
  if (!sessionKnown.value) return <p class="loading">Loading…</p>;
  if (!askableKnown.value && readState().sql === null && loadDraft() === null && !catalogError.value) return <p class="loading">Loading…</p>;
  return <Statements />;
}

function Statements() {
  const state = readState();
  const [typed] = useState(typedStatement);
  const [sql, setSql] = useState(() => typed?.sql ?? state.sql ?? loadDraft() ?? firstStatement());
  const [values, setValues] = useState(typed?.values ?? state.values);
  const [history, setHistory] = useState(loadHistory);
  const [historyOpen, setHistoryOpen] = useState(false);
  const [saveOpen, setSaveOpen] = useState(false);
  // The query that the statement was loaded from.
  const [queryName, setQueryName] = useState<string | null>(null);
  const { outcome, run, cancel } = useRun(setHistory);
  // The statement of the address that was run last, by whatever way.
  const ran = useRef<string | null>(null);

  const order = (explain?: Order["explain"]): Order => ({ sql, values, limit: state.limit, method: "POST", ...(explain ? { explain } : {}) });
  const [missing, setMissing] = useState<string[]>([]);
  const type = (next: { sql: string; values: Record<string, string> }) => {
    setSql(next.sql);
    setValues(next.values);
    keepDraft(next.sql);
    keepTyped(next.sql === state.sql && sameValues(next.values, state.values) ? null : JSON.stringify(next));
  };
  const start = (next: Order) => {
    if (!next.sql.trim()) return;
    const lacking = withoutValue(findPlaceholders(next.sql), next.values);
    setMissing(lacking);
    if (lacking.length > 0) return;
    keepDraft(next.sql);
    keepTyped(null);
    ran.current = next.sql;
    showStatement(next.sql, shownValues(next));
    run(next);
  };

  // What stands in the address is run when the page is opened, and when the history of the browser leads to it. A link
  // may come from anywhere, so it is run as GET, which calls no function that may change something.
  useEffect(() => {
    if (state.sql === null || ran.current === state.sql) return;
    ran.current = state.sql;
    // What was typed over it and not run is still there.
    const over = typedStatement();
    setSql(over?.sql ?? state.sql);
    setValues(over?.values ?? state.values);
    run({ sql: state.sql, values: state.values, limit: state.limit, method: "GET" });
  }, [state.sql]);

  useNamedQuery(state.query, (query) => {
    const defaults = Object.fromEntries(query.parameters.map(({ name, default: value }) => [name, value === undefined || value === null ? "" : String(value)]));
    setQueryName(query.name);
    if (typedStatement()) return;
    setSql(query.sql ?? "");
    setValues(defaults);
  });

  const error = outcome?.error instanceof Error ? outcome.error : null;
  const place = error && outcome?.statement.sql === sql ? placeOf(error.message, sql) : undefined;
  const statement = statementOf({ sql, values });
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
      <ParameterForm placeholders={findPlaceholders(sql)} values={values} onChange={(next) => type({ sql, values: next })} onRun={() => start(order())} missing={withoutValue(findPlaceholders(sql), values).filter((name) => missing.includes(name))} />
      <Toolbar
        running={outcome?.running ?? false}
        limit={state.limit}
        statement={statement}
        historyOpen={historyOpen}
        onRun={() => start(order())}
        onCancel={cancel}
        onExplain={(explain) => start(order(explain))}
        onHistory={() => setHistoryOpen(!historyOpen)}
        onSave={catalog.value?.editsQueries ? () => setSaveOpen(!saveOpen) : null}
      />
      {saveOpen && <SaveQueryForm sql={sql} name={queryName} onClose={() => setSaveOpen(false)} />}
      {historyOpen && (
        <HistoryPanel
          runs={history}
          onChange={setHistory}
          onChoose={(chosen) => {
            type(chosen);
            setHistoryOpen(false);
          }}
        />
      )}
      {outcome ? <OutcomePanel outcome={outcome} state={state} onAgain={() => start(order())} /> : <Welcome onChoose={(chosen) => start({ ...order(), sql: chosen })} setSql={setSql} />}
      <RequestPanel request={outcome ? sqlRequest(outcome.statement, outcome.method) : sqlRequest(statement, "POST")} />
    </section>
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

function Welcome({ onChoose, setSql }: { onChoose: (sql: string) => void; setSql: (sql: string) => void }) {
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

/** Loads the named query of the address. */
function useNamedQuery(name: string | null, onLoaded: (query: NamedQuery) => void): void {
  useEffect(() => {
    if (name === null) return;
    const controller = new AbortController();
    const known = catalog.value?.queries.find((query) => query.name === name);
    const loaded = known ? Promise.resolve(known) : fetchJson(apiPath("queries"), QUERIES, controller.signal).then((all) => all.find((query) => query.name === name));
    loaded.then(
      (query) => query?.sql && !controller.signal.aborted && onLoaded(query),
      () => undefined,
    );
    return () => controller.abort();
  }, [name]);
}
