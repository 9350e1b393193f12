import { computed, effect, signal } from "@preact/signals";
import { fetchJson } from "../api";
import { catalog } from "../catalog";
import type { Entry } from "../catalog";
import { caller, hasWays } from "../session/caller";
import { list, object, text } from "../shape";

const TABLES = list(object<{ table_name: string }>({ table_name: text }));

/**
 * The names that the caller may ask by SQL, `null` while that is not known: who may read an entry may not always do so.
 * SQL's own list of tables tells.
 */
const askableNames = signal<Set<string> | null>(null);

/** Whether it has been asked which names these are, with whatever answer. */
export const askableKnown = signal(false);

/** Whether an entry can be asked by SQL, as far as that is known. */
export function isAskable({ name, state }: Pick<Entry, "name" | "state">): boolean {
  // What is not loaded is in no list.
  return state !== "ready" || (askableNames.value?.has(name) ?? true);
}

/**
 * Whether the caller may use SQL, as far as that is known: who may ask no entry at all has no right to it, unless there
 * is none to ask. A query of an owner is run by its name all the same.
 */
export const mayUseSql = computed(() => {
  const names = askableNames.value;
  const isEmpty = (catalog.value?.entries.size ?? 0) === 0 && !hasWays.value && caller.value === null;
  return names === null || names.size > 0 || isEmpty;
});

/** The entries that can be asked by SQL. */
export function askableEntries(): Entry[] {
  return [...(catalog.value?.entries.values() ?? [])].filter(isAskable);
}

let isWatching = false;

/** Asks which names these are, again whenever other entries are ready. */
export function watchAskable(): void {
  if (isWatching) return;
  isWatching = true;
  let asked: string | null = null;
  effect(() => {
    const all = catalog.value;
    const ready = [...(all?.entries.values() ?? [])].flatMap(({ name, state }) => (state === "ready" ? [name] : [])).join("\u0000");
    if (!all || ready === asked) return;
    asked = ready;
    void readAskable(() => asked === ready);
  });
}

async function readAskable(isWanted: () => boolean): Promise<void> {
  const statement = "SELECT table_name FROM information_schema.tables WHERE table_schema <> 'information_schema'";
  const tables = await fetchJson({ path: "api/sql", query: [["q", statement]] }, TABLES).catch(() => null);
  if (!isWanted()) return;
  askableNames.value = tables && new Set(tables.map(({ table_name }) => table_name));
  askableKnown.value = true;
}
