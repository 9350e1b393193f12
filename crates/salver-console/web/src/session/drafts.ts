import { apiKey } from "../credentials";
import { session } from "./session";

/**
 * What was typed on a page and not sent yet, such as a statement that was not run. It belongs to the step in the history
 * of the tab on which it was typed: a reload and the ways back and forward find it there, and a link to the same address
 * does not. It is kept for the user alone, and gone with the tab.
 */
const KEY = "salver.typed";
/** How many are kept; the oldest go first. */
const DRAFTS_MAX = 30;

type Drafts = [id: string, text: string][];

function where(): string {
  const { hasUsers, identity } = session.peek();
  return apiKey.get() === null && hasUsers ? `${KEY} of ${identity ?? ""}` : KEY;
}

function load(): Drafts {
  const stored: unknown = JSON.parse(sessionStorage.getItem(where()) ?? "[]");
  return Array.isArray(stored) ? (stored as Drafts) : [];
}

function idOfStep(): string | null {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "typed" in state && typeof state.typed === "string" ? state.typed : null;
}

/** What was typed on this step; `null` where that is nothing. */
export function readTyped(): string | null {
  const id = idOfStep();
  try {
    return (id !== null && load().find(([known]) => known === id)?.[1]) || null;
  } catch {
    // A browser may forbid storage, or it holds something else.
    return null;
  }
}

/** Keeps what was typed on this step; `null` forgets it. */
export function keepTyped(text: string | null): void {
  let id = idOfStep();
  if (id === null && text === null) return;
  if (id === null) {
    id = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
    history.replaceState({ typed: id }, "");
  }
  try {
    const others = load().filter(([known]) => known !== id);
    if (text !== null) others.push([id, text]);
    sessionStorage.setItem(where(), JSON.stringify(others.slice(-DRAFTS_MAX)));
  } catch {
    // There may be no room, either. It lasts as long as the page, then.
  }
}
