import { computed, signal } from "@preact/signals";
import { apiKey, authorizationOf, headerText, nameOfKey } from "./credentials";
import { type Value, parseBegun, parseData } from "./data_json";
import type { Shape } from "./shape";

/** One request to the API. The same object is sent and shown in the panel "Request". */
export interface ApiRequest {
  /** `GET` without it. */
  method?: string;
  /** Relative to the base of the server: `api/tables/orders`. */
  path: string;
  /** Parameters in their order; a name may come twice. */
  query?: [string, string][];
  headers?: Record<string, string>;
  body?: string;
  /** A form with files, sent in place of a body. */
  form?: FormData;
  /** The statement that gives the same rows at `/api/sql`, where there is one. */
  sql?: string;
}

/** What the API answers when it refuses a request. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** The word for the error, as in the documentation. */
    readonly word: string,
    message: string,
    readonly hint: string | null,
    /** The whole answer, for details that only some errors have. */
    readonly body: unknown,
    /** The method and the address that were asked. */
    readonly asked: string | null = null,
    /** When the server takes the request again, where it says so. */
    readonly retryAfterS: number | null = null,
  ) {
    super(message);
  }
}

/** The text of a query string, with the characters of the API's grammar left readable. */
export function queryText(query: [string, string][]): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/'/g, "%27").replace(/%(5B|5D|2C|3A|24|20)/g, (code) => (code === "%20" ? "+" : decodeURIComponent(code)));
  return query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

/** The whole URL of a request. */
export function requestUrl(request: ApiRequest): string {
  const url = new URL(request.path, document.baseURI).href;
  return request.query?.length ? `${url}?${queryText(request.query)}` : url;
}

/** A path below the base, from parts that are encoded here: `apiPath("tables", name)` is `api/tables/NAME`. */
export function apiPath(...parts: string[]): string {
  return ["api", ...parts.map(encodeURIComponent)].join("/");
}

/** The headers of every request of the console, of which the panel "Request" shows none. */
export function ownHeaders(headers?: HeadersInit): Headers {
  const own = new Headers(headers);
  if (!own.has("Accept")) own.set("Accept", "application/json");
  // Without it a server that takes names and passwords has the browser ask for them, which holds the request meanwhile.
  own.set("X-Requested-With", "XMLHttpRequest");
  return own;
}

/** Whether a request was ended because nobody wants its answer any more. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Whether an error says that the caller may not have something, or that it is not there. */
export function isAbsent(error: unknown): boolean {
  return error instanceof ApiError && [401, 403, 404].includes(error.status);
}

/** Called with the path when an answer says that the caller is not who may have it; the session sets it. */
export const onUnauthorized: { handler: ((path: string) => void) | null } = { handler: null };

/** The word of `/api/records` for a credential that it refuses. */
const REFUSED_BY_RECORDS = "1012";

/** The key of this tab that the server has known since the page was opened. */
let knownKey: string | null = null;
/** The one request that tells whether the server knows a key, and why the others can't be sent. */
let trial: { key: string; fault: Promise<unknown> } | null = null;
/** A key that the server did not look at, since there were too many attempts, and until when it is not sent again. */
const halted = signal<{ key: string; until: number; error: ApiError } | null>(null);

/** Whether it is not known if the key of this tab is still right, and can't be asked for now. */
export const isKeyHalted = computed(() => halted.value !== null && halted.value.key === apiKey.get());

/** Takes over that the server knows a key, which was just proved. */
export function noteKnownKey(key: string): void {
  knownKey = key;
}

/**
 * Sends a request. Rejects with `ApiError` unless the status is one of success, or 304. A key that was kept may be wrong
 * by now, and the server counts attempts: the index is asked first and alone, and tells whether the others are sent.
 */
export async function send(request: ApiRequest, signal?: AbortSignal): Promise<Response> {
  const key = apiKey.get();
  if (key === null || key === knownKey || hasProof(request)) return sendAs(key, request, { signal });
  const isIndex = request.path === "" && !request.query;
  if (trial?.key !== key) {
    const answer = tryKey(key, isIndex ? request : { path: "" });
    if (isIndex) return answer;
    // A body that nobody reads would hold its connection.
    answer.then(textOf).catch(() => undefined);
  }
  const fault = await trial?.fault;
  if (fault) throw fault;
  return sendAs(key, request, { signal });
}

