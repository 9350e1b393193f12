import { type ApiRequest, requestUrl } from "./api";
import { apiKey, nameOfKey } from "./credentials";

/** A language in which the panel shows a request. */
export interface CodeForm {
  id: string;
  label: string;
  code: (request: ApiRequest, proof: Proof) => string | null;
}

/** By what the caller is known: the code has a place for it, and never the secret itself. `null` for nothing that it can have. */
export type Proof = { name: string } | "key" | null;

/** By what this tab is known. The session of a user is one of the browser, which other programs have not. */
export function proofOfTab(): Proof {
  const key = apiKey.get();
  if (key === null) return null;
  const name = nameOfKey(key);
  return name === null ? "key" : { name };
}

const PASSWORD = "PASSWORD";
const BEARER = "Bearer YOUR_KEY";

const shell = (text: string) => `'${text.replace(/'/g, `'\\''`)}'`;
const literal = (text: string) => JSON.stringify(text);
const method = (request: ApiRequest) => request.method ?? "GET";
const isPlain = (text: string) => /^[\x20-\x7e]*$/.test(text);

/** The headers of a request, with the place of a key. */
function headersOf(request: ApiRequest, proof: Proof): [string, string][] {
  const own = Object.entries(request.headers ?? {});
  return proof === "key" && !isProved(request) ? [["Authorization", BEARER], ...own] : own;
}

/** The name beside which a password stands; `null` where the request has none. */
function nameOf(request: ApiRequest, proof: Proof): string | null {
  return proof === null || proof === "key" || isProved(request) ? null : proof.name;
}

const isProved = ({ headers }: ApiRequest) => Object.keys(headers ?? {}).some((name) => /^(x-)?authorization$|^x-api-key$/i.test(name));

function curl(request: ApiRequest, proof: Proof): string {
  // Without -g, curl would take brackets in the URL for a pattern.
  const parts = [`curl -g ${shell(requestUrl(request))}`];
  if (method(request) !== "GET" && !(method(request) === "POST" && request.body !== undefined)) parts.push(`-X ${method(request)}`);
  const name = nameOf(request, proof);
  if (name !== null) parts.push(`-u ${shell(`${name}:${PASSWORD}`)}`);
  for (const [header, value] of headersOf(request, proof)) parts.push(`-H ${shell(`${header}: ${value}`)}`);
  if (request.body !== undefined) parts.push(`--data-binary ${shell(request.body)}`);
  return parts.join(" \\\n  ");
}

function python(request: ApiRequest, proof: Proof): string {
  // Of a text beyond Latin, the library takes the bytes. The password that is put in may be one.
  const text = (value: string) => (isPlain(value) ? literal(value) : `${literal(value)}.encode()`);
  const args = [literal(requestUrl(request))];
  const name = nameOf(request, proof);
  if (name !== null) args.push(`auth=(${text(name)}, ${literal(PASSWORD)}.encode())`);
  const headers = headersOf(request, proof);
  if (headers.length) args.push(`headers={${headers.map(([header, value]) => `${literal(header)}: ${text(value)}`).join(", ")}}`);
  if (request.body !== undefined) args.push(`data=${literal(request.body)}.encode()`);
  const call = `requests.${method(request).toLowerCase()}(\n    ${args.join(",\n    ")},\n)`;
  return `import requests\n\nresponse = ${call}\nresponse.raise_for_status()\nprint(response.json())`;
}

function rString(text: string): string {
  return `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r")}"`;
}

function r(request: ApiRequest, proof: Proof): string {
  const steps = [`request(${rString(requestUrl(request))})`];
  if (method(request) !== "GET") steps.push(`req_method(${rString(method(request))})`);
  const name = nameOf(request, proof);
  if (name !== null) steps.push(`req_auth_basic(${rString(name)}, ${rString(PASSWORD)})`);
  const all = headersOf(request, proof);
  const headers = all.filter(([header]) => header.toLowerCase() !== "content-type" || request.body === undefined);
  if (headers.length) steps.push(`req_headers(${headers.map(([header, value]) => `\`${header}\` = ${rString(value)}`).join(", ")})`);
  if (request.body !== undefined) {
    const type = all.find(([header]) => header.toLowerCase() === "content-type")?.[1];
    steps.push(`req_body_raw(${rString(request.body)}${type ? `, type = ${rString(type)}` : ""})`);
  }
  steps.push("req_perform()", "resp_body_json(simplifyVector = TRUE)");
  return `library(httr2)\n\nrows <- ${steps.join(" |>\n  ")}\nprint(rows)`;
}

/** An expression of a header's value: of other texts than ASCII, the bytes in UTF-8 as characters. */
function headerLiteral(value: string): string {
  return isPlain(value) ? literal(value) : binaryLiteral(value);
}

const binaryLiteral = (text: string) => `String.fromCharCode(...new TextEncoder().encode(${literal(text)}))`;

function javascript(request: ApiRequest, proof: Proof): string {
  const options: string[] = [];
  if (method(request) !== "GET") options.push(`method: ${literal(method(request))}`);
  const headers = headersOf(request, proof).map(([header, value]) => `${literal(header)}: ${headerLiteral(value)}`);
  const name = nameOf(request, proof);
  if (name !== null) headers.unshift(`"Authorization": "Basic " + btoa(${binaryLiteral(`${name}:${PASSWORD}`)})`);
  if (headers.length) options.push(`headers: { ${headers.join(", ")} }`);
  if (request.body !== undefined) options.push(`body: ${literal(request.body)}`);
  const argument = options.length ? `, {\n  ${options.join(",\n  ")},\n}` : "";
  return `const response = await fetch(${literal(requestUrl(request))}${argument});\nconst data = await response.json();\nconsole.log(data);`;
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
