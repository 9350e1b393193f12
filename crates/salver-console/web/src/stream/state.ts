import { apiPath, fetchJson } from "../api";
import { anything, flag, list, nullable, number, object, text } from "../shape";

/** A consumer group and how far it is behind. */
export interface Group {
  group: string;
  offset: number;
  lag: number;
}

/** A stream, as the API describes it. */
export interface StreamState {
  name: string;
  first: number;
  next: number;
  events: number;
  backlog: number;
  kafka: unknown;
  ack: string;
  key: string | null;
  id: string | null;
  time: string | null;
  has_schema: boolean;
  route: string | null;
  /** The entries that have its events, and those of its quarantine. */
  tables: string[];
  groups: Group[];
}

const STREAM = object<StreamState>({
  name: text,
  first: number,
  next: number,
  events: number,
  backlog: number,
  kafka: nullable(anything),
  ack: text,
  key: nullable(text),
  id: nullable(text),
  time: nullable(text),
  has_schema: flag,
  route: nullable(text),
  tables: list(text),
  groups: list(object<Group>({ group: text, offset: number, lag: number })),
});

/** Asks for the state of a stream. */
export function fetchStream(name: string, signal: AbortSignal): Promise<StreamState> {
  return fetchJson(apiPath("streams", name), STREAM, signal);
}
