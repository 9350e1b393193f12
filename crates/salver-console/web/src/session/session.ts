import { signal } from "@preact/signals";
import { apiKey, onUnauthorized, send } from "../api";

/** Who the server takes the caller for. */
export interface Session {
  /** The name, `null` for a caller who has not logged in. */
  user: string | null;
  /** Whether the server has users who log in. */
  hasUsers: boolean;
}

/** The session, as the server last told it. */
export const session = signal<Session>({ user: null, hasUsers: false });

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

/** Asks the server who the caller is. */
export async function loadSession(): Promise<void> {
  try {
    const response = await fetch(new URL("api/me", document.baseURI), { headers: { Accept: "application/json" } });
    const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    const name = response.ok && body ? (body.username ?? body.user ?? body.name ?? body.sub) : null;
    session.value = { user: typeof name === "string" ? name : null, hasUsers: response.status !== 404 };
  } catch {
    session.value = { user: null, hasUsers: false };
  }
}

/** Logs in with a name and a password. Rejects with the error of the server. */
export async function logIn(username: string, password: string): Promise<void> {
  await send({
    method: "POST",
    path: "api/login",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  location.reload();
}

/** Sends a key with every request of this tab. */
export function useApiKey(key: string): void {
  apiKey.set(key);
  location.reload();
}

/** Ends the session and forgets the key. */
export async function logOut(): Promise<void> {
  apiKey.set(null);
  for (const path of ["api/logout", "auth/logout"]) await send({ method: "POST", path }).catch(() => undefined);
  location.reload();
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
