import { type ApiRequest, apiPath, requestUrl } from "../api";
import type { Entry } from "../catalog";
import { RequestPanel } from "../request_panel";
import { chosenColumns, ColumnsChoice, columnsParameter } from "./columns_choice";

const FORMATS = [
  { suffix: "csv", label: "CSV" },
  { suffix: "xlsx", label: "Excel" },
  { suffix: "tsv", label: "TSV" },
  { suffix: "ndjson", label: "NDJSON" },
  { suffix: "json", label: "JSON" },
  { suffix: "parquet", label: "Parquet" },
  { suffix: "arrow", label: "Arrow" },
] as const;

const WHOLE = new Intl.NumberFormat("en");

function exportRequest(entry: Entry, suffix: string): ApiRequest {
  const columns = chosenColumns(entry.columns);
  return { path: apiPath("export", `${entry.name}.${suffix}`), query: columns.length ? [["columns", columnsParameter(columns)]] : [] };
}

/** Links to all rows in one body. */
export function OneBody({ entry }: { entry: Entry }) {
  return (
    <section class="card exports-way" aria-labelledby="one-body">
      <h2 id="one-body">One file</h2>
      <p class="muted">{entry.rows === null ? "All rows" : `${WHOLE.format(entry.rows)} rows`}, as they are when the download begins. The browser does the rest.</p>
      <ColumnsChoice columns={entry.columns} />
      <p class="row">
        {FORMATS.map(({ suffix, label }) => (
          <a key={suffix} class="button" href={requestUrl(exportRequest(entry, suffix))} download={`${entry.name}.${suffix}`}>
            {label}
          </a>
        ))}
      </p>
      <p class="muted">
        An interrupted download can be resumed with <code>curl -C -</code> or <code>wget -c</code>.
      </p>
      <RequestPanel request={exportRequest(entry, "csv")} />
    </section>
  );
}
