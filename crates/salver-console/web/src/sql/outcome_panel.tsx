import { ApiError } from "../api";
import { ChartPanel } from "../chart/panel";
import { type ChartSettings, readSettings, writeSettings } from "../chart/settings";
import { ErrorNote } from "../error_note";
import { Grid } from "../grid/grid";
import { setQuery } from "../router";
import { readTyped } from "../session/drafts";
import { PlanView } from "./plan_view";
import { withRights } from "./rights";
import type { SqlState, View } from "./state";
import type { Outcome } from "./use_run";

interface OutcomePanelProps {
  outcome: Outcome;
  state: SqlState;
  /** Runs the statement as the user's own wish. */
  onAgain: () => void;
}

const WHOLE = new Intl.NumberFormat("en");

/** What came of a statement: rows, a chart of them, a plan, or an error. */
export function OutcomePanel({ outcome, state, onAgain }: OutcomePanelProps) {
  const { result, plan, error } = outcome;
  // A link is run as GET, which the server refuses where a function may do more than read.
  const needsWish = outcome.method === "GET" && !outcome.statement.named && error instanceof ApiError && error.status === 405;
  const view: View = plan ? "plan" : state.view === "chart" ? "chart" : "rows";
  /** Another kind of chart is a step of its own, unless one would lose what is typed on this step. */
  const showChart = (settings: ChartSettings) => {
    const isSame = readSettings(state.chart)?.kind === settings.kind;
    setQuery({ chart: writeSettings(settings) }, { replace: isSame || readTyped() !== null });
  };
  return (
    <div class="sql-outcome">
      <div class="sql-status">
        <p role="status">
          <Status outcome={outcome} />
        </p>
        {result && !plan && (
          <div class="tabs" role="group" aria-label="View">
            {(["rows", "chart"] as const).map((name) => (
              <button key={name} type="button" class="tab" aria-pressed={name === view} onClick={() => setQuery({ view: name === "rows" ? null : name }, { replace: true })}>
                {name === "rows" ? "Rows" : "Chart"}
              </button>
            ))}
          </div>
        )}
      </div>
      {needsWish ? (
        <div class="note">
          <p>This statement came with a link, and it calls a function that may do more than read.</p>
          <p class="row">
            <button type="button" class="button small" onClick={onAgain}>
              Run it
            </button>
          </p>
        </div>
      ) : (
        <ErrorNote error={withRights(error)} />
      )}
      {plan && <PlanView steps={plan} />}
      {result && view === "rows" && <Grid label="Result" columns={result.columns} rows={result.rows} firstNumber={1} empty="The statement gave no rows." height="calc(100vh - 21rem)" />}
      {result && view === "chart" && (
        <ChartPanel columns={result.columns} rows={result.rows} settings={readSettings(state.chart)} onSettings={showChart} />
      )}
    </div>
  );
}

function Status({ outcome }: { outcome: Outcome }) {
  const { running, cancelled, arrived, result } = outcome;
  if (running) return <span>Running… {arrived > 0 && `${WHOLE.format(arrived)} rows so far`}</span>;
  if (cancelled) return <span>Cancelled.</span>;
  if (!result) return null;
  const { rows, more, ms } = result;
  return (
    <span>
      {more && "The first "}
      {more && rows.length === 1 ? "row" : `${WHOLE.format(rows.length)} ${rows.length === 1 ? "row" : "rows"}`}
      <span class="muted"> · {ms < 10 ? ms.toFixed(1) : WHOLE.format(Math.round(ms))} ms</span>
      {result.unsure && <span class="muted"> · a NULL among floats may be NaN or infinite</span>}
      {more && (
        <>
          {" "}
          <span class="badge warn">there are more</span>
        </>
      )}
    </span>
  );
}
