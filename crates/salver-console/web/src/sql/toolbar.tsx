import { FileLink } from "../file_link";
import { setQuery } from "../router";
import { fileRequest, type Statement } from "./run";
import { LIMITS } from "./state";
import type { Order } from "./use_run";

interface ToolbarProps {
  running: boolean;
  limit: number;
  statement: Statement;
  /** A column of its result that Parquet has no type for, as far as that is known. */
  noParquet: string | null;
  historyOpen: boolean;
  onRun: () => void;
  onCancel: () => void;
  /** Without it, the caller may not have plans: they are of a statement of the caller's own. */
  onExplain: ((explain: NonNullable<Order["explain"]>) => void) | null;
  onHistory: () => void;
  /** A file could not be had. */
  onError: (error: unknown) => void;
  /** Without it, the statement can't be saved. */
  onSave: (() => void) | null;
}

const FORMATS = ["csv", "xlsx", "tsv", "json", "ndjson", "parquet", "arrow"] as const;
const WHOLE = new Intl.NumberFormat("en");

/** What can be done with the statement. */
export function Toolbar(props: ToolbarProps) {
  const { running, limit, statement, noParquet, onExplain } = props;
  return (
    <div class="row sql-toolbar" role="group" aria-label="Statement">
      {running ? (
        <button key="cancel" type="button" class="button danger" onClick={props.onCancel}>
          Cancel
        </button>
      ) : (
        <button key="run" type="button" class="button primary" onClick={props.onRun} title="Ctrl+Enter">
          Run
        </button>
      )}
      {onExplain && (
        <>
          <button type="button" class="button" onClick={() => onExplain("EXPLAIN")} disabled={running}>
            Explain
          </button>
          <button type="button" class="button" onClick={() => onExplain("EXPLAIN ANALYZE")} disabled={running} title="Runs the statement and measures each step">
            Analyze
          </button>
        </>
      )}
      <label class="inline-field">
        Rows at most
        <select value={limit} onChange={(event) => setQuery({ limit: event.currentTarget.value }, { replace: true })}>
          {LIMITS.map((rows) => (
            <option key={rows} value={rows}>
              {WHOLE.format(rows)}
            </option>
          ))}
        </select>
      </label>
      <span class="spring" />
      <details class="menu">
        <summary class="button">Download</summary>
        <ul>
          {FORMATS.map((format) => (
            <li key={format}>
              {format === "parquet" && noParquet ? (
                <span class="menu-refused">PARQUET has no type for {noParquet}</span>
              ) : (
                <FileLink request={fileRequest(statement, format)} name={`${statement.named?.name ?? "result"}.${format}`} onError={props.onError}>
                  {format.toUpperCase()}, all rows
                </FileLink>
              )}
            </li>
          ))}
        </ul>
      </details>
      {props.onSave && (
        <button type="button" class="button" onClick={props.onSave}>
          Save as query
        </button>
      )}
      <button type="button" class="button" aria-expanded={props.historyOpen} onClick={props.onHistory}>
        History
      </button>
    </div>
  );
}
