import { readKept, writeKept } from "../session/kept";

/** A statement that was run, with how it went. */
export interface Run {
  sql: string;
  /** The name of the query that it is the text of. */
  query?: string;
  /** The typed values of its placeholders. */
  values: Record<string, string>;
  /** When, in milliseconds since 1970. */
  at: number;
  /** How long it took, in milliseconds. */
  ms: number;
  rows: number;
  error?: string;
}

const KEY = "salver.sql.history";
const RUNS_MAX = 200;
const TEXT_MAX = 20_000;

/** The runs of the user in this browser, latest first. */
export function loadHistory(): Run[] {
  try {
    const stored: unknown = JSON.parse(readKept(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRun) : [];
  } catch {
    // It may hold something else under the key.
    return [];
  }
}

function isRun(value: unknown): value is Run {
  return typeof value === "object" && value !== null && "sql" in value && typeof value.sql === "string" && "at" in value;
}

/** Adds a run; the same statement run before moves to the front. */
export function remember(run: Run): Run[] {
  const others = loadHistory().filter((other) => other.sql !== run.sql);
  return store(run.sql.length > TEXT_MAX ? others : [run, ...others].slice(0, RUNS_MAX));
}

/** Forgets every run. */
export function forgetHistory(): Run[] {
  return store([]);
}

function store(runs: Run[]): Run[] {
  writeKept(KEY, JSON.stringify(runs));
  return runs;
}
