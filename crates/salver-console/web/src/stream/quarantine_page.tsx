import { type ApiRequest, apiPath, fetchPage } from "../api";
import { ErrorNote } from "../error_note";
import { Grid } from "../grid/grid";
import { RequestPanel } from "../request_panel";
import { pageUrl, place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import type { StreamPageProps } from "./screen";

const PAGE = 50;
const COLUMNS = [
  { name: "_offset", type: "Int64", key: true },
  { name: "_time", type: 'Timestamp(ms, "UTC")' },
  { name: "reason", type: "Utf8" },
  { name: "event", type: "Utf8" },
  { name: "_key", type: "Utf8" },
  { name: "_id", type: "Utf8" },
];

/** Events that the stream did not take, with the reasons. */
export function QuarantinePage({ stream }: StreamPageProps) {
  const table = stream.tables.find((name) => name.endsWith("_quarantine"));
  const skip = Math.max(0, Number(place.value.query.get("skip")) || 0);
  const request: ApiRequest = {
    path: apiPath("tables", table ?? ""),
    query: [
      ["columns", COLUMNS.map(({ name }) => name).join(",")],
      ["sort", "-_offset"],
      ["limit", String(PAGE)],
      ...(skip ? [["offset", String(skip)] as [string, string]] : []),
      ["count", "true"],
    ],
    sql: `SELECT * FROM ${table ?? ""} ORDER BY _offset DESC LIMIT ${PAGE}${skip ? ` OFFSET ${skip}` : ""}`,
  };
  const { data, error, reload } = useLoaded(table === undefined ? null : `${table} ${skip} ${stream.next}`, (signal) => fetchPage(request, signal));
  if (table === undefined) return <p class="note muted">This stream has no quarantine that you may read.</p>;
  const total = Number(data?.headers.get("X-Total-Count") ?? 0);
  return (
    <>
      <div class="row">
        <p role="status">
          {total} {total === 1 ? "event" : "events"} in the quarantine
        </p>
        <span class="spring" />
        <button type="button" class="button small" disabled={skip === 0} onClick={() => setQuery({ skip: skip > PAGE ? String(skip - PAGE) : null })}>
          Newer
        </button>
        <button type="button" class="button small" disabled={skip + PAGE >= total} onClick={() => setQuery({ skip: String(skip + PAGE) })}>
          Older
        </button>
        <a class="button small" href={pageUrl("entry", table)}>
          As a table
        </a>
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {data?.cut && <p class="note warn">All events of this page would be more than 1 MB: these are the first {data.rows.length}.</p>}
      {data && <Grid label="Quarantine" columns={COLUMNS} rows={inOrder(data.columns, data.rows)} empty="Every event was taken: the quarantine is empty." height="calc(100vh - 20rem)" />}
      <RequestPanel request={request} />
    </>
  );
}

function inOrder<T>(names: string[], rows: T[][]): (T | null)[][] {
  const positions = COLUMNS.map(({ name }) => names.indexOf(name));
  return rows.map((row) => positions.map((position) => row[position] ?? null));
}
