import { computed, signal } from "@preact/signals";

const KEY = "salver.api_key";
const BASIC = "Basic ";
/** What a header carries unchanged, and servers read: the printable characters of ASCII. */
const SENDABLE = /^[\x20-\x7e]+$/;
/** What pasting brings at the ends of a text: spaces, line ends, and marks that nobody sees. */
const PASTED = /^[\s\u200b-\u200f\u2060\ufeff]+|[\s\u200b-\u200f\u2060\ufeff]+$/g;

const changes = signal(0);

/**
 * What the caller gave to be known by: a key, or a name and a password as the header has them (`Basic …`). It is sent
 * with every request of this tab, and gone when the tab is closed, or when the server refuses it.
 */
export const apiKey = {
  get: (): string | null => {
    void changes.value;
    const key = sessionStorage.getItem(KEY);
    if (key === null || SENDABLE.test(key)) return key;
    // With such a key no request could be made at all.
    sessionStorage.removeItem(KEY);
    return null;
  },
  set: (key: string | null): void => {
    if (key === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, key);
    changes.value++;
  },
};

/** Whether this tab has something to be known by. */
export const isKeyHeld = computed(() => apiKey.get() !== null);

/** What stands before a key in a header. */
const BEFORE = /^(?:(?:(?:x-)?authorization|x-api-key)\s*[:=]\s*|bearer\s+)/i;
const QUOTED = /^(["'`])(.*)\1$/s;

/** A key as it was meant, without what pasting brings: also the header or the quotes that were copied with it. */
export function pastedKey(text: string): string {
  let key = text.replace(PASTED, "").replace(/\s*[\r\n]+\s*/g, "");
  for (let before = ""; before !== key; ) {
    before = key;
    key = key.replace(BEFORE, "").replace(QUOTED, "$2").replace(PASTED, "");
  }
  return key;
}

/** Why a text can't be a key; `null` for one that can. */
export function keyFault(key: string): string | null {
  const wrong = [...key].findIndex((character) => !SENDABLE.test(character));
  if (wrong === -1) return null;
  const code = ([...key][wrong]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const hint = `Character ${wrong + 1} of this one is another (U+${code}): was it copied whole, and nothing else?`;
  return `A key or token has English letters, digits and signs only. ${hint}`;
}

/** A name and a password as a key of this tab, in UTF-8. */
export function basicKey(name: string, password: string): string {
  return BASIC + btoa(binary(`${name}:${password}`));
}

/** The name in a key that is made of a name and a password; `null` for others. */
export function nameOfKey(key: string | null): string | null {
  if (!key?.startsWith(BASIC)) return null;
  try {
    const bytes = Uint8Array.from(atob(key.slice(BASIC.length)), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes).replace(/:.*$/s, "");
  } catch {
    return null;
  }
}

/** The header `Authorization` for a key. */
export function authorizationOf(key: string): string {
  return nameOfKey(key) === null ? `Bearer ${key}` : key;
}

/** A text as bytes of UTF-8, each as the character of its number: what a header of a browser takes. */
function binary(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** A text as the value of a header, in UTF-8 as other programs send it; `null` where no header can carry it. */
export function headerText(value: string): string | null {
  // Line ends at the ends are trimmed by the browser as well.
  const text = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) return null;
  return /[^\x20-\x7e\t]/.test(text) ? binary(text) : text;
}
