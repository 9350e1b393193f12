import type { GridColumn } from "../grid/grid";
import type { Value } from "../data_json";
import { ChartForm } from "./form";
import { type ChartSettings, defaultSettings } from "./settings";
import { ChartView } from "./view";
import { seriesOf } from "./series";

/** What a panel draws. */
export interface ChartPanelProps {
  columns: GridColumn[];
  rows: Value[][];
  /** What to draw; `null` draws what seems to fit. */
  settings: ChartSettings | null;
  onSettings: (settings: ChartSettings) => void;
}

/** A chart of rows that are at hand, with the choice of what to draw. */
export function ChartPanel({ columns, rows, settings, onSettings }: ChartPanelProps) {
  const chosen = settings ?? defaultSettings(columns);
  return (
    <div class="chart-panel">
      <ChartForm columns={columns} settings={chosen} onSettings={onSettings} />
      <ChartView series={seriesOf(columns, rows, chosen)} settings={chosen} />
    </div>
  );
}
