import { type ApiRequest, type Rows, apiPath, fetchRows, send, textOf } from "../api";
import { kindOf } from "../column_type";
import type { Column, Entry } from "../catalog";
import { ErrorNote } from "../error_note";
import { CellContent } from "../grid/cell";
import { setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import { equalFilter, hasFacets, writeFilter } from "./filters";
import { doubtfulColumns, withSpecialNumbers } from "./special_numbers";
import { type ViewState, conditionQuery, quoteName, setFilters, splitNames } from "./view_state";

const SHOWN_VALUES = 8;
/** A URL has no room for longer ones. */
const LONGEST_FILTER = 2000;
const UNLIKELY = /(^|_)(id|uuid|key|email|url|name|title|description|details|note)$/i;

/** Columns that are likely to have few values, which is what facets are good for. */
export function defaultFacets(columns: Column[]): string[] {
  const few = columns.filter(({ name, type }) => ["text", "boolean"].includes(kindOf(type)) && !UNLIKELY.test(name));
  const chosen = few.length ? few : columns.filter(({ type }) => kindOf(type) === "text");
  return chosen.slice(0, 3).map(({ name }) => name);
}

/** The most frequent values of some columns under the conditions that hold, each a condition to add or remove. */
export function Facets({ entry, state, names }: { entry: Entry; state: ViewState; names: string }) {
  const chosen = splitNames(names).flatMap((name) => entry.columns.find((column) => column.name === name && hasFacets(column)) ?? []);
  const others = entry.columns.filter((column) => !chosen.includes(column) && hasFacets(column));
  const show = (columns: Column[]) => setQuery({ facets: columns.map(({ name }) => quoteName(name)).join(",") });
  return (
    <aside class="facets" aria-label="Facets">
      {chosen.map((column) => (
        <Facet key={column.name} entry={entry} state={state} column={column} onRemove={() => show(chosen.filter((one) => one !== column))} />
      ))}
      <select aria-label="Add a facet" value="" onChange={(event) => show([...chosen, ...others.filter(({ name }) => name === event.currentTarget.value)])}>
        <option value="">Add a facet…</option>
        {others.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </aside>
  );
}

function Facet({ entry, state, column, onRemove }: { entry: Entry; state: ViewState; column: Column; onRemove: () => void }) {
  const name = /[",:(]/.test(column.name) ? `"${column.name.replace(/"/g, '""')}"` : column.name;
  // The number of rows needs a name that no column has.
  const count = column.name === "n" ? "n_rows" : "n";
  const request: ApiRequest = {
    path: apiPath("tables", entry.name),
    query: [...conditionQuery(state), ["group", name], ["columns", `${name},${count}:count()`], ["sort", `-${count}`], ["limit", String(SHOWN_VALUES)]],
  };
  const values = useLoaded(JSON.stringify(request), (signal) => readValues(request, column, signal));
  const most = Number(values.data?.rows[0]?.[1] ?? 1);
  return (
    <section class="facet">
      <h2 class="row">
        <bdi>{column.name}</bdi>
        <span class="spring" />
        <button type="button" class="chip-remove" aria-label={`Remove the facet ${column.name}`} onClick={onRemove}>
          ×
        </button>
      </h2>
      <ErrorNote error={values.error} onRetry={values.reload} />
      <ul>
        {values.data?.rows.map(([value = null, rows]) => {
          const filter = equalFilter(column, value);
          const parameter = writeFilter(filter).join("=");
          const active = state.filters.some((one) => writeFilter(one).join("=") === parameter);
          const toggle = () => setFilters(state.filters, active ? state.filters.filter((one) => writeFilter(one).join("=") !== parameter) : [...state.filters, filter]);
          return (
            <li key={parameter}>
              <button type="button" class="facet-value" aria-pressed={active} disabled={parameter.length > LONGEST_FILTER} onClick={toggle}>
                <span class="facet-bar" style={{ width: `${(Number(rows) / most) * 100}%` }} />
                <span class="facet-label">
                  <CellContent value={value} />
                </span>
                <span class="facet-count">{Number(rows).toLocaleString("en")}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The values and their numbers of rows, with the NaN and infinities among floats, which JSON has as null. */
async function readValues(request: ApiRequest, column: Column, signal: AbortSignal): Promise<Rows> {
  const data = await fetchRows(request, signal);
  if (doubtfulColumns([column], data).length === 0) return data;
  const csv = await textOf(await send({ ...request, query: [...(request.query ?? []), ["format", "csv"]] }, signal));
  return { ...data, rows: withSpecialNumbers(data, data.columns, csv) ?? data.rows };
}
