import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../layout/theme";
import { FAR_STEPS, areFar, farMarks } from "./far_times";
import { axisTimes, shortTime } from "./number_format";
import { scalingOf } from "./scaling";
import type { Series } from "./series";

/** What a plot draws. */
export interface PlotProps {
  series: Series;
  kind: "line" | "scatter";
  label: string;
  name: string;
}

const HEIGHT = 340;
/** What is left free at the right at least, in pixels. */
const ROOM = 17;

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
    const last = points[points.length - 1]?.x ?? 0;
    const span = last - first;
    const numbers = (of: "x" | "y") => points.flatMap((point) => point[of] ?? []);
    const xs = scalingOf(series.temporal ? [] : numbers("x"));
    const ys = scalingOf(numbers("y"));
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: `12px ${style.fontFamily}` };
    // A mark at the right end stands in the middle of its label, half of which needs room there.
    const measured = document.createElement("canvas").getContext("2d");
    if (measured) measured.font = axis.font;
    let right = ROOM;
    const placed = (texts: string[]) => {
      const last = (texts.at(-1) ?? "").split("\n");
      right = Math.max(ROOM, ...last.map((line) => Math.ceil((measured?.measureText(line).width ?? 0) / 2) + 4));
      return texts;
    };
    const number = (_: uPlot, value: number | null) => (value === null ? "–" : ys.text(value));
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        padding: [null, () => right, null, null],
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
        scales: { x: { time: series.temporal } },
        series: [
          { label: series.temporal ? "time" : "x", value: (_, value) => (value === null ? "–" : series.temporal ? shortTime(value, span) : xs.text(value)) },
          {
            label: name || "value",
            stroke: colour("--chart"),
            width: 2,
            value: number,
            ...(kind === "scatter" ? { paths: () => null, points: { show: true, size: 6, fill: colour("--chart"), stroke: colour("--surface") } } : { points: { show: points.length < 60 } }),
          },
        ],
        axes: [
          series.temporal ? { ...axis, ...timeMarks(areFar(first, last), placed) } : { ...axis, values: (_, values) => placed(xs.texts(values)) },
          { ...axis, size: 84, values: (_, values) => ys.texts(values) },
        ],
      },
      [points.map(({ x }) => xs.drawn(x ?? 0)), points.map(({ y }) => (y === null ? null : ys.drawn(y)))],
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

/** The marks of an axis of time. */
function timeMarks(isFar: boolean, placed: (texts: string[]) => string[]): Pick<uPlot.Axis, "incrs" | "splits" | "values"> {
  if (!isFar) return { values: (_, values, __, ___, step) => placed(axisTimes(values, step)) };
  return {
    incrs: FAR_STEPS,
    splits: (_, __, from, to, step) => (step > 0 ? farMarks(from, to, step) : []),
    // Between a day and a year there are no months here, but days.
    values: (_, values, __, ___, step) => placed(axisTimes(values, step < 360 * 86400 ? Math.min(step, 86400) : step)),
  };
}
