import { apiPath, fetchJson } from "../api";

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

/** Asks for the state of a stream. */
export function fetchStream(name: string, signal: AbortSignal): Promise<StreamState> {
  return fetchJson<StreamState>(apiPath("streams", name), signal);
}
