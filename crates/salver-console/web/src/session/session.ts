import { computed, signal } from "@preact/signals";
import { ApiError, answersDiffer, apiKey, basicKey, onUnauthorized, ownHeaders, send } from "../api";
import { lenient, object, optional, record, text } from "../shape";
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

/** Whether the caller is known: by a log-in, or by a key that the server knows. */
export const isKnown = computed(() => session.value.user !== null || (apiKey.get() !== null && !keyRefused.value));

/** Whether the caller is not known, and may be: then what is not there may be there after a log-in. */
export const mayLogIn = computed(() => !isKnown.value && (session.value.hasUsers || answersDiffer.value || keyRefused.value));

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

/** Logs in with a name and a password. Rejects with the error of the server. */
async function logIn(username: string, password: string): Promise<void> {
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

/** The ways to be known that a server has, beside a key. */
export interface Ways {
  /** At an identity provider. */
  provider: boolean;
  /** With a name and a password, for a session. */
  passwords: boolean;
  /** With a name and a password in each request. */
  basic: boolean;
}

/** Asks the server for its ways. */
export async function waysToLogIn(): Promise<Ways> {
  const { hasUsers } = session.peek();
  const [provider, passwords, basic] = await Promise.all([hasProvider(), hasUsers && hasPasswords(), takesBasic()]);
  return { provider, passwords, basic };
}

/** Logs in by one of the ways that take a name and a password. Rejects with the error of the server. */
export async function logInWithPassword(username: string, password: string, ways: Ways): Promise<void> {
  try {
    if (ways.passwords) return await logIn(username, password);
  } catch (error) {
    // The users of the settings are not those of the database.
    if (!ways.basic || !(error instanceof ApiError) || ![401, 403].includes(error.status)) throw error;
  }
  await logInBasic(username, password);
}

async function logInBasic(username: string, password: string): Promise<void> {
  const key = basicKey(username, password);
  apiKey.set(null);
  await send({ path: "", headers: { Authorization: key } }).then((response) => response.text());
  useApiKey(key);
}

/** Whether requests may bring a name and a password: who is refused is told so, and everybody else by the description. */
async function takesBasic(): Promise<boolean> {
  try {
    const response = await fetch(new URL("openapi.json", document.baseURI), { headers: ownHeaders() });
    if (response.status === 401) return isBasic(response.headers.get("www-authenticate"));
    return response.ok && hasBasicScheme(await response.json());
  } catch {
    return false;
  }
}

/** Whether a challenge is that of a name and a password; `XBasic` is the one for scripts, of which browsers know nothing. */
export function isBasic(challenge: string | null): boolean {
  return /(?:^|[\s,])X?Basic\b/i.test(challenge ?? "");
}

const SCHEMES = object({
  components: optional(object({ securitySchemes: optional(record(object({ type: lenient(text), scheme: lenient(text) }))) })),
});

/** Whether a description in OpenAPI has the scheme of names and passwords. */
export function hasBasicScheme(description: unknown): boolean {
  const schemes = SCHEMES(description, "", [])?.components?.securitySchemes ?? {};
  return Object.values(schemes).some(({ type, scheme }) => type === "http" && scheme?.toLowerCase() === "basic");
}

/** Whether users log in with a name and a password: there is a path for that then, which takes no GET. */
async function hasPasswords(): Promise<boolean> {
  try {
    return (await fetch(new URL("api/login", document.baseURI), { headers: ownHeaders() })).status === 405;
  } catch {
    return false;
  }
}

/** Whether an identity provider is set up: its log-in answers with a redirect. */
async function hasProvider(): Promise<boolean> {
  try {
    const response = await fetch(new URL("auth/login", document.baseURI), { headers: ownHeaders(), redirect: "manual" });
    return response.type === "opaqueredirect";
  } catch {
    return false;
  }
}
