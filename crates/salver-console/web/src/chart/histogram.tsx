import { type Bin, between } from "./bins";
import { shortNumber, shortTime } from "./number_format";

const WIDTH = 800;
const HEIGHT = 260;
const BOTTOM = 24;
const LEFT = 48;

/** Bars of a distribution, with both axes. */
export function Histogram({ bins, temporal, label }: { bins: Bin[]; temporal: boolean; label: string }) {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const first = bins[0]?.from ?? 0;
  const last = bins[bins.length - 1]?.to ?? 1;
  const step = (WIDTH - LEFT) / Math.max(1, bins.length);
  const height = (count: number) => (count / most) * (HEIGHT - BOTTOM - 10);
  const name = (value: number) => (temporal ? shortTime(value, last - first) : shortNumber(value));
  // Of one value there is one mark, and marks that would read the same are one.
  const marks = first === last ? [{ part: 0.5, text: name(first) }] : [0, 0.25, 0.5, 0.75, 1].map((part) => ({ part, text: name(between(first, last, part)) }));
  const ticks = marks.filter(({ text }, index) => text !== marks[index - 1]?.text);
  const heights = [...new Set([0, 0.5, 1].map((part) => Math.round(most * part)))];
  return (
    <svg class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}, from ${name(first)} to ${name(last)}`}>
      {heights.map((count) => {
        const y = HEIGHT - BOTTOM - height(count);
        return (
          <g key={count}>
            <line class="axis" x1={LEFT} x2={WIDTH} y1={y} y2={y} />
            <text x={LEFT - 6} y={y + 4} text-anchor="end">
              {shortNumber(count)}
            </text>
          </g>
        );
      })}
      {bins.map((bin, index) => (
        <rect key={bin.from} class="mark" x={LEFT + index * step + 1} width={Math.max(1, step - 2)} y={HEIGHT - BOTTOM - height(bin.count)} height={height(bin.count)}>
          <title>
            {bin.from === bin.to ? name(bin.from) : `${name(bin.from)} to ${name(bin.to)}`}: {bin.count.toLocaleString("en")}
          </title>
        </rect>
      ))}
      {ticks.map(({ part, text }) => (
        <text key={part} x={LEFT + part * (WIDTH - LEFT)} y={HEIGHT - 6} text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}>
          {text}
        </text>
      ))}
    </svg>
  );
}
