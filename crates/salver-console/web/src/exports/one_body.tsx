import { useState } from "preact/hooks";
import { type ApiRequest, apiPath } from "../api";
import type { Entry } from "../catalog";
import { parquetRefuses } from "../column_type";
import { ErrorNote } from "../error_note";
import { FileLink } from "../file_link";
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
  const [error, setError] = useState<unknown>(null);
  const chosen = chosenColumns(entry.columns);
  const noParquet = parquetRefuses(entry.columns.filter(({ name }) => chosen.length === 0 || chosen.includes(name)));
  return (
    <section class="card exports-way" aria-labelledby="one-body">
      <h2 id="one-body">One file</h2>
      <p class="muted">{entry.rows === null ? "All rows" : `${WHOLE.format(entry.rows)} rows`}, as they are when the download begins. The browser does the rest.</p>
      <ColumnsChoice columns={entry.columns} />
      <p class="row">
        {FORMATS.map(({ suffix, label }) =>
          suffix === "parquet" && noParquet ? null : (
            <FileLink key={suffix} class="button" request={exportRequest(entry, suffix)} name={`${entry.name}.${suffix}`} onError={setError}>
              {label}
            </FileLink>
          ),
        )}
      </p>
      {noParquet && (
        <p class="muted">
          Parquet has no type for the column <bdi>{noParquet}</bdi>.
        </p>
      )}
      <ErrorNote error={error} />
      <p class="muted">
        An interrupted download can be resumed with <code>curl -C -</code> or <code>wget -c</code>.
      </p>
      <RequestPanel request={exportRequest(entry, "csv")} />
    </section>
  );
}
