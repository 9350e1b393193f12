import { useState } from "preact/hooks";
import { forgetHistory, type Run } from "./history";

interface HistoryPanelProps {
  runs: Run[];
  onChoose: (run: Run) => void;
  onChange: (runs: Run[]) => void;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The statements that were run in this browser. */
export function HistoryPanel({ runs, onChoose, onChange }: HistoryPanelProps) {
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const found = runs.filter(({ sql }) => sql.toLowerCase().includes(wanted));
  return (
    <section class="card sql-history" aria-label="History">
      <div class="row">
        <input type="search" placeholder="Find in the history" aria-label="Find in the history" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        <span class="spring" />
        <button type="button" class="button small" onClick={() => onChange(forgetHistory())} disabled={runs.length === 0}>
          Forget all
        </button>
      </div>
      {found.length === 0 && <p class="muted">{runs.length ? "No statement has this in it." : "Statements that you run are kept here, in this browser."}</p>}
      <ol>
        {found.map((run) => (
          <li key={run.at}>
            <button type="button" onClick={() => onChoose(run)}>
              <code dir="auto">{run.sql.length > 300 ? `${run.sql.slice(0, 300)}…` : run.sql}</code>
              <span class={run.error ? "sql-failed" : "muted"}>
                {WHEN.format(run.at)} · {run.error ? "failed" : `${run.rows} rows`} · {Math.round(run.ms)} ms
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
