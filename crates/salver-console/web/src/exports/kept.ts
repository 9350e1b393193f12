import { readKept, writeKept } from "../session/kept";
import type { PartFormat } from "./download";

/** What is kept of an open export, so that it can be read, from its beginning, or closed after the page was left. */
export interface KeptExport {
  token: string;
  entry: string;
  format: PartFormat;
  /** When it was opened, in milliseconds since 1970. */
  at: number;
}

const KEY = "salver.exports";
const KEPT_MAX = 20;

/** The exports that the user opened in this browser and did not end, latest first. */
export function loadKept(): KeptExport[] {
  try {
    const stored: unknown = JSON.parse(readKept(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is KeptExport {
  return typeof value === "object" && value !== null && "token" in value && typeof value.token === "string" && "entry" in value;
}

/** Keeps an export in front of the others. */
export function keep(added: KeptExport): KeptExport[] {
  return store([added, ...loadKept().filter(({ token }) => token !== added.token)].slice(0, KEPT_MAX));
}

/** Forgets an export. */
export function forget(token: string): KeptExport[] {
  return store(loadKept().filter((kept) => kept.token !== token));
}

function store(all: KeptExport[]): KeptExport[] {
  writeKept(KEY, JSON.stringify(all));
  return all;
}
