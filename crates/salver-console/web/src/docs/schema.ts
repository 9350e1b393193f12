import { resolve, type Document, type Schema } from "./openapi";

/** How deep an example or a description of a schema goes, for schemas that contain themselves. */
const DEPTH_MAX = 6;

/** A short name of what a schema takes: `integer (int64)`, `string[]`, `"a" | "b"`. */
export function typeName(document: Document, given: Schema | undefined, depth = 0): string {
  if (!given) return "any";
  const schema = resolve<Schema>(document, given);
  if (depth > DEPTH_MAX) return "…";
  const inner = (value: Schema | undefined) => typeName(document, value, depth + 1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return [...new Set(alternatives.map(inner))].join(" | ");
  if (schema.allOf?.length === 1) return inner(schema.allOf[0]);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const names = types.map((type) => {
    if (type === "array") return schema.items ? `${wrap(inner(schema.items))}[]` : "array";
    return schema.format ? `${type} (${schema.format})` : type;
  });
  if (schema.nullable) names.push("null");
  if (names.length) return names.join(" | ");
  return schema.properties || schema.allOf ? "object" : "any";
}

function wrap(name: string): string {
  return name.includes(" ") ? `(${name})` : name;
}

/** What else a schema demands, in words. */
export function constraints(schema: Schema): string[] {
  const found: string[] = [];
  if (schema.minimum !== undefined) found.push(`at least ${schema.minimum}`);
  if (schema.maximum !== undefined) found.push(`at most ${schema.maximum}`);
  if (schema.minLength !== undefined) found.push(`at least ${schema.minLength} characters`);
  if (schema.maxLength !== undefined) found.push(`at most ${schema.maxLength} characters`);
  if (schema.default !== undefined) found.push(`default ${JSON.stringify(schema.default)}`);
  return found;
}

/** The members of an object schema, those of its `allOf` included. */
export function membersOf(document: Document, given: Schema): { name: string; schema: Schema; required: boolean }[] {
  const schema = resolve<Schema>(document, given);
  const own = Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: schema.required?.includes(name) ?? false,
  }));
  return [...(schema.allOf ?? []).flatMap((part) => membersOf(document, part)), ...own];
}

/** A value that fits a schema, to begin a request with. */
export function exampleOf(document: Document, given: Schema | undefined, depth = 0): unknown {
  if (!given || depth > DEPTH_MAX) return null;
  const schema = resolve<Schema>(document, given);
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const [alternative] = schema.oneOf ?? schema.anyOf ?? [];
  if (alternative) return exampleOf(document, alternative, depth + 1);
  const members = membersOf(document, schema);
  if (members.length) {
    return Object.fromEntries(members.map((member) => [member.name, exampleOf(document, member.schema, depth + 1)]));
  }
  switch ([schema.type].flat()[0]) {
    case "array":
      return schema.items ? [exampleOf(document, schema.items, depth + 1)] : [];
    case "object":
      return {};
    case "integer":
    case "number":
      return schema.minimum !== undefined && schema.minimum > 0 ? schema.minimum : 0;
    case "boolean":
      return true;
    case "string":
      return exampleText(schema.format);
    default:
      return null;
  }
}

function exampleText(format: string | undefined): string {
  if (format === "date") return "2026-01-31";
  if (format === "date-time") return "2026-01-31T12:00:00Z";
  if (format === "uuid") return "00000000-0000-4000-8000-000000000000";
  return "text";
}
