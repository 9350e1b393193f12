import { ChartForm } from "../chart/form";
import { Histogram } from "../chart/histogram";
import { leftOutTexts } from "../chart/left_out";
import { seriesOf } from "../chart/series";
import { type ChartSettings, defaultSettings, isOrdered, misfit, readSettings, writeSettings } from "../chart/settings";
import { ChartView, chartLabel } from "../chart/view";
import { isNumeric as numeric, isTemporal, kindOf } from "../column_type";
import type { Entry } from "../catalog";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import { CHART_ROWS, chartRequest, fetchChartRows } from "./chart_request";
import { type Distribution, fetchDistribution, histogramRequest } from "./profile_queries";
import type { ViewState } from "./view_state";

const BARS = 40;

/** A chart of an entry. The server makes the groups, so that all rows count and not only those of a page. */
export function ChartTab({ entry, state }: { entry: Entry; state: ViewState }) {
  const settings = readSettings(place.value.query.get("chart")) ?? defaultSettings(entry.columns);
  const column = entry.columns.find(({ name }) => name === settings.x);
  const bars = settings.kind === "histogram" && column && misfit(entry.columns, settings) === null ? histogramRequest(entry, state, column, BARS) : null;
  const chart = settings.kind === "histogram" ? null : chartRequest(entry, state, settings);
  const request = bars ?? chart?.request ?? null;
  // What was drawn before stays until the next is there, with the settings it was drawn with.
  const drawn = useLoaded(request && JSON.stringify([request, settings]), async (signal) => {
    if (bars) return { distribution: await fetchDistribution(bars, signal), series: null, full: false, settings };
    if (!chart) return null;
    const rows = await fetchChartRows(chart, signal);
    return { distribution: null, series: seriesOf(chart.columns, rows.slice(0, CHART_ROWS), chart.settings, chart.counts), full: rows.length > CHART_ROWS, settings };
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
  const { bins, nulls, special } = distribution;
  const left = leftOutTexts({ missing: nulls, special, groups: 0, rowsInGroups: 0, outside: null }, { kind: "histogram", x: "", y: "" });
  return (
    <figure class="chart">
      {bins.length === 0 ? <p class="chart-empty">Nothing to draw.</p> : <Histogram bins={bins} temporal={temporal} label={label} />}
      <figcaption>{[label, ...left].join(" · ")}</figcaption>
    </figure>
  );
}

/** Why there is nothing to ask for: columns that are not chosen, not there or don't fit, or a condition. */
function whyNot(entry: Entry, settings: ChartSettings): string {
  const why = misfit(entry.columns, settings);
  if (why === null) return "One of the conditions has no counterpart in SQL, which this chart is computed with: remove it.";
  const isNumeric = entry.columns.some(({ type }) => numeric(kindOf(type)));
  if (settings.kind === "map" && !isNumeric) return "A map needs two columns of numbers, or one of GeoJSON with a name like geometry, and there is none here.";
  if (settings.x !== "" || entry.columns.some(isOrdered)) return why;
  return "This chart needs a column of numbers or times, and there is none here.";
}
