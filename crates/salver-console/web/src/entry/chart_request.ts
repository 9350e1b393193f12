import { type ApiRequest, apiPath } from "../api";
import type { ChartSettings } from "../chart/settings";
import { isTemporal, kindOf } from "../column_type";
import type { Entry } from "../catalog";
import type { GridColumn } from "../grid/grid";
import { sqlName, sqlWhere } from "./filters";
import { sqlRequest } from "./profile_queries";
import { type ViewState, conditionQuery, quoteName } from "./view_state";

/** How many marks a chart has at most. */
export const CHART_ROWS = 5000;
/** One more is asked for, which tells whether there are more. */
const ASKED_ROWS = CHART_ROWS + 1;

/** A request for what is drawn, the columns of its answer, and how to draw them. */
export interface ChartRequest {
  request: ApiRequest;
  columns: GridColumn[];
  settings: ChartSettings;
}

/** The request for a chart of rows or groups; `null` if the settings name no columns. */
export function chartRequest(entry: Entry, state: ViewState, settings: ChartSettings): ChartRequest | null {
  const x = entry.columns.find(({ name }) => name === settings.x);
  const y = entry.columns.find(({ name }) => name === settings.y);
  if (!x || (!y && settings.aggregate !== "count")) return null;
  const grouped = settings.kind === "bar" || settings.kind === "line";
  if (!grouped || settings.aggregate === "none") return rawRequest(entry, state, settings, x, y ?? x);

  const truncated = settings.unit !== "" && isTemporal(kindOf(x.type));
  const value = settings.x === "value" ? "value_" : "value";
  const call = settings.aggregate === "count" ? "count()" : `${settings.aggregate}(${settings.y})`;
  const order = settings.kind === "line" || isTemporal(kindOf(x.type)) ? quoteName(x.name) : `-${value}.nullslast`;
  const name = quoteName(x.name);
  const where = state.groups.length ? null : sqlWhere(state.filters, entry.columns);
  const sqlCall = settings.aggregate === "count" ? "count(*)" : `${settings.aggregate}(${sqlName(settings.y)})`;
  if (truncated) {
    if (where === null) return null;
    const sql = `select date_trunc('${settings.unit}', ${sqlName(x.name)}) as ${sqlName(x.name)}, ${sqlCall} as ${value} from ${sqlName(entry.name)}${where} group by 1 order by 1 limit ${ASKED_ROWS}`;
    return { request: sqlRequest(sql), columns: [x, { name: value, type: "Float64" }], settings: { ...settings, y: value, aggregate: "none" } };
  }
  const sqlOrder = order.startsWith("-") ? "2 desc nulls last" : "1";
  return {
    request: {
      path: apiPath("tables", entry.name),
      query: [...conditionQuery(state), ["group", name], ["columns", `${name},${quoteName(`${value}:${call}`)}`], ["sort", order], ["limit", String(ASKED_ROWS)]],
      sql: where === null ? undefined : `select ${sqlName(x.name)}, ${sqlCall} as ${value} from ${sqlName(entry.name)}${where} group by 1 order by ${sqlOrder} limit ${ASKED_ROWS}`,
    },
    columns: [x, { name: value, type: "Float64" }],
    settings: { ...settings, y: value, aggregate: "none" },
  };
}

function rawRequest(entry: Entry, state: ViewState, settings: ChartSettings, x: GridColumn, y: GridColumn): ChartRequest {
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
  };
}
