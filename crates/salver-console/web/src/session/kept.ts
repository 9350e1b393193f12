import { apiKey } from "../credentials";
import { session } from "./session";

/**
 * What a person's work leaves in the browser, such as statements, is kept for that user alone. Who came with a key has
 * no name that is known here: theirs is gone with the tab, as the key is.
 */
function whereKept(name: string): { storage: Storage; key: string } {
  if (apiKey.get() !== null) return { storage: sessionStorage, key: name };
  const { hasUsers, identity } = session.peek();
  return { storage: localStorage, key: hasUsers ? `${name} of ${identity ?? ""}` : name };
}

/** Reads what the user left; `null` where there is nothing. */
export function readKept(name: string): string | null {
  try {
    const { storage, key } = whereKept(name);
    return storage.getItem(key);
  } catch {
    // A browser may forbid storage.
    return null;
  }
}

/** Keeps something for the user. Without storage it lasts as long as the page. */
export function writeKept(name: string, text: string): void {
  try {
    const { storage, key } = whereKept(name);
    storage.setItem(key, text);
  } catch {
    // There may be no room, either.
  }
}
