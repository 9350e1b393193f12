import { type ApiRequest, apiPath, fetchRows, send, textOf } from "../api";
import type { Counts } from "../chart/series";
import { type ChartSettings, misfit } from "../chart/settings";
import { isTemporal, kindOf } from "../column_type";
import type { Column, Entry } from "../catalog";
import type { Value } from "../data_json";
import { sqlName, sqlWhere } from "./filters";
import { sqlRequest } from "./profile_queries";
import { csvRequest, doubtfulColumns, withSpecialNumbers } from "./special_numbers";
import { type ViewState, conditionQuery, quoteName } from "./view_state";

/** How many marks a chart has at most. */
export const CHART_ROWS = 5000;
/** One more is asked for, which tells whether there are more. */
const ASKED_ROWS = CHART_ROWS + 1;

/** A request for what is drawn, the columns of its answer, and how to draw them. */
export interface ChartRequest {
  request: ApiRequest;
  columns: Column[];
  settings: ChartSettings;
  /** The columns that count the rows of each group, where these are groups. */
  counts: Counts | null;
}

/** The request for a chart of rows or groups; `null` if it can't be made of the columns that the settings name. */
export function chartRequest(entry: Entry, state: ViewState, settings: ChartSettings): ChartRequest | null {
  const x = entry.columns.find(({ name }) => name === settings.x);
  const y = entry.columns.find(({ name }) => name === settings.y);
  if (!x || misfit(entry.columns, settings) !== null) return null;
  const grouped = settings.kind === "bar" || settings.kind === "line";
  if (!grouped || settings.aggregate === "none") return rawRequest(entry, state, settings, x, y ?? x);

  const truncated = settings.unit !== "" && isTemporal(kindOf(x.type));
  const own = (name: string) => (x.name === name ? `${name}_` : name);
  const [value, rows, filled] = [own("value"), own("rows"), own("filled")];
  const counted = settings.aggregate === "count";
  // Each group tells how many rows it stands for, of which some have no value.
  const calls: [string, string, string][] = counted
    ? [[value, "count()", "count(*)"]]
    : [
        [value, `${settings.aggregate}(${settings.y})`, `${settings.aggregate}(${sqlName(settings.y)})`],
        [rows, "count()", "count(*)"],
        [filled, `count(${settings.y})`, `count(${sqlName(settings.y)})`],
      ];
  const order = settings.kind === "line" || isTemporal(kindOf(x.type)) ? quoteName(x.name) : `-${value}.nullslast`;
  const name = quoteName(x.name);
  const where = state.groups.length ? null : sqlWhere(state.filters, entry.columns);
  const sqlCalls = calls.map(([alias, , call]) => `${call} as ${alias}`).join(", ");
  const columns = [x, ...calls.map(([alias], at) => ({ name: alias, type: at === 0 ? "Float64" : "Int64" }))];
  const counts = counted ? { rows: value, filled: null } : { rows, filled };
  const shown = { columns, settings: { ...settings, y: value, aggregate: "none" as const }, counts };
  const from = `from ${sqlName(entry.name)}${where ?? ""} group by 1`;
  if (truncated) {
    if (where === null) return null;
    const time = `date_trunc('${settings.unit}', ${sqlName(x.name)}) as ${sqlName(x.name)}`;
    return { request: sqlRequest(`select ${time}, ${sqlCalls} ${from} order by 1 limit ${ASKED_ROWS}`), ...shown };
  }
  const sqlOrder = order.startsWith("-") ? "2 desc nulls last" : "1";
  const asked = [name, ...calls.map(([alias, call]) => quoteName(`${alias}:${call}`))].join(",");
  return {
    request: {
      path: apiPath("tables", entry.name),
      query: [...conditionQuery(state), ["group", name], ["columns", asked], ["sort", order], ["limit", String(ASKED_ROWS)]],
      sql: where === null ? undefined : `select ${sqlName(x.name)}, ${sqlCalls} ${from} order by ${sqlOrder} limit ${ASKED_ROWS}`,
    },
    ...shown,
  };
}

function rawRequest(entry: Entry, state: ViewState, settings: ChartSettings, x: Column, y: Column): ChartRequest {
  const names = [...new Set([x.name, y.name])];
  const query: [string, string][] = [["columns", names.map(quoteName).join(",")], ...conditionQuery(state)];
  if (settings.kind === "line") query.push(["sort", quoteName(x.name)]);
  query.push(["limit", String(ASKED_ROWS)]);
  const where = state.groups.length ? null : sqlWhere(state.filters, entry.columns);
  return {
    request: {
      path: apiPath("tables", entry.name),
      query,
      sql: where === null ? undefined : `select ${names.map(sqlName).join(", ")} from ${sqlName(entry.name)}${where}${settings.kind === "line" ? ` order by ${sqlName(x.name)}` : ""} limit ${ASKED_ROWS}`,
    },
    columns: names.length === 1 ? [x] : [x, y],
    settings,
    counts: null,
  };
}

/** The rows of a chart, with NaN and the infinities, which JSON has as null: among groups, those that rows are put together by. */
export async function fetchChartRows({ request, columns, counts }: ChartRequest, signal: AbortSignal): Promise<Value[][]> {
  const data = await fetchRows(request, signal);
  const [x] = columns;
  // Of groups, how many rows have a value tells whether there is one.
  const doubtful = counts ? doubtfulColumns(x ? [x] : [], data) : doubtfulColumns(columns, data);
  const csv = doubtful.length === 0 ? null : await textOf(await send(counts ? allAsCsv(request) : csvRequest(request, doubtful), signal));
  // Where groups are by floats, no text of theirs needs quotes.
  const asked = counts ? data.columns : doubtful;
  const rows = (csv === null ? null : withSpecialNumbers(data, asked, csv)) ?? data.rows;
  const positions = columns.map(({ name }) => data.columns.indexOf(name));
  return rows.map((row) => positions.map((position) => row[position] ?? null));
}

function allAsCsv(request: ApiRequest): ApiRequest {
  return { ...request, query: [...(request.query ?? []), ["format", "csv"]] };
}