/** Whether a request proves something else than the tab does, as a log-in does. */
function hasProof({ headers }: ApiRequest): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization");
}

/** Sends the request that tells whether the server knows a key. */
function tryKey(key: string, request: ApiRequest): Promise<Response> {
  const answer = untilHalted(key) ?? sendAs(key, request);
  const told = answer.catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 429 && error.word !== KEY_NOT_TRIED ? halt(key, error) : error;
  });
  const fault = told.then(
    () => null,
    // Who is known, and may not see the index, may see something else.
    (error: unknown) => (error instanceof ApiError && error.word !== REFUSED_BY_RECORDS && [403, 404].includes(error.status) ? null : error),
  );
  const own = { key, fault };
  trial = own;
  void fault.then((found) => {
    if (found === null) knownKey = key;
    if (trial === own) trial = null;
  });
  return told;
}

/** The word of what a page says of a key that the server did not look at. */
const KEY_NOT_TRIED = "key_not_tried";
/** How long a key is not sent where the server does not say, in seconds. */
const HALTED_S = 60;

function untilHalted(key: string): Promise<Response> | null {
  const wait = halted.peek();
  if (wait?.key === key && Date.now() < wait.until) return Promise.reject(wait.error);
  halted.value = null;
  return null;
}

function halt(key: string, { status, message, hint, body, asked, retryAfterS }: ApiError): ApiError {
  const told = [message, hint].filter(Boolean).join(": ");
  const what = nameOfKey(key) === null ? "the key" : "the name and the password";
  const error = new ApiError(status, KEY_NOT_TRIED, `It is not known whether ${what} of this tab can still be used: the server takes no attempts from here now.`, `It says: ${told}. Nothing is sent until then. Log in another way, or log out.`, body, asked);
  halted.value = { key, until: Date.now() + (retryAfterS ?? HALTED_S) * 1000, error };
  return error;
}

/** How a request is sent. */
interface How {
  redirect?: RequestRedirect;
  signal?: AbortSignal | undefined;
  /** Set for what says nothing of the tab's own key or session, as a log-in. */
  isApart?: boolean;
}

/** Sends a request at once, with this key or without one. */
export async function sendAs(key: string | null, request: ApiRequest, { isApart, ...init }: How = {}): Promise<Response> {
  const method = request.method ?? "GET";
  const asked = `${method} ${requestUrl(request)}`;
  const headers = ownHeaders(sendable(request.headers ?? {}, asked));
  const isOwn = isApart || hasProof(request);
  if (key !== null && !isOwn) headers.set("Authorization", authorizationOf(key));
  const xsrf = headerText(decoded(document.cookie.match(/(?:^|; )XSRF-TOKEN=([^;]*)/)?.[1] ?? ""));
  if (xsrf && method !== "GET") headers.set("X-XSRF-TOKEN", xsrf);
  let response: Response;
  try {
    response = await fetch(requestUrl(request), { ...init, method, headers, body: request.form ?? request.body });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError(0, "unreachable", "The server can't be reached.", "Is it still running, and the network there? Then try again.", null, asked);
  }
  if (response.ok || response.status === 304 || response.type === "opaqueredirect") return response;
  const error = await errorOf(response, asked);
  if (!isOwn && (error.status === 401 || (key !== null && error.word === REFUSED_BY_RECORDS))) onUnauthorized.handler?.(request.path);
  throw error;
}

