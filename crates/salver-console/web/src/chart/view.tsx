import "./chart.css";
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { BarChart } from "./bars";
import { binsOf } from "./bins";
import { Histogram } from "./histogram";
import { leftOutTexts } from "./left_out";
import { PointMap } from "./map";
import type { PlotProps } from "./plot";
import type { Series } from "./series";
import type { ChartSettings } from "./settings";

/** The drawing of a chart, with a line that says what could not be drawn. */
export function ChartView({ series, settings }: { series: Series; settings: ChartSettings }) {
  const label = chartLabel(settings);
  const left = leftOutTexts(series.left, settings);
  return (
    <figure class="chart">
      {series.points.length === 0 ? <p class="chart-empty">Nothing to draw{left.length > 0 ? ": choose other columns" : ""}.</p> : draw(series, settings, label)}
      <figcaption>{[label, ...left].join(" · ")}</figcaption>
    </figure>
  );
}

/** What a chart shows, in words. */
export function chartLabel({ kind, x, y, aggregate, unit }: ChartSettings): string {
  if (kind === "map") return x === y ? `Points of ${x}` : `Places by ${x} and ${y}`;
  if (kind === "histogram") return `Distribution of ${x}`;
  return `${valueLabel({ kind, x, y, aggregate, unit })} by ${x}${unit && aggregate !== "none" && kind !== "scatter" ? ` per ${unit}` : ""}`;
}

/** What is measured, in words. */
function valueLabel({ kind, y, aggregate }: ChartSettings): string {
  if (aggregate === "none" || kind === "scatter") return y;
  return aggregate === "count" ? "Number of rows" : `${aggregate[0]?.toUpperCase()}${aggregate.slice(1)} of ${y}`;
}

function draw(series: Series, settings: ChartSettings, label: string) {
  switch (settings.kind) {
    case "bar":
      return <BarChart points={series.points} label={label} />;
    case "histogram":
      return <Histogram bins={binsOf(series.points.flatMap(({ x }) => x ?? []))} temporal={series.temporal} label={label} />;
    case "map":
      return <PointMap points={series.points} label={label} />;
    default:
      return <LazyPlot series={series} kind={settings.kind} label={label} name={valueLabel(settings)} />;
  }
}

/** Lines and clouds, whose library is loaded when the first of them is drawn. */
function LazyPlot(props: PlotProps) {
  const [Plot, setPlot] = useState<FunctionComponent<PlotProps> | null>(null);
  useEffect(() => {
    let wanted = true;
    void import("./plot").then(({ PlotChart }) => wanted && setPlot(() => PlotChart));
    return () => {
      wanted = false;
    };
  }, []);
  return Plot ? <Plot {...props} /> : <div class="plot" />;
}
