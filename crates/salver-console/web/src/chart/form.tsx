import { isNumeric, isTemporal, kindOf } from "../column_type";
import type { GridColumn } from "../grid/grid";
import { AGGREGATES, type Aggregate, CHART_KINDS, type ChartKind, type ChartSettings, UNITS, type Unit, geometryColumns, isCategory, isOrdered, placeColumns } from "./settings";

interface Props {
  columns: GridColumn[];
  settings: ChartSettings;
  onSettings: (settings: ChartSettings) => void;
}

/** The choice of what a chart draws. */
export function ChartForm({ columns, settings, onSettings }: Props) {
  const isTime = (column: string) => isTemporal(kindOf(columns.find(({ name }) => name === column)?.type));
  const change = (part: Partial<ChartSettings>) => {
    const next = { ...settings, ...part };
    onSettings({ ...next, unit: isTime(next.x) ? next.unit : "" });
  };
  const numeric = columns.filter(({ type }) => isNumeric(kindOf(type)));
  const ordered = columns.filter(isOrdered);
  const categories = columns.filter(isCategory);
  const places = [...numeric, ...geometryColumns(columns)];
  const { kind } = settings;
  const isGeometry = kind === "map" && geometryColumns(columns).some(({ name }) => name === settings.x);
  const first = kind === "map" ? places : kind === "bar" ? categories : ordered;
  const grouped = kind === "bar" || kind === "line";

  const choose = (next: ChartKind) => {
    const place = placeColumns(columns);
    const fits = (name: string, among: GridColumn[]) => (among.some((column) => column.name === name) ? name : (among[0]?.name ?? ""));
    if (next === "map") return change({ kind: next, x: place?.longitude ?? fits(settings.x, numeric), y: place?.latitude ?? fits(settings.y, numeric), aggregate: "none" });
    const x = next === "bar" ? fits(settings.x, categories) : fits(settings.x, ordered);
    const y = fits(settings.y, numeric.filter(({ name }) => next !== "scatter" || name !== x));
    change({ kind: next, x, y, aggregate: next === "bar" && settings.aggregate === "none" ? "count" : settings.aggregate });
  };

  /** A geometry is both coordinates, and a number one of them. */
  const chooseFirst = (x: string) => {
    const isBoth = kind === "map" && geometryColumns(columns).some(({ name }) => name === x);
    if (isBoth) return change({ x, y: x });
    change(isGeometry ? { x, y: numeric.find(({ name }) => name !== x)?.name ?? "" } : { x });
  };
  return (
    <div class="chart-form">
      <div class="tabs" role="group" aria-label="Kind of chart">
        {CHART_KINDS.map((one) => (
          <button key={one} type="button" class="tab" aria-pressed={kind === one} onClick={() => choose(one)}>
            {one[0]?.toUpperCase() + one.slice(1)}
          </button>
        ))}
      </div>
      <Choice label={isGeometry ? "Geometry" : kind === "map" ? "Longitude" : kind === "bar" ? "Category" : kind === "histogram" ? "Value" : "X"} value={settings.x} options={first} onChange={chooseFirst} />
      {grouped && (
        <label class="inline-field">
          <span>Show</span>
          <select value={settings.aggregate} onChange={(event) => change({ aggregate: event.currentTarget.value as Aggregate })}>
            {AGGREGATES.map((one) => (
              <option key={one} value={one}>
                {one === "none" ? "each row" : one}
              </option>
            ))}
          </select>
        </label>
      )}
      {grouped && settings.aggregate !== "none" && isTime(settings.x) && (
        <label class="inline-field">
          <span>per</span>
          <select value={settings.unit} onChange={(event) => change({ unit: event.currentTarget.value as Unit })}>
            {UNITS.map((one) => (
              <option key={one} value={one}>
                {one || "instant"}
              </option>
            ))}
          </select>
        </label>
      )}
      {kind !== "histogram" && !isGeometry && !(grouped && settings.aggregate === "count") && (
        <Choice label={kind === "map" ? "Latitude" : grouped ? "of" : "Y"} value={settings.y} options={numeric} onChange={(y) => change({ y })} />
      )}
    </div>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: string; options: GridColumn[]; onChange: (name: string) => void }) {
  return (
    <label class="inline-field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!options.some(({ name }) => name === value) && <option value={value}>{value || "—"}</option>}
        {options.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
