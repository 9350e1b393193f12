import { ApiError, noteKnownKey, ownHeaders, readAnswerAs, send } from "../api";
import { INDEX } from "../catalog_shapes";
import { apiKey, authorizationOf, basicKey, keyFault, pastedKey } from "../credentials";
import { beginSession } from "./session";

/** The ways to be known that a server has. */
export interface Ways {
  /** At an identity provider. */
  provider: boolean;
  /** With a name and a password, for a session: users of a database. */
  passwords: boolean;
  /** With a name and a password in each request: users of the settings. */
  basic: boolean;
  /** With a key or a token. */
  keys: boolean;
  /** Whether nothing is shown to who is not known. */
  closed: boolean;
}

/** Asks the server for its ways, as who is not known: it says so in its index, or in how it refuses that. */
export async function waysToLogIn(): Promise<Ways> {
  const response = await fetch(new URL("", document.baseURI), { headers: ownHeaders() });
  if (response.status !== 401) return waysOf((await readAnswerAs(response, INDEX)).value.auth ?? []);
  const challenge = response.headers.get("www-authenticate");
  await response.text();
  const [provider, passwords] = await Promise.all([hasProvider(), hasPasswords()]);
  return { provider, passwords, basic: isBasic(challenge), keys: /(?:^|[\s,])Bearer\b/i.test(challenge ?? ""), closed: true };
}

/** The ways by the words of the index. */
export function waysOf(methods: string[]): Ways {
  const has = (...names: string[]) => methods.some((method) => names.includes(method));
  return { provider: has("oidc"), passwords: has("user"), basic: has("basic"), keys: has("api_key", "jwt"), closed: false };
}

/** Whether a challenge is that of a name and a password; `XBasic` is the one for scripts, of which browsers know nothing. */
export function isBasic(challenge: string | null): boolean {
  return /(?:^|[\s,])X?Basic\b/i.test(challenge ?? "");
}

/** Whether users log in with a name and a password: there is a path for that then, which takes no GET. */
async function hasPasswords(): Promise<boolean> {
  return (await fetch(new URL("api/login", document.baseURI), { headers: ownHeaders() })).status === 405;
}

/** Whether an identity provider is set up: its log-in answers with a redirect. */
async function hasProvider(): Promise<boolean> {
  const response = await fetch(new URL("auth/login", document.baseURI), { headers: ownHeaders(), redirect: "manual" });
  return response.type === "opaqueredirect";
}

/** What a person filled in. */
export interface Filled {
  username: string;
  password: string;
  key: string;
  /** Whose user it is, where there are users of both. */
  of: "passwords" | "basic";
}

/**
 * Logs in by the one way that fits, with one attempt: the server counts those that fail. Nothing that it refuses is
 * kept, nor anything once it was cancelled by the signal. Rejects with what to tell.
 */
export async function logIn({ username, password, key, of }: Filled, ways: Ways, signal?: AbortSignal): Promise<void> {
  const isNamed = username !== "" || password !== "";
  if (isNamed && key.trim() !== "") throw new Error("Fill in either a name and a password, or a key: only one of them can be used.");
  if (!isNamed) return logInWithKey(key, signal);
  if (username === "") throw new Error("Fill in the name, too.");
  if (ways.passwords && (!ways.basic || of === "passwords")) {
    await beginSession(username, password, signal).catch((error: unknown) => {
      throw refusal(error, "password", ways.basic ? "If it is a user of the server's settings, choose that, and try again." : null);
    });
    // The key of a tab would count before the session.
    return apiKey.set(null);
  }
  if (username.includes(":")) throw new Error("A name can't have a colon here.");
  const otherwise = ways.passwords ? "If it is a user of the database, choose that, and try again." : null;
  await prove(basicKey(username, password), signal).catch((error: unknown) => {
    throw refusal(error, "password", otherwise);
  });
}

async function logInWithKey(text: string, signal?: AbortSignal): Promise<void> {
  const key = pastedKey(text);
  if (key === "") throw new Error("Fill in what you were given.");
  const fault = keyFault(key);
  if (fault !== null) throw new Error(fault);
  await prove(key, signal).catch((error: unknown) => {
    throw refusal(error, "key", null);
  });
}

/** Keeps a key that the server knows: a server that takes none leaves it unread, and answers all the same. */
async function prove(key: string, signal?: AbortSignal): Promise<void> {
  const { value } = await readAnswerAs(await send({ path: "", headers: { Authorization: authorizationOf(key) } }, signal), INDEX);
  signal?.throwIfAborted();
  if (value.caller === undefined) throw new ApiError(401, "authentication_failed", "", null, null);
  noteKnownKey(key);
  apiKey.set(key);
}

const UNKNOWN = { key: "The server does not know the key that was given.", password: "The server does not know this name with this password." };

function refusal(error: unknown, what: keyof typeof UNKNOWN, otherwise: string | null): unknown {
  if (!(error instanceof ApiError) || ![401, 403].includes(error.status)) return error;
  return new Error(otherwise === null ? UNKNOWN[what] : `${UNKNOWN[what]} ${otherwise}`);
}

/** What is told of something that was held and is refused now. */
export const NO_LONGER_KNOWN = {
  key: "The server does not know the key of this tab any more.",
  password: "The server does not know the name and the password of this tab any more.",
};
