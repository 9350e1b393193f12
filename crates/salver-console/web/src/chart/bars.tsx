import { visibleText } from "../grid/value";
import { shortNumber } from "./number_format";
import type { Point } from "./series";

const SHOWN = 40;

/** Bars, one below the other, so that long names have room. */
export function BarChart({ points, label }: { points: Point[]; label: string }) {
  const values = points.map(({ y }) => y ?? 0);
  // As parts of the largest: the distance between the largest numbers is beyond all numbers.
  const largest = Math.max(...values.slice(0, SHOWN).map(Math.abs)) || 1;
  const parts = values.slice(0, SHOWN).map((value) => value / largest);
  const least = Math.min(0, ...parts);
  const span = Math.max(0, ...parts) - least || 1;
  const percent = (part: number) => `${(part / span) * 100}%`;
  return (
    <div class="bars" role="img" aria-label={`${label}: ${points.slice(0, 10).map((point) => `${point.label} ${shortNumber(point.y ?? 0)}`).join(", ")}`}>
      {points.slice(0, SHOWN).map((point, index) => {
        const value = point.y ?? 0;
        const part = parts[index] ?? 0;
        return (
          <div class="bar-row" key={point.label} title={`${point.label}: ${value.toLocaleString("en")}`}>
            <bdi class="bar-label">{point.label === "" ? "(empty)" : visibleText(point.label.slice(0, 80))}</bdi>
            <span class="bar-track">
              <span class={`bar${value < 0 ? " negative" : ""}`} style={{ left: percent(Math.min(part, 0) - least), width: percent(Math.abs(part)) }} />
            </span>
            <span class="bar-value">{shortNumber(value)}</span>
          </div>
        );
      })}
      {points.length > SHOWN && <p class="muted">and {(points.length - SHOWN).toLocaleString("en")} more</p>}
    </div>
  );
}
