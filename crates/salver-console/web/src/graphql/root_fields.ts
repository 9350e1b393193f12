import { type Shape, list, nullable, object, optional, text } from "../shape";

/** A type in an answer to introspection. */
interface TypeRef {
  kind: string;
  name: string | null;
  ofType: TypeRef | null;
  fields?: { name: string; type: TypeRef }[] | null;
}

/** A field that a document can begin with. */
export interface RootField {
  name: string;
  description: string | null;
  args: { name: string; type: TypeRef }[];
  type: TypeRef;
}

const typeRef: Shape<TypeRef> = (value, at, wrong) =>
  object<TypeRef>({
    kind: text,
    name: nullable(text),
    ofType: nullable(typeRef),
    fields: optional(list(object<{ name: string; type: TypeRef }>({ name: text, type: typeRef }))),
  })(value, at, wrong);

const rootField = object<RootField>({
  name: text,
  description: nullable(text),
  args: list(object<{ name: string; type: TypeRef }>({ name: text, type: typeRef })),
  type: typeRef,
});

/** The answer to `ROOT_FIELDS`. */
export const ROOTS = object<{ __schema: { queryType: { fields: RootField[] } } }>({ __schema: object({ queryType: object({ fields: list(rootField) }) }) });

/** Asks for the root fields with the fields of their types. */
export const ROOT_FIELDS = `{
  __schema {
    queryType {
      fields {
        name
        description
        args { name type { ...Named } }
        type { kind name fields { name type { ...Named } } ofType { kind name fields { name type { ...Named } } ofType { kind name fields { name type { ...Named } } ofType { kind name fields { name type { ...Named } } } } } }
      }
    }
  }
}
fragment Named on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

/** The type behind lists and non-nulls. */
export function namedType(type: TypeRef): TypeRef {
  return type.ofType ? namedType(type.ofType) : type;
}

/** A type as a document writes it: `[Int!]`. */
export function typeText(type: TypeRef): string {
  if (type.kind === "NON_NULL" && type.ofType) return `${typeText(type.ofType)}!`;
  if (type.kind === "LIST" && type.ofType) return `[${typeText(type.ofType)}]`;
  return type.name ?? "?";
}

/** The fields of a type that have no fields of their own. */
function leaves(field: RootField): string[] {
  const members = namedType(field.type).fields ?? [];
  return members.filter(({ type }) => ["SCALAR", "ENUM"].includes(namedType(type).kind)).map(({ name }) => name);
}

/** A document that asks for a root field. */
export function documentOf(field: RootField): string {
  const limit = field.args.some(({ name }) => name === "limit") ? "(limit: 20)" : "";
  const required = field.args.filter(({ type }) => type.kind === "NON_NULL");
  const args = required.length ? `(${required.map(({ name, type }) => `${name}: ${namedType(type).name?.startsWith("Int") ? "1" : '""'}`).join(", ")})` : limit;
  const members = leaves(field);
  const lines = members.length ? members.map((name) => `    ${name}`).join("\n") : "    __typename";
  return `{\n  ${field.name}${args} {\n${lines}\n  }\n}\n`;
}

/** A document to begin with, on the first entry. */
export function firstDocument(fields: RootField[]): string {
  const [first] = fields;
  return first ? documentOf(first) : "";
}
