import { useState } from "preact/hooks";
import { type ApiRequest, fetchData } from "../api";
import { isNumeric, kindOf } from "../column_type";
import { type Entry, catalog, recordsName } from "../catalog";
import type { Value } from "../data_json";
import { buildFilter, writeFilter } from "../entry/filters";
import { type Relation, graphqlName, keyOf, recordTable, relationsOf } from "../entry/metadata";
import { rowUrl } from "../entry/row_address";
import { ErrorNote } from "../error_note";
import { CellContent } from "../grid/cell";
import { valueText } from "../grid/value";
import { RequestPanel } from "../request_panel";
import { pageUrl } from "../router";
import { useLoaded } from "../use_loaded";
import { referenceOf } from "./referring";

/** How many rows of a relation are shown, at first and after each wish for more. */
const SHOWN_ROWS = [10, 100, 1000];
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
  /** The columns of the target that may refer to each column of the key, of those that are told. */
  candidates: string[][];
}

/** The rows that this one belongs with, in both directions, as GraphQL follows them. */
export function Relations({ entry, keyColumns, rowKey }: Props) {
  const [limits, setLimits] = useState<Record<string, number>>({});
  const limitOf = (relation: Relation) => limits[relation.field] ?? SHOWN_ROWS[0] ?? 10;
  const related = useLoaded(JSON.stringify([entry.name, rowKey, limits]), async (signal) => {
    const table = catalog.value && recordsName(entry, catalog.value.tables);
    const fields = table ? ((await recordTable(table))?.fields ?? {}) : {};
    const relations = await Promise.all((await relationsOf(entry)).map((relation) => describe(relation, keyColumns.map((name) => fields[name]?.["x-referenced"] ?? []))));
    const known = relations.filter((one) => one !== null);
    if (known.length === 0) return null;
    const request = relationsRequest(entry, keyColumns, rowKey, known, limitOf);
    const answer = await fetchData(request, signal);
    const row = member(member(answer, "data"), `${graphqlName(entry.name)}_by_key`);
    return { request, groups: known.map((one) => ({ ...one, rows: rowsOf(member(row, one.relation.field)) })) };
  });
  if (related.error) return <ErrorNote error={related.error} onRetry={related.reload} />;
  if (!related.data) return null;
  return (
    <section class="relations" aria-label="Related rows" aria-busy={related.loading}>
      {related.data.groups.map((group) => {
        const { relation, rows } = group;
        const limit = limitOf(relation);
        const next = SHOWN_ROWS.find((size) => size > limit);
        return (
          <RelatedRows
            key={relation.field}
            {...group}
            rows={relation.many ? rows.slice(0, limit) : rows}
            all={relation.many ? allRows(entry, keyColumns, rowKey, group) : null}
            more={relation.many && rows.length > limit}
            onMore={next === undefined ? null : () => setLimits({ ...limits, [relation.field]: next })}
          />
        );
      })}
      <RequestPanel request={related.data.request} />
    </section>
  );
}

async function describe(relation: Relation, referring: string[][]): Promise<Related | null> {
  const all = catalog.value;
  const target = all?.entries.get(relation.target);
  if (!all || !target) return null;
  const targetKey = await keyOf(target);
  const plain = target.columns.filter(({ type }) => !["nested", "binary"].includes(kindOf(type))).map(({ name }) => name);
  const columns = [...new Set([...targetKey, ...plain.slice(0, SHOWN_COLUMNS)])];
  const table = `${recordsName(target, all.tables) ?? target.name}.`;
  const candidates = referring.map((names) => names.filter((name) => name.startsWith(table)).map((name) => name.slice(table.length)).filter((name) => plain.includes(name)));
  return { relation, target, targetKey, columns, candidates };
}

function relationsRequest(entry: Entry, keyColumns: string[], key: string[], related: Related[], limitOf: (relation: Relation) => number): ApiRequest {
  const args = keyColumns.map((name, index) => {
    const kind = kindOf(entry.columns.find((column) => column.name === name)?.type);
    const value = key[index] ?? "";
    return `${graphqlName(name)}: ${isNumeric(kind) || kind === "boolean" ? value : JSON.stringify(value)}`;
  });
  const fields = related.map(({ relation, columns, candidates }) => {
    const asked = new Set([...columns, ...(relation.many ? candidates.flat() : [])].map(graphqlName));
    // One more than is shown tells whether there are more.
    return `${relation.field}${relation.many ? `(limit: ${limitOf(relation) + 1})` : ""} { ${[...asked].join(" ")} }`;
  });
  const query = `{ ${graphqlName(entry.name)}_by_key(${args.join(", ")}) { ${fields.join(" ")} } }`;
  return { method: "POST", path: "api/graphql", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query }) };
}

function member(value: Value | undefined, name: string): Value {
  return value instanceof Map ? (value.get(name) ?? null) : null;
}

function rowsOf(value: Value): Map<string, Value>[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item instanceof Map);
}

/** The page with all related rows, where it is known which columns of theirs refer to this row. */
function allRows(entry: Entry, keyColumns: string[], rowKey: string[], { target, candidates, rows }: Related & { rows: Map<string, Value>[] }): string | null {
  const referring = (catalog.value?.tables.get(target.name) ?? []).filter(({ fk }) => fk === entry.name);
  const told = candidates.some((columns) => columns.length > 0) ? candidates : [referring.map(({ name }) => name)];
  const reference = referenceOf(keyColumns, rowKey, told, rows.map((row) => (column) => row.get(graphqlName(column)) ?? null));
  if (!reference) return null;
  const filters = reference.flatMap(([name, keyColumn]) => {
    const column = target.columns.find((one) => one.name === name);
    return column ? [writeFilter(buildFilter(column, "eq", rowKey[keyColumns.indexOf(keyColumn)] ?? ""))] : [];
  });
  return `${pageUrl("entry", target.name)}?${new URLSearchParams(filters)}`;
}

interface RelatedRowsProps extends Related {
  rows: Map<string, Value>[];
  /** The page with all of them. */
  all: string | null;
  more: boolean;
  /** Shows more of them here, unless these are as many as can be. */
  onMore: (() => void) | null;
}

function RelatedRows({ relation, target, targetKey, columns, rows, all, more, onMore }: RelatedRowsProps) {
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
      {more && (
        <p class="row muted">
          <span>The first {rows.length.toLocaleString("en")}; there are more.</span>
          {onMore && (
            <button type="button" class="button small" onClick={onMore}>
              Show more
            </button>
          )}
        </p>
      )}
    </section>
  );
}
