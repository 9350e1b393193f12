import { computed, signal } from "@preact/signals";
import { ApiError, onUnauthorized, ownHeaders, send, sendAs, textOf } from "../api";
import { apiKey, isKeyHeld, nameOfKey } from "../credentials";
import { loseUnsaved, mayLeave } from "../unsaved";
import { caller, callerName, hasWays } from "./caller";

/** Who the server takes the caller for. */
export interface Session {
  /** The name, `null` for a caller who has not logged in. */
  user: string | null;
  /** What tells the user from all others, also from those of the same name; `null` for a caller who has not logged in. */
  identity: string | null;
  /** Whether the server has users who log in. */
  hasUsers: boolean;
}

const NOBODY: Session = { user: null, identity: null, hasUsers: false };

/** The session, as the server last told it. */
export const session = signal<Session>(NOBODY);

/** Whether it is known who the caller is, or that nobody logs in here. */
export const sessionKnown = signal(false);

/** Whether the dialog for logging in is open. */
export const loginOpen = signal(false);

/** What the server refused of what this tab held, which is not held any more. */
export const keyRefused = signal<"key" | "password" | null>(null);

/** Whether the caller is known: by a log-in, by a key that the server knows, or by the connection. */
export const isKnown = computed(() => session.value.user !== null || caller.value !== null || isKeyHeld.value);

/** Whether the caller is not known, and may be: then what is not there may be there after a log-in. */
export const mayLogIn = computed(() => !isKnown.value && (session.value.hasUsers || hasWays.value || keyRefused.value !== null));

/** Whether there is something that a log-out ends. */
export const canLogOut = computed(() => session.value.user !== null || isKeyHeld.value);

/** Who the caller is, in words; `null` for who is not known. */
export const who = computed(() => {
  const told = caller.value === null ? null : callerName(caller.value);
  // Of what a request has, a key counts before a session.
  if (isKeyHeld.value) return told ?? nameOfKey(apiKey.get()) ?? "with a key";
  return session.value.user ?? told;
});

/** Opens the dialog for logging in. */
export function requestLogin(): void {
  loginOpen.value = true;
}

/**
 * A refusal is one of the caller, or of a function that asks for something of its own. The index tells: what it refuses,
 * no other page would take, so it is not kept.
 */
onUnauthorized.handler = (path) => {
  if (apiKey.get() === null) loginOpen.value = true;
  else if (path === "") forgetRefused();
  else checking ??= checkKey().finally(() => (checking = null));
};

let checking: Promise<void> | null = null;

async function checkKey(): Promise<void> {
  // Where the index refuses the key, it is there that this ends.
  await send({ path: "" }).then(
    (response) => response.text(),
    () => undefined,
  );
}

function forgetRefused(): void {
  const key = apiKey.get();
  if (key === null) return;
  apiKey.set(null);
  keyRefused.value = nameOfKey(key) === null ? "key" : "password";
  loginOpen.value = true;
}

/** Asks the server who the caller is; `null` where it does not say. */
export async function askSession(): Promise<Session | null> {
  try {
    const response = await fetch(new URL("api/me", document.baseURI), { headers: ownHeaders() });
    if (response.status >= 500 || response.status === 429) return null;
    const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    return response.ok && body ? { ...userOf(body), hasUsers: true } : { ...NOBODY, hasUsers: response.status !== 404 };
  } catch {
    return null;
  }
}

/** The user of an answer: of an account its row, of an identity provider the claims. */
export function userOf(body: Record<string, unknown>): { user: string | null; identity: string | null } {
  const name = body.username ?? body.user ?? body.name ?? body.sub;
  const user = typeof name === "string" ? name : null;
  const identity = typeof body.sub === "string" ? `${typeof body.iss === "string" ? `${body.iss} ` : ""}${body.sub}` : user;
  return { user, identity };
}

/** Takes over who the caller is. */
export async function loadSession(): Promise<void> {
  session.value = (await askSession()) ?? NOBODY;
  sessionKnown.value = true;
}

/** Nobody logs in at this server. */
export function loadNoSession(): void {
  sessionKnown.value = true;
}

/** Logs in with a name and a password for a session. Rejects with the error of the server. */
export async function beginSession(username: string, password: string, signal?: AbortSignal): Promise<void> {
  const body = JSON.stringify({ username, password });
  await sendAs(null, { method: "POST", path: "api/login", headers: { "Content-Type": "application/json" }, body }, { signal, isApart: true });
  signal?.throwIfAborted();
  forgetGraphiql();
}

/** Ends a session that a log-in brought though it was cancelled. */
export async function endCancelled(): Promise<void> {
  const now = await askSession();
  if (now !== null && now.identity !== null && now.identity !== session.peek().identity) await endSession().catch(() => undefined);
}

/** Why the last log-out failed, after which the user is still logged in; `null` where none did. */
export const logOutFault = signal<unknown>(null);

/** Whether a log-out is under way. */
export const loggingOut = signal(false);

/**
 * Ends the session and forgets the key, and what was kept with it. The address may tell what was asked, so it is left.
 * Where the session can't be ended, everything stays as it is, and `logOutFault` says why.
 */
export async function logOut(): Promise<void> {
  if (loggingOut.peek() || !mayLeave()) return;
  loggingOut.value = true;
  logOutFault.value = null;
  try {
    if (session.peek().user !== null) await endSession();
  } catch (error) {
    logOutFault.value = error;
    return;
  } finally {
    loggingOut.value = false;
  }
  loseUnsaved();
  apiKey.set(null);
  sessionStorage.clear();
  forgetGraphiql();
  location.replace(document.baseURI);
}

/** Statuses of a server that has no such way to log out, or no such session any more. */
const NOTHING_TO_END = [401, 404, 405];

/** Ends the session, of an account or of an identity provider. Rejects where it is not known to have ended. */
async function endSession(): Promise<void> {
  let refusal: unknown = null;
  let isEnded = false;
  for (const path of ["api/logout", "auth/logout"]) {
    try {
      // Without the key of the tab, which is somebody else. The provider may be where it leads to.
      const response = await sendAs(null, { method: "POST", path }, { redirect: "manual", isApart: true });
      if (response.type !== "opaqueredirect") await textOf(response);
      isEnded = true;
    } catch (error) {
      if (!(error instanceof ApiError) || !NOTHING_TO_END.includes(error.status)) throw error;
      if (error.status === 401) isEnded = true;
      refusal = error;
    }
  }
  if (!isEnded) throw refusal;
}

/** GraphiQL, which is a page of its own, keeps its documents and their history without asking whose they are. */
function forgetGraphiql(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith("graphiql:")) localStorage.removeItem(key);
}
