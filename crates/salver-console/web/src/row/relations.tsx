import { type ApiRequest, fetchData } from "../api";
import { isNumeric, kindOf } from "../column_type";
import { type Entry, catalog } from "../catalog";
import type { Value } from "../data_json";
import { buildFilter, writeFilter } from "../entry/filters";
import { type Relation, graphqlName, keyOf, relationsOf } from "../entry/metadata";
import { rowUrl } from "../entry/row_address";
import { ErrorNote } from "../error_note";
import { CellContent } from "../grid/cell";
import { valueText } from "../grid/value";
import { RequestPanel } from "../request_panel";
import { pageUrl } from "../router";
import { useLoaded } from "../use_loaded";

const SHOWN_ROWS = 10;
const SHOWN_COLUMNS = 4;

interface Props {
  entry: Entry;
  keyColumns: string[];
  rowKey: string[];
}

interface Related {
  relation: Relation;
  target: Entry;
  targetKey: string[];
  columns: string[];
}

/** The rows that this one belongs with, in both directions, as GraphQL follows them. */
export function Relations({ entry, keyColumns, rowKey }: Props) {
  const related = useLoaded(`${entry.name}/${rowKey.join("/")}`, async (signal) => {
    const relations = await Promise.all((await relationsOf(entry)).map(describe));
    const known = relations.filter((one) => one !== null);
    if (known.length === 0) return null;
    const request = relationsRequest(entry, keyColumns, rowKey, known);
    const answer = await fetchData(request, signal);
    const row = member(member(answer, "data"), `${graphqlName(entry.name)}_by_key`);
    return { request, groups: known.map((one) => ({ ...one, rows: rowsOf(member(row, one.relation.field)) })) };
  });
  if (related.error) return <ErrorNote error={related.error} onRetry={related.reload} />;
  if (!related.data) return null;
  return (
    <section class="relations" aria-label="Related rows">
      {related.data.groups.map((group) => (
        <RelatedRows key={group.relation.field} {...group} all={group.relation.many ? allRows(entry, group.target, rowKey) : null} />
      ))}
      <RequestPanel request={related.data.request} />
    </section>
  );
}

async function describe(relation: Relation): Promise<Related | null> {
  const target = catalog.value?.entries.get(relation.target);
  if (!target) return null;
  const targetKey = await keyOf(target);
  const plain = target.columns.filter(({ type }) => !["nested", "binary"].includes(kindOf(type))).map(({ name }) => name);
  const columns = [...new Set([...targetKey, ...plain.slice(0, SHOWN_COLUMNS)])];
  return { relation, target, targetKey, columns };
}

function relationsRequest(entry: Entry, keyColumns: string[], key: string[], related: Related[]): ApiRequest {
  const args = keyColumns.map((name, index) => {
    const kind = kindOf(entry.columns.find((column) => column.name === name)?.type);
    const value = key[index] ?? "";
    return `${graphqlName(name)}: ${isNumeric(kind) || kind === "boolean" ? value : JSON.stringify(value)}`;
  });
  const fields = related.map(({ relation, columns }) => `${relation.field}${relation.many ? `(limit: ${SHOWN_ROWS})` : ""} { ${columns.map(graphqlName).join(" ")} }`);
  const query = `{ ${graphqlName(entry.name)}_by_key(${args.join(", ")}) { ${fields.join(" ")} } }`;
  return { method: "POST", path: "api/graphql", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query }) };
}

function member(value: Value | undefined, name: string): Value {
  return value instanceof Map ? (value.get(name) ?? null) : null;
}

function rowsOf(value: Value): Map<string, Value>[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item instanceof Map);
}

/** The page with all related rows, where it is known which column of theirs refers to this entry. */
function allRows(entry: Entry, target: Entry, rowKey: string[]): string | null {
  const referring = (catalog.value?.tables.get(target.name) ?? []).filter(({ fk }) => fk === entry.name);
  const column = target.columns.find(({ name }) => name === referring[0]?.name);
  if (!column || referring.length !== 1 || rowKey.length !== 1) return null;
  const [name, value] = writeFilter(buildFilter(column, "eq", rowKey[0] ?? ""));
  return `${pageUrl("entry", target.name)}?${new URLSearchParams([[name, value]])}`;
}

function RelatedRows({ relation, target, targetKey, columns, rows, all }: Related & { rows: Map<string, Value>[]; all: string | null }) {
  return (
    <section class="card">
      <h2>
        <bdi>{relation.field}</bdi>{" "}
        <small>
          {relation.many ? "rows of" : "a row of"} <a href={pageUrl("entry", target.name)}>{target.name}</a>
          {all && rows.length > 0 && (
            <>
              {" · "}
              <a href={all}>show them</a>
            </>
          )}
        </small>
      </h2>
      {rows.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <div class="related-scroll">
          <table class="plain-table">
            <thead>
              <tr>
                {columns.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => {
                const value = (name: string) => row.get(graphqlName(name)) ?? null;
                const link = targetKey.length ? rowUrl(target.name, targetKey.map((name) => valueText(value(name)))) : undefined;
                return (
                  <tr key={index}>
                    {columns.map((name) => (
                      <td key={name}>
                        <CellContent value={value(name)} link={targetKey.includes(name) ? link : undefined} />
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {rows.length === SHOWN_ROWS && <p class="muted">The first {SHOWN_ROWS}.</p>}
    </section>
  );
}