/** Headers in the form that a browser takes. What people typed may be more than a header carries. */
function sendable(headers: Record<string, string>, asked: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const text = headerText(value);
      if (text === null) throw new ApiError(0, "unsendable_header", `The header ${name} can't have line ends or other control characters.`, "Give it on one line.", null, asked);
      return [name, text];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function errorOf(response: Response, asked: string): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Not every server in between answers with JSON.
  }
  const members = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const field = (...names: string[]) => names.map((name) => members[name]).find((value) => (typeof value === "string" && value !== "") || typeof value === "number");
  const plain = /json|html/.test(response.headers.get("content-type") ?? "") ? "" : text.trim().slice(0, 500);
  const message = field("detail", "message", "title") ?? (plain || `The server answered with the status ${response.status} and no reason.`);
  // `/api/records` answers as PHP-CRUD-API does, and tells what is wrong in a header.
  const hint = field("hint") ?? response.headers.get("x-exception-message") ?? (response.status >= 500 ? "Try again; the log of the server may say more." : null);
  return new ApiError(response.status, String(field("error", "code") ?? "error"), String(message), hint === null ? null : String(hint), body, asked, Number(response.headers.get("retry-after")) || null);
}

/** What an answer is where it can't be what it should be. */
export function unexpected(response: Response, why: string): ApiError {
  const { pathname } = new URL(response.url || document.baseURI);
  const hint = `${why}. Try again; if it stays so, something between this page and the server changes its answers, or they have different versions.`;
  return new ApiError(0, "unexpected_answer", `The server's answer at ${pathname} is not what the console expects.`, hint, null, `${response.url} answered ${response.status}`);
}

/** Reads the body of an answer, which may end before it is whole. */
export async function bodyOf<T>(response: Response, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isAborted(error) || error instanceof ApiError) throw error;
    throw new ApiError(0, "broken_off", "The answer ended before it was whole.", "The connection was lost, or the server ended. Try again.", null, response.url);
  }
}

/** The whole text of an answer. */
export function textOf(response: Response): Promise<string> {
  return bodyOf(response, () => response.text());
}

/** A part of what an answer should be, and what is wrong with it. */
export interface Checked<T> {
  value: T;
  fault: ApiError | null;
}

/** Reads an answer as far as it has the shape that the console expects; where nothing of it has, it is an error. */
export async function readAnswerAs<T>(response: Response, shape: Shape<T>): Promise<Checked<T>> {
  const text = await textOf(response);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw unexpected(response, "It is no JSON");
  }
  const wrong: string[] = [];
  const value = shape(json, "It", wrong);
  const fault = wrong.length || value === undefined ? unexpected(response, wrong[0] ?? "It is empty") : null;
  if (value === undefined) throw fault;
  return { value, fault };
}

/** An answer about the server itself, whose numbers are small. Data is read with `fetchRows`, `fetchPage` or `fetchData`. */
export async function fetchJson<T>(request: ApiRequest | string, shape: Shape<T>, signal?: AbortSignal): Promise<T> {
  const { value, fault } = await fetchChecked(request, shape, signal);
  if (fault) throw fault;
  return value;
}

/** The same, with what is wrong with the parts that are left out. */
export async function fetchChecked<T>(request: ApiRequest | string, shape: Shape<T>, signal?: AbortSignal): Promise<Checked<T>> {
  return readAnswerAs(await send(typeof request === "string" ? { path: request } : request, signal), shape);
}

/** Rows with the names of their columns, in their order. */
export interface Rows {
  columns: string[];
  rows: Value[][];
  headers: Headers;
}

/** How many bytes of data a screen reads; what is read at once is less than what is left of 1 MB. */
export const PAGE_BYTES = 900_000;

/** Rows of a request whose answer is an array of objects. Without rows there are no columns. */
export async function fetchRows(request: ApiRequest, signal?: AbortSignal): Promise<Rows> {
  const page = await fetchPage(request, signal);
  if (page.cut) throw tooLarge();
  return page;
}

/** Data of any shape, read without losing digits. */
export async function fetchData(request: ApiRequest, signal?: AbortSignal): Promise<Value> {
  const response = await send(request, signal);
  const { text, cut } = await textUpTo(response, PAGE_BYTES);
  if (cut) throw tooLarge();
  return dataOf(response, text);
}

/** The data of an answer. */
export function dataOf(response: Response, text: string): Value {
  try {
    return parseData(text);
  } catch {
    throw unexpected(response, "It is no JSON");
  }
}

function tooLarge(): ApiError {
  return new ApiError(0, "too_large", "This is more than 1 MB.", "Its values are long. Choose fewer columns or rows, or download them.", null);
}

