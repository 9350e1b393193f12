import { signal } from "@preact/signals";
import { apiKey, onUnauthorized, send } from "../api";
import { loseUnsaved, mayLeave } from "../unsaved";

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

/** Whether the server does not know the key that this tab sends. */
export const keyRefused = signal(false);

/** Opens the dialog for logging in. */
export function requestLogin(): void {
  loginOpen.value = true;
}

onUnauthorized.handler = () => {
  keyRefused.value = apiKey.get() !== null;
  loginOpen.value = true;
};

/** Asks the server who the caller is; `null` where it does not say. */
export async function askSession(): Promise<Session | null> {
  try {
    const response = await fetch(new URL("api/me", document.baseURI), { headers: { Accept: "application/json" } });
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

/** Logs in with a name and a password. Rejects with the error of the server. */
export async function logIn(username: string, password: string): Promise<void> {
  await send({
    method: "POST",
    path: "api/login",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  forgetGraphiql();
  location.reload();
}

/** Sends a key with every request of this tab. */
export function useApiKey(key: string): void {
  apiKey.set(key);
  location.reload();
}

/** Ends the session and forgets the key, and what was kept with it. The address may tell what was asked, so it is left. */
export async function logOut(): Promise<void> {
  if (!mayLeave()) return;
  loseUnsaved();
  sessionStorage.clear();
  forgetGraphiql();
  for (const path of ["api/logout", "auth/logout"]) await send({ method: "POST", path }).catch(() => undefined);
  location.replace(document.baseURI);
}

/** GraphiQL, which is a page of its own, keeps its documents and their history without asking whose they are. */
function forgetGraphiql(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith("graphiql:")) localStorage.removeItem(key);
}

/** Whether users log in with a name and a password: there is a path for that then, which takes no GET. */
export async function hasPasswords(): Promise<boolean> {
  try {
    return (await fetch(new URL("api/login", document.baseURI), { headers: { Accept: "application/json" } })).status === 405;
  } catch {
    return false;
  }
}

/** Whether an identity provider is set up: its log-in answers with a redirect. */
export async function hasProvider(): Promise<boolean> {
  try {
    const response = await fetch(new URL("auth/login", document.baseURI), { redirect: "manual" });
    return response.type === "opaqueredirect";
  } catch {
    return false;
  }
}
