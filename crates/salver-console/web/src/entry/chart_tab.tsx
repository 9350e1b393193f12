import { fetchRows } from "../api";
import { ChartForm } from "../chart/form";
import { Histogram } from "../chart/histogram";
import { seriesOf } from "../chart/series";
import { defaultSettings, readSettings, writeSettings } from "../chart/settings";
import { ChartView, chartLabel } from "../chart/view";
import { kindOf, isTemporal } from "../column_type";
import type { Entry } from "../catalog";
import type { Value } from "../data_json";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import { CHART_ROWS, chartRequest } from "./chart_request";
import { fetchHistogram, histogramRequest } from "./profile_queries";
import type { ViewState } from "./view_state";

const BARS = 40;

/** A chart of an entry. The server makes the groups, so that all rows count and not only those of a page. */
export function ChartTab({ entry, state }: { entry: Entry; state: ViewState }) {
  const settings = readSettings(place.value.query.get("chart")) ?? defaultSettings(entry.columns);
  const column = entry.columns.find(({ name }) => name === settings.x);
  const bars = settings.kind === "histogram" && column ? histogramRequest(entry, state, column, BARS) : null;
  const chart = settings.kind === "histogram" ? null : chartRequest(entry, state, settings);
  const request = bars ?? chart?.request ?? null;
  // What was drawn before stays until the next is there, with the settings it was drawn with.
  const drawn = useLoaded(request && JSON.stringify([request, settings]), async (signal) => {
    if (bars) return { bins: await fetchHistogram(bars, signal), series: null, full: false, settings };
    if (!chart) return null;
    const data = await fetchRows(chart.request, signal);
    return { bins: null, series: seriesOf(chart.columns, arranged(data, chart.columns), chart.settings), full: data.rows.length >= CHART_ROWS, settings };
  });
  return (
    <div class="chart-panel">
      <ChartForm columns={entry.columns} settings={settings} onSettings={(next) => setQuery({ chart: writeSettings(next), tab: "chart" }, { replace: true })} />
      <ErrorNote error={drawn.error} onRetry={drawn.reload} />
      {request === null && <p class="note">Choose a column, or a filter that SQL has a counterpart for.</p>}
      <div class={drawn.loading ? "busy" : ""} aria-busy={drawn.loading}>
        {drawn.data?.bins && (
          <figure class="chart">
            <Histogram bins={drawn.data.bins} temporal={isTemporal(kindOf(column?.type))} label={chartLabel(drawn.data.settings)} />
            <figcaption>{chartLabel(drawn.data.settings)}</figcaption>
          </figure>
        )}
        {drawn.data?.series && <ChartView series={drawn.data.series} settings={drawn.data.settings} />}
        {!drawn.data && !drawn.error && request && <p class="loading">Loading…</p>}
      </div>
      {drawn.data?.full && <p class="muted">These are the first {CHART_ROWS.toLocaleString("en")}; a filter makes room for others.</p>}
      {request && <RequestPanel request={request} />}
    </div>
  );
}

function arranged(data: { columns: string[]; rows: Value[][] }, columns: { name: string }[]) {
  const positions = columns.map(({ name }) => data.columns.indexOf(name));
  return data.rows.map((row) => positions.map((position) => row[position] ?? null));
}
