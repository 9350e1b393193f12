import { type Shape, anything, list, object, optional, record, text } from "../shape";

/** The part of JSON Schema that the reference shows. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  nullable?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
  style?: string;
  explode?: boolean;
}

/** What a body is, by its media type. */
export type Content = Record<string, { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> }>;

export interface RequestBody {
  description?: string;
  required?: boolean;
  content?: Content;
}

export interface ResponseObject {
  description?: string;
  content?: Content;
}

interface Reference {
  $ref: string;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  parameters?: (Parameter | Reference)[];
  requestBody?: RequestBody | Reference;
  responses?: Record<string, ResponseObject | Reference>;
}

export const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;
export type Method = (typeof METHODS)[number];

/** An OpenAPI document, 3.0 or 3.1. */
export interface Document {
  openapi: string;
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  paths: Record<string, Partial<Record<Method, Operation>> & { parameters?: (Parameter | Reference)[] }>;
  components?: unknown;
}

/** The frame of a document; what a reference or a schema says is read with care where it is shown. */
export const DOCUMENT: Shape<Document> = object<Document>({
  openapi: text,
  info: object<Document["info"]>({ title: text, version: text, description: optional(text) }),
  servers: optional(list(object({ url: text }))),
  tags: optional(list(object<{ name: string; description?: string }>({ name: text, description: optional(text) }))),
  paths: record(record(anything)) as Shape<Document["paths"]>,
  components: optional(anything),
});

/** Follows a reference within the document; anything else is returned as it is. */
export function resolve<T extends object>(document: Document, value: T | Reference): T {
  let current: unknown = value;
  // A reference may lead to another one; a circle of them ends here.
  for (let steps = 0; steps < 10 && isReference(current); steps++) current = lookUp(document, current.$ref);
  return current as T;
}

function isReference(value: unknown): value is Reference {
  return typeof value === "object" && value !== null && "$ref" in value && typeof value.$ref === "string";
}

function lookUp(document: Document, pointer: string): unknown {
  let found: unknown = document;
  for (const part of pointer.replace(/^#\//, "").split("/")) {
    const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
    found = typeof found === "object" && found !== null ? (found as Record<string, unknown>)[key] : undefined;
  }
  return found ?? {};
}

/** An operation with everything that it refers to, ready to be shown. */
export interface Endpoint {
  /** Names the operation in the address of the page. */
  id: string;
  method: Method;
  /** The path below the server's base, without a slash in front. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  deprecated: boolean;
  parameters: Parameter[];
  body?: RequestBody;
  responses: { status: string; response: ResponseObject }[];
}

/** Every operation of a document, in its order. */
export function endpointsOf(document: Document): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [endpointOf(document, path, method, operation, item.parameters ?? [])] : [];
    }),
  );
}

function endpointOf(
  document: Document,
  path: string,
  method: Method,
  operation: Operation,
  shared: (Parameter | Reference)[],
): Endpoint {
  const parameters = new Map<string, Parameter>();
  for (const given of [...shared, ...(operation.parameters ?? [])]) {
    const parameter = resolve<Parameter>(document, given);
    parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  const prefix = pathOf(document.servers?.[0]?.url ?? "");
  const description = operation.description?.trim();
  const [first = ""] = (description ?? "").split("\n");
  return {
    id: operation.operationId ?? `${method} ${path}`,
    method,
    path: `${prefix}${path}`.replace(/\/{2,}/g, "/").replace(/^\//, ""),
    tag: operation.tags?.[0] ?? "other",
    summary: operation.summary ?? first,
    ...(description && operation.summary !== undefined && description !== operation.summary ? { description } : {}),
    deprecated: operation.deprecated ?? false,
    parameters: [...parameters.values()],
    ...(operation.requestBody ? { body: resolve<RequestBody>(document, operation.requestBody) } : {}),
    responses: Object.entries(operation.responses ?? {}).map(([status, response]) => ({
      status,
      response: resolve<ResponseObject>(document, response),
    })),
  };
}

/** The path of a server's URL, relative to the base of this page, which has the server's own base path already. */
function pathOf(url: string): string {
  const path = url.startsWith("/") ? url : new URL(url || "/", document.baseURI).pathname;
  const base = new URL(document.baseURI).pathname;
  return `/${path}/`.replace(/\/{2,}/g, "/").startsWith(base) ? path.slice(base.length - 1) : path;
}
