import { computed, signal } from "@preact/signals";

/** What the index of the server says of who asks. */
export interface Told {
  /** Who the caller is: the method and the name, such as `basic:ann`. Absent for who is not known. */
  caller?: string | undefined;
  /** The methods by which callers can be known. Absent where nobody is asked who they are. */
  auth?: string[] | undefined;
}

/** The methods that a person can use on a page: a certificate belongs to the connection. */
const WAYS = ["api_key", "jwt", "basic", "user", "oidc"];

const told = signal<Told>({});
const closed = signal(false);

/** Who the caller is, as the server last said; `null` for who is not known. */
export const caller = computed(() => told.value.caller ?? null);

/** Whether there is a way to log in. */
export const hasWays = computed(() => closed.value || (told.value.auth ?? []).some((way) => WAYS.includes(way)));

/** Takes over what the index said. */
export function noteTold(next: Told): void {
  told.value = next;
  closed.value = false;
}

/** Takes over that the server shows the index only to who is known. */
export function noteClosed(): void {
  told.value = {};
  closed.value = true;
}

/** A caller in words: `basic:ann` is ann, and `api_key:team` who has the key of that name. */
export function callerName(identity: string): string {
  const [, method = "", name = ""] = /^([a-z_]+):(.+)$/s.exec(identity) ?? [];
  if (method === "api_key" || identity === "api_key") return name ? `with the key ${name}` : "with a key";
  // Of a token the issuer stands before the subject.
  if (method === "jwt") return name.replace(/^\S+ /, "");
  return name || identity;
}
