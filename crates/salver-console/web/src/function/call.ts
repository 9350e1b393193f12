import { ApiError, apiPath, type ApiRequest, PAGE_BYTES, bodyOf, readAnswerAs, send } from "../api";
import { type Shape, nullable, number, object, optional, text } from "../shape";

/** The answer of a function, read as far as the page needs it. */
export interface Answer {
  status: number;
  /** The media type without its parameters. */
  mediaType: string;
  headers: [string, string][];
  /** For everything that is text. */
  text: string | null;
  blob: Blob;
  /** From the request to the end of the answer, in milliseconds. */
  ms: number;
  /** Whether reading stopped because the answer is large, or has no end. */
  cut: boolean;
}

/** An asynchronous call. */
export interface Job {
  id: string;
  function: string;
  state: "queued" | "running" | "done" | "failed";
  created: string | null;
  started: string | null;
  finished?: string | null;
  status?: number;
  result?: string;
  error?: { message?: string; hint?: string; error?: string };
}

const STATES: Shape<Job["state"]> = (value, at, wrong) => {
  const state = (["queued", "running", "done", "failed"] as const).find((known) => known === value);
  if (!state) wrong.push(`${at} is no state of a job`);
  return state;
};

export const JOB = object<Job>({
  id: text,
  function: text,
  state: STATES,
  created: nullable(text),
  started: nullable(text),
  finished: optional(text),
  status: optional(number),
  result: optional(text),
  error: optional(object<NonNullable<Job["error"]>>({ message: optional(text), hint: optional(text), error: optional(text) })),
});

/** Reads an answer, at most so much of it that the page can show it. */
export function readAnswer(response: Response, began: number, onText?: (text: string) => void): Promise<Answer> {
  return bodyOf(response, () => readUpToPage(response, began, onText));
}

async function readUpToPage(response: Response, began: number, onText?: (text: string) => void): Promise<Answer> {
  const mediaType = (response.headers.get("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let cut = false;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value as Uint8Array<ArrayBuffer>);
    bytes += value.length;
    if (isText(mediaType)) {
      text += decoder.decode(value, { stream: true });
      onText?.(text);
    }
    if (bytes > PAGE_BYTES && isText(mediaType)) {
      cut = true;
      await reader.cancel();
      break;
    }
  }
  return {
    status: response.status,
    mediaType,
    headers: [...response.headers],
    text: isText(mediaType) ? text : null,
    blob: new Blob(parts, { type: mediaType }),
    ms: performance.now() - began,
    cut,
  };
}

function isText(mediaType: string): boolean {
  return /^text\/|json|xml|javascript|yaml|csv/.test(mediaType) && mediaType !== "image/svg+xml";
}

/** Calls a function and waits for its answer. */
export async function call(request: ApiRequest, signal: AbortSignal, onText: (text: string) => void): Promise<Answer> {
  const began = performance.now();
  return readAnswer(await send(accepting(request), signal), began, onText);
}

/** A function may answer anything: a picture, a file, a text. */
function accepting(request: ApiRequest): ApiRequest {
  return { ...request, headers: { ...request.headers, Accept: "*/*" } };
}

/** Calls a function as a job. A pure function whose answer is kept may answer at once. */
export async function startJob(request: ApiRequest, signal: AbortSignal): Promise<Job | Answer> {
  const began = performance.now();
  const response = await send(accepting({ ...request, headers: { ...request.headers, Prefer: "respond-async" } }), signal);
  if (response.status !== 202) return readAnswer(response, began);
  return (await readAnswerAs(response, JOB)).value;
}

/** Whether a job is over. */
export function isOver(job: Job): boolean {
  return job.state === "done" || job.state === "failed";
}

/** The answer of a job that is over. */
export async function jobAnswer(job: Job, signal: AbortSignal): Promise<Answer> {
  const began = performance.now();
  try {
    return await readAnswer(await send(accepting({ path: apiPath("jobs", job.id, "result") }), signal), began);
  } catch (error) {
    // A job that failed has no answer but the error, which it tells itself.
    if (error instanceof ApiError && job.error?.message) throw new ApiError(error.status, job.error.error ?? error.word, job.error.message, job.error.hint ?? error.hint, error.body);
    throw error;
  }
}
