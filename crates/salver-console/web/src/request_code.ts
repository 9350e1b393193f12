import { type ApiRequest, requestUrl } from "./api";

/** A language in which the panel shows a request. */
export interface CodeForm {
  id: string;
  label: string;
  code: (request: ApiRequest) => string | null;
}

const shell = (text: string) => `'${text.replace(/'/g, `'\\''`)}'`;
const literal = (text: string) => JSON.stringify(text);
const method = (request: ApiRequest) => request.method ?? "GET";
const headersOf = (request: ApiRequest) => Object.entries(request.headers ?? {});

function curl(request: ApiRequest): string {
  // Without -g, curl would take brackets in the URL for a pattern.
  const parts = [`curl -g ${shell(requestUrl(request))}`];
  if (method(request) !== "GET" && !(method(request) === "POST" && request.body !== undefined)) parts.push(`-X ${method(request)}`);
  for (const [name, value] of headersOf(request)) parts.push(`-H ${shell(`${name}: ${value}`)}`);
  if (request.body !== undefined) parts.push(`--data-binary ${shell(request.body)}`);
  return parts.join(" \\\n  ");
}

function python(request: ApiRequest): string {
  const args = [literal(requestUrl(request))];
  const headers = headersOf(request);
  if (headers.length) args.push(`headers={${headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`).join(", ")}}`);
  if (request.body !== undefined) args.push(`data=${literal(request.body)}.encode()`);
  const call = `requests.${method(request).toLowerCase()}(\n    ${args.join(",\n    ")},\n)`;
  return `import requests\n\nresponse = ${call}\nresponse.raise_for_status()\nprint(response.json())`;
}

function rString(text: string): string {
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r")}"`;
}

function r(request: ApiRequest): string {
  const steps = [`request(${rString(requestUrl(request))})`];
  if (method(request) !== "GET") steps.push(`req_method(${rString(method(request))})`);
  const headers = headersOf(request).filter(([name]) => name.toLowerCase() !== "content-type" || request.body === undefined);
  if (headers.length) steps.push(`req_headers(${headers.map(([name, value]) => `\`${name}\` = ${rString(value)}`).join(", ")})`);
  if (request.body !== undefined) {
    const type = headersOf(request).find(([name]) => name.toLowerCase() === "content-type")?.[1];
    steps.push(`req_body_raw(${rString(request.body)}${type ? `, type = ${rString(type)}` : ""})`);
  }
  steps.push("req_perform()", "resp_body_json(simplifyVector = TRUE)");
  return `library(httr2)\n\nrows <- ${steps.join(" |>\n  ")}`;
}

function javascript(request: ApiRequest): string {
  const options: string[] = [];
  if (method(request) !== "GET") options.push(`method: ${literal(method(request))}`);
  const headers = headersOf(request);
  if (headers.length) options.push(`headers: { ${headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`).join(", ")} }`);
  if (request.body !== undefined) options.push(`body: ${literal(request.body)}`);
  const argument = options.length ? `, {\n  ${options.join(",\n  ")},\n}` : "";
  return `const response = await fetch(${literal(requestUrl(request))}${argument});\nconst data = await response.json();`;
}

/** The forms, in the order of the panel. */
export const CODE_FORMS: CodeForm[] = [
  { id: "url", label: "URL", code: (request) => (method(request) === "GET" ? requestUrl(request) : `${method(request)} ${requestUrl(request)}`) },
  { id: "curl", label: "curl", code: curl },
  { id: "python", label: "Python", code: python },
  { id: "r", label: "R", code: r },
  { id: "js", label: "JavaScript", code: javascript },
  { id: "sql", label: "SQL", code: (request) => request.sql ?? null },
];
