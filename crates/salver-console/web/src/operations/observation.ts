import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, fetchJson, send, textOf, unexpected } from "../api";
import { type Shape, flag, list, number, object, optional, record, text } from "../shape";
import { bucketsBetween, growth, Measurement, quantile } from "./exposition";

/** The state of an entry or a file of functions, as `/ready` tells it. */
export interface EntryState {
  state: "loading" | "ready" | "stale" | "failed";
  kind?: string;
  rows?: number | null;
  version?: string;
  memory_bytes?: number;
  source?: string;
  message?: string;
  hint?: string;
  failed_at_unix_s?: number;
  files?: number;
  percent?: number;
}

/** How much of a shared resource is taken, and by whom. */
export interface Held {
  kind: string;
  total: number;
  taken: number;
  holders: { holder: string; taken: number }[];
}

/** What `/ready` answers. */
export interface Readiness {
  ready: boolean;
  entries: Record<string, EntryState>;
  functions?: Record<string, EntryState>;
  held?: Held[];
}

const entryState = object<EntryState>({
  state: text as Shape<EntryState["state"]>,
  kind: optional(text),
  rows: optional(number),
  version: optional(text),
  memory_bytes: optional(number),
  source: optional(text),
  message: optional(text),
  hint: optional(text),
  failed_at_unix_s: optional(number),
  files: optional(number),
  percent: optional(number),
});

const held = object<Held>({
  kind: text,
  total: number,
  taken: number,
  holders: list(object<Held["holders"][number]>({ holder: text, taken: number })),
});

const READINESS = object<Readiness>({ ready: flag, entries: record(entryState), functions: optional(record(entryState)), held: optional(list(held)) });

/** What is drawn over time. */
export interface Point {
  requests: number | undefined;
  errors: number | undefined;
  p50: number | undefined;
  p99: number | undefined;
  cpu: number | undefined;
  memory: number | undefined;
}

/** Everything that the screen shows of the server. */
export interface Observation {
  readiness: Readiness | null;
  readinessError: unknown;
  metrics: Measurement | null;
  /** The measurement of about a minute ago, for rates. */
  earlier: Measurement | null;
  metricsError: unknown;
  points: Point[];
}

/** How often the server is asked, in milliseconds. */
export const PERIOD_MS = 2000;
const SECOND_MS = 600;
/** How many points are drawn. */
export const POINTS = 90;
const MINUTE = 60_000 / PERIOD_MS;
const DURATION = "salver_http_request_duration_seconds";

/** `/ready` is 503 while anything is loaded, with the same body. */
async function readiness(signal: AbortSignal): Promise<Readiness> {
  try {
    return await fetchJson("ready", READINESS, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) {
      const state = READINESS(error.body, "It", []);
      if (state) return state;
    }
    throw error;
  }
}

async function measurements(signal: AbortSignal): Promise<string> {
  const response = await send({ path: "metrics", headers: { Accept: "text/plain" } }, signal);
  const told = await textOf(response);
  if (!/^salver_/m.test(told)) throw unexpected(response, "It has no measurements of a server");
  return told;
}

function pointOf(before: Measurement | undefined, now: Measurement): Point {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const perSecond = (name: string) => (before ? growth(before.sum(name), now.sum(name)) / seconds : undefined);
  const failed = (measured: Measurement | undefined) =>
    measured?.samples("salver_http_requests_total").reduce((sum, { labels, value }) => sum + (labels["status"]?.startsWith("5") ? value : 0), 0);
  const buckets = before ? bucketsBetween(before, now, DURATION) : { bounds: [], counts: [] };
  return {
    requests: perSecond("salver_http_requests_total"),
    errors: before ? growth(failed(before), failed(now)) / seconds : undefined,
    p50: quantile(0.5, buckets),
    p99: quantile(0.99, buckets),
    cpu: perSecond("process_cpu_seconds_total"),
    memory: now.sum("process_resident_memory_bytes"),
  };
}

const NOTHING: Observation = { readiness: null, readinessError: null, metrics: null, earlier: null, metricsError: null, points: [] };

/** Observes the server while the page is visible, unless `paused`. */
export function useObservation(paused: boolean): Observation {
  const [observation, setObservation] = useState<Observation>(NOTHING);
  const recent = useRef<Measurement[]>([]);

  useEffect(() => {
    if (paused) return;
    const controller = new AbortController();
    const { signal } = controller;
    const look = async () => {
      if (document.hidden) return;
      const [state, text] = await Promise.allSettled([
        readiness(signal),
        measurements(signal),
      ]);
      if (signal.aborted) return;
      setObservation((before) => merge(before, recent.current, state, text));
    };
    void look();
    // Rates need two measurements: the second one comes soon.
    const second = setTimeout(() => void look(), SECOND_MS);
    const timer = setInterval(() => void look(), PERIOD_MS);
    return () => {
      clearTimeout(second);
      clearInterval(timer);
      controller.abort();
    };
  }, [paused]);
  return observation;
}

function merge(
  before: Observation,
  recent: Measurement[],
  state: PromiseSettledResult<Readiness>,
  text: PromiseSettledResult<string>,
): Observation {
  const next = { ...before };
  if (state.status === "fulfilled") Object.assign(next, { readiness: state.value, readinessError: null });
  else next.readinessError = state.reason as unknown;
  if (text.status === "rejected") return { ...next, metricsError: text.reason as unknown };
  const now = new Measurement(text.value, Date.now());
  const points = [...before.points, pointOf(recent.at(-1), now)].slice(-POINTS);
  recent.push(now);
  if (recent.length > MINUTE + 1) recent.shift();
  return { ...next, metrics: now, earlier: recent.length > 1 ? (recent[0] ?? null) : null, metricsError: null, points };
}
