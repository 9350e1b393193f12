import { fetchJson, isAbsent } from "../api";
import type { Entry } from "../catalog";
import { graphqlAnswer } from "../graphql_answer";
import { type Shape, anything, flag, lenient, list, nullable, number, object, optional, record, text } from "../shape";

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

const typeRef = object<TypeRef>({ kind: text, name: nullable(text), ofType: optional(nullable(anything as Shape<TypeRef>)) });

const FIELDS = list(
  object<GraphqlField>({
    name: text,
    description: optional(text),
    args: list(object<{ name: string }>({ name: text })),
    type: optional(typeRef),
  }),
);

const QUERY_FIELDS = object<{ __schema: { queryType: { fields: GraphqlField[] } } }>({ __schema: object({ queryType: object({ fields: FIELDS }) }) });
const TYPE_FIELDS = object<{ __type: { fields: GraphqlField[] } | null }>({ __type: nullable(object<{ fields: GraphqlField[] }>({ fields: FIELDS })) });

/** Reads something once; what could not be read is tried again by the next who needs it. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | null = null;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null;
      throw error;
    });
    return reading;
  };
}

/** Gives nothing in place of what there is not, or what the caller may not have. */
function orNothing<T>(nothing: T): (error: unknown) => T {
  return (error) => {
    if (isAbsent(error)) return nothing;
    throw error;
  };
}

const queryFields = once(() =>
  graphqlAnswer("{ __schema { queryType { fields { name args { name } } } } }", QUERY_FIELDS).then(({ __schema }) => __schema.queryType.fields, orNothing<GraphqlField[]>([])),
);

/** The columns of the key of an entry, also of a dataset; none where there is no key. */
export async function keyOf(entry: Entry): Promise<string[]> {
  const byKey = (await queryFields()).find(({ name }) => name === `${graphqlName(entry.name)}_by_key`);
  const columns = byKey?.args.map((arg) => entry.columns.find(({ name }) => graphqlName(name) === arg.name)?.name) ?? [];
  return columns.every((name) => name !== undefined) ? (columns as string[]) : [];
}

/** The relations of an entry, in both directions. */
export async function relationsOf(entry: Entry): Promise<Relation[]> {
  const document = `{ __type(name: ${JSON.stringify(graphqlName(entry.name))}) { fields { name description args { name } type { kind name ofType { kind name } } } } }`;
  const fields = await graphqlAnswer(document, TYPE_FIELDS);
  return (fields.__type?.fields ?? []).flatMap((field) => {
    const target = /^The rows? of `([^`]+)`/.exec(field.description ?? "")?.[1];
    return target ? [{ field: field.name, target, many: field.type?.kind === "LIST" }] : [];
  });
}

interface OpenApi {
  paths: Record<string, Record<string, unknown>>;
  components?: { schemas?: Record<string, { properties?: Record<string, RecordField>; required?: string[] }> };
}

// Of a schema only what a form needs: others may say more than one type, or refer to another schema.
const recordField = object<RecordField>({
  type: lenient(text),
  maxLength: lenient(number),
  enum: lenient(list(anything)),
  readOnly: lenient(flag),
  "x-references": lenient(text),
  "x-referenced": lenient(list(text)),
});

const OPEN_API = object<OpenApi>({
  paths: record(record(anything)),
  components: optional(
    object<NonNullable<OpenApi["components"]>>({
      schemas: optional(record(object<{ properties?: Record<string, RecordField>; required?: string[] }>({ properties: optional(record(recordField)), required: optional(list(text)) }))),
    }),
  ),
});

const openApi = once(() => fetchJson("api/openapi", OPEN_API).catch(orNothing(null)));

/** What the description of `/api/records` says of a table. */
export interface RecordTable {
  writes: Writes;
  /** The columns that a new row takes, which are not those that the database computes. */
  fields: Record<string, RecordField>;
  /** The columns that a change takes. */
  changeable: Record<string, RecordField>;
  required: string[];
}

/** Which changes a table takes, as far as its description tells, and what its columns are. */
export async function recordTable(table: string): Promise<RecordTable | null> {
  const api = await openApi();
  if (!api) return null;
  const list = api.paths[`/records/${table}`] ?? {};
  const one = api.paths[`/records/${table}/{id}`] ?? {};
  const known = api.components?.schemas ?? {};
  // The names of schemas are not those of tables: what they can't have in them is written otherwise.
  const created = known[bodyName(list.post) ?? ""];
  const changed = known[bodyName(one.put) ?? ""];
  const schema = created ?? changed ?? known[`read-${table}`];
  return {
    writes: { create: "post" in list, update: "put" in one, remove: "delete" in one },
    fields: schema?.properties ?? {},
    changeable: (changed ?? schema)?.properties ?? {},
    required: schema?.required ?? [],
  };
}

const OPERATION = object<{ requestBody: { $ref: string } }>({ requestBody: object<{ $ref: string }>({ $ref: text }) });

/** The name of what an operation takes, which its schema has, too. */
function bodyName(operation: unknown): string | undefined {
  return OPERATION(operation, "", [])?.requestBody.$ref.replace(/^.*\//s, "");
}

/** The tables whose rows may refer to rows of a table, by what is said of its columns (`comments.post_id`). */
export function referringTables(table: RecordTable, tables: Iterable<string>): string[] {
  const columns = Object.values(table.fields).flatMap((field) => field["x-referenced"] ?? []);
  const known = [...tables].sort((a, b) => b.length - a.length);
  // Both names may have points.
  return [...new Set(columns.map((column) => known.find((name) => column.startsWith(`${name}.`)) ?? column.replace(/\.[^.]*$/, "")))];
}
