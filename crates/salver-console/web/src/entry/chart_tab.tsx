import { fetchRows } from "../api";
import { ChartForm } from "../chart/form";
import { Histogram } from "../chart/histogram";
import { seriesOf } from "../chart/series";
import { type ChartSettings, defaultSettings, readSettings, writeSettings } from "../chart/settings";
import { ChartView, chartLabel } from "../chart/view";
import { isNumeric as numeric, isTemporal, kindOf } from "../column_type";
import type { Entry } from "../catalog";
import type { Value } from "../data_json";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import { CHART_ROWS, chartRequest } from "./chart_request";
import { type Distribution, fetchDistribution, histogramRequest } from "./profile_queries";
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
    if (bars) return { distribution: await fetchDistribution(bars, signal), series: null, full: false, settings };
    if (!chart) return null;
    const data = await fetchRows(chart.request, signal);
    const rows = arranged(data, chart.columns);
    return { distribution: null, series: seriesOf(chart.columns, rows.slice(0, CHART_ROWS), chart.settings), full: rows.length > CHART_ROWS, settings };
  });
  return (
    <div class="chart-panel">
      <ChartForm columns={entry.columns} settings={settings} onSettings={(next) => setQuery({ chart: writeSettings(next), tab: "chart" }, { replace: next.kind === settings.kind })} />
      <ErrorNote error={drawn.error} onRetry={drawn.reload} />
      {request === null && <p class="note">{whyNot(entry, settings)}</p>}
      <div class={drawn.loading ? "busy" : ""} aria-busy={drawn.loading}>
        {drawn.data?.distribution && <DistributionFigure distribution={drawn.data.distribution} temporal={isTemporal(kindOf(column?.type))} label={chartLabel(drawn.data.settings)} />}
        {drawn.data?.series && <ChartView series={drawn.data.series} settings={drawn.data.settings} />}
        {!drawn.data && !drawn.error && request && <p class="loading">Loading…</p>}
      </div>
      {drawn.data?.full && <p class="muted">These are the first {CHART_ROWS.toLocaleString("en")}; a filter makes room for others.</p>}
      {request && <RequestPanel request={request} />}
    </div>
  );
}

function DistributionFigure({ distribution, temporal, label }: { distribution: Distribution; temporal: boolean; label: string }) {
  const { bins, nulls, beyond } = distribution;
  return (
    <figure class="chart">
      {bins.length === 0 ? <p class="chart-empty">Nothing to draw.</p> : <Histogram bins={bins} temporal={temporal} label={label} />}
      <figcaption>
        {label}
        {nulls > 0 && ` · ${nulls.toLocaleString("en")} NULL`}
        {beyond > 0 && ` · ${beyond.toLocaleString("en")} infinite, no number, or too large`}
      </figcaption>
    </figure>
  );
}

/** Why there is nothing to ask for: columns that are not chosen, or not there, or a condition. */
function whyNot(entry: Entry, settings: ChartSettings): string {
  const has = (name: string) => entry.columns.some((column) => column.name === name);
  const needsY = settings.kind !== "histogram" && settings.aggregate !== "count";
  if (has(settings.x) && (!needsY || has(settings.y))) return "One of the conditions has no counterpart in SQL, which this chart is computed with: remove it.";
  const isNumeric = entry.columns.some(({ type }) => numeric(kindOf(type)));
  if (settings.kind === "map" && !isNumeric) return "A map needs two columns of numbers, or one of GeoJSON with a name like geometry, and there is none here.";
  return isNumeric || settings.x !== "" ? "Choose a column for each axis." : "This chart needs a column of numbers, and there is none here.";
}

function arranged(data: { columns: string[]; rows: Value[][] }, columns: { name: string }[]) {
  const positions = columns.map(({ name }) => data.columns.indexOf(name));
  return data.rows.map((row) => positions.map((position) => row[position] ?? null));
}
