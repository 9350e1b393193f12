import { fetchJson } from "../api";
import type { Entry } from "../catalog";

/** A relation as GraphQL has it: a field of the type of an entry that leads to rows of another. */
export interface Relation {
  field: string;
  /** The entry at the other end. */
  target: string;
  /** Whether there may be several rows. */
  many: boolean;
}

/** What may be done with the rows of a table. */
export interface Writes {
  create: boolean;
  update: boolean;
  remove: boolean;
}

/** A column of a table as the description of `/api/records` has it. */
export interface RecordField {
  type?: string;
  maxLength?: number;
  enum?: unknown[];
  readOnly?: boolean;
  "x-references"?: string;
  "x-referenced"?: string[];
}

/** The name of an entry or a column in GraphQL, whose names have letters, digits and underscores only. */
export function graphqlName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

interface TypeRef {
  kind: string;
  name: string | null;
  ofType?: TypeRef | null;
}

interface GraphqlField {
  name: string;
  description?: string | null;
  args: { name: string }[];
  type?: TypeRef;
}

/** Sends a document to GraphQL. */
export async function graphql<T>(query: string): Promise<T> {
  const answer = await fetchJson<{ data: T }>({
    method: "POST",
    path: "api/graphql",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query }),
  });
  return answer.data;
}

let queryFields: Promise<GraphqlField[]> | null = null;

/** The columns of the key of an entry, also of a dataset; none where there is no key, or it can't be known. */
export async function keyOf(entry: Entry): Promise<string[]> {
  queryFields ??= graphql<{ __schema: { queryType: { fields: GraphqlField[] } } }>("{ __schema { queryType { fields { name args { name } } } } }").then(
    ({ __schema }) => __schema.queryType.fields,
    () => [],
  );
  const byKey = (await queryFields).find(({ name }) => name === `${graphqlName(entry.name)}_by_key`);
  const columns = byKey?.args.map((arg) => entry.columns.find(({ name }) => graphqlName(name) === arg.name)?.name) ?? [];
  return columns.every((name) => name !== undefined) ? (columns as string[]) : [];
}

/** The relations of an entry, in both directions. */
export async function relationsOf(entry: Entry): Promise<Relation[]> {
  const fields = await graphql<{ __type: { fields: GraphqlField[] } | null }>(
    `{ __type(name: ${JSON.stringify(graphqlName(entry.name))}) { fields { name description args { name } type { kind name ofType { kind name } } } } }`,
  );
  return (fields.__type?.fields ?? []).flatMap((field) => {
    const target = /^The rows? of `([^`]+)`/.exec(field.description ?? "")?.[1];
    return target ? [{ field: field.name, target, many: field.type?.kind === "LIST" }] : [];
  });
}

interface OpenApi {
  paths: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, { properties?: Record<string, RecordField>; required?: string[] }> };
}

let openApi: Promise<OpenApi | null> | null = null;

/** What the description of `/api/records` says of a table. */
export interface RecordTable {
  writes: Writes;
  fields: Record<string, RecordField>;
  required: string[];
}

/** Which changes a table takes, as far as its description tells, and what its columns are. */
export async function recordTable(table: string): Promise<RecordTable | null> {
  openApi ??= fetchJson<OpenApi>("api/openapi").catch(() => null);
  const api = await openApi;
  if (!api) return null;
  const list = api.paths[`/records/${table}`] ?? {};
  const one = api.paths[`/records/${table}/{id}`] ?? {};
  const schema = api.components?.schemas?.[`create-${table}`] ?? api.components?.schemas?.[`read-${table}`];
  return {
    writes: { create: "post" in list, update: "put" in one, remove: "delete" in one },
    fields: schema?.properties ?? {},
    required: schema?.required ?? [],
  };
}