/** Rows as far as they fit into a page. */
export type Page = Rows & { cut: boolean };

/** How long a page that was asked for early is kept for the screen that needs it, in milliseconds. */
const EARLY_KEPT = 5000;
const early = new Map<string, { page: Promise<Page>; controller: AbortController }>();

const earlyKey = ({ method, path, query, headers, body }: ApiRequest) => JSON.stringify([method, path, query, headers, body]);

/**
 * Reads a page before the screen is drawn that will need it: the first `fetchPage` of the same request gets it. Resolves
 * when it is there, or there will be none.
 */
export function fetchEarly(request: ApiRequest): Promise<unknown> {
  const key = earlyKey(request);
  const controller = new AbortController();
  const page = readPage(request, controller.signal);
  early.set(key, { page, controller });
  setTimeout(() => early.delete(key) && controller.abort(), EARLY_KEPT);
  // Should it fail, it fails where it can be told, or nobody needed it.
  return page.catch(() => undefined);
}

/** The rows that fit into a page; `cut` where there are more, of which the server then makes no more. */
export async function fetchPage(request: ApiRequest, signal?: AbortSignal): Promise<Page> {
  const key = earlyKey(request);
  const asked = early.get(key);
  if (!asked) return readPage(request, signal);
  early.delete(key);
  signal?.addEventListener("abort", () => asked.controller.abort());
  return asked.page;
}

async function readPage(request: ApiRequest, signal?: AbortSignal): Promise<Page> {
  const response = await send(request, signal);
  const { text, cut } = await textUpTo(response, PAGE_BYTES);
  const data = cut ? parseBegun(text) : dataOf(response, text);
  if (!Array.isArray(data) || !data.every((row) => row instanceof Map)) throw unexpected(response, "It is no list of rows");
  return { ...rowsOf(data), headers: response.headers, cut };
}

/** The events that fit into a page, of an answer that begins with them. */
export async function fetchEvents(request: ApiRequest, signal?: AbortSignal): Promise<{ events: Value[]; cut: boolean }> {
  const response = await send(request, signal);
  const { text, cut } = await textUpTo(response, PAGE_BYTES);
  if (!cut && !isEvents(dataOf(response, text))) throw unexpected(response, "It has no list of events");
  return { events: parseBegun(text), cut };
}

/** Whether an answer begins with a list of objects, or is one. */
function isEvents(data: Value): boolean {
  const [first] = data instanceof Map ? data.values() : [data];
  return Array.isArray(first) && first.every((event) => event instanceof Map);
}

function textUpTo(response: Response, bytes: number): Promise<{ text: string; cut: boolean }> {
  return bodyOf(response, () => readUpTo(response, bytes));
}

async function readUpTo(response: Response, bytes: number): Promise<{ text: string; cut: boolean }> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let read = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    if (read > bytes) {
      await reader.cancel();
      return { text, cut: true };
    }
    read += value.length;
    text += decoder.decode(value, { stream: true });
  }
  return { text: text + decoder.decode(), cut: false };
}

/** The number of all rows that fit a request with `count=true`. */
export async function fetchCount(request: ApiRequest, signal?: AbortSignal): Promise<number> {
  const response = await send(request, signal);
  // A body that nobody reads would hold its connection.
  await textOf(response);
  const count = response.headers.get("x-total-count") ?? "";
  if (!/^\d+$/.test(count)) throw unexpected(response, count ? `Its header X-Total-Count is ${count}` : "It has no header X-Total-Count");
  return Number(count);
}

/** The rows of an array of objects; a member that only some have is a column, null in the others. */
export function rowsOf(data: Value): { columns: string[]; rows: Value[][] } {
  const objects = Array.isArray(data) ? data : [data];
  const position = new Map<string, number>();
  for (const object of objects) {
    const names = object instanceof Map ? object.keys() : ["value"];
    for (const name of names) if (!position.has(name)) position.set(name, position.size);
  }
  const columns = [...position.keys()];
  const rows = objects.map((object) =>
    object instanceof Map ? columns.map((name) => object.get(name) ?? null) : columns.map((name) => (name === "value" ? object : null)),
  );
  return { columns, rows };
}
