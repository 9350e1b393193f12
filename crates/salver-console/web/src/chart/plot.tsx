import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../layout/theme";
import { axisNumbers, axisTimes, shortNumber, shortTime } from "./number_format";
import type { Series } from "./series";

/** What a plot draws. */
export interface PlotProps {
  series: Series;
  kind: "line" | "scatter";
  label: string;
  name: string;
}

const HEIGHT = 340;

/** Lines and clouds of points, drawn by uPlot. A part is enlarged by dragging, and the whole comes back by a double click. */
export function PlotChart({ series, kind, label, name }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const chosen = theme.value;

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const style = getComputedStyle(element);
    const colour = (variable: string) => style.getPropertyValue(variable).trim();
    // A cloud has its points in the order of the axis, too, as uPlot asks for that.
    const points = [...series.points].sort((a, b) => (a.x ?? 0) - (b.x ?? 0));
    const first = points[0]?.x ?? 0;
    const span = (points[points.length - 1]?.x ?? 0) - first;
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: `12px ${style.fontFamily}` };
    const number = (_: uPlot, value: number | null) => (value === null ? "–" : shortNumber(value));
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
        scales: { x: { time: series.temporal } },
        series: [
          { label: series.temporal ? "time" : "x", value: (_, value) => (value === null ? "–" : series.temporal ? shortTime(value, span) : shortNumber(value)) },
          {
            label: name || "value",
            stroke: colour("--chart"),
            width: 2,
            value: number,
            ...(kind === "scatter" ? { paths: () => null, points: { show: true, size: 6, fill: colour("--chart"), stroke: colour("--surface") } } : { points: { show: points.length < 60 } }),
          },
        ],
        axes: [series.temporal ? { ...axis, values: (_, values, __, ___, step) => axisTimes(values, step) } : axis, { ...axis, size: 72, values: (_, values) => axisNumbers(values) }],
      },
      [points.map(({ x }) => x ?? 0), points.map(({ y }) => y)],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [series, kind, name, chosen]);

  return <div ref={host} class="plot" role="img" aria-label={`${label}, ${series.points.length} points`} />;
}
