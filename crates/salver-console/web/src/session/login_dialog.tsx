import { useEffect, useRef, useState } from "preact/hooks";
import { isAborted } from "../api";
import { loadCatalog } from "../catalog";
import { ErrorNote } from "../error_note";
import { hasUnsaved } from "../unsaved";
import { caller } from "./caller";
import { endCancelled, keyRefused, loadSession, loginOpen, session } from "./session";
import { type Filled, NO_LONGER_KNOWN, type Ways, logIn, waysToLogIn } from "./ways";

const KEPT = "salver.log_in_of";

/** What a cancelled log-in brought all the same ends before the next one begins. */
let ending: Promise<void> = Promise.resolve();

/** The dialog for logging in: at the provider, with a name and a password, or with a key, as the server takes them. */
export function LoginDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [ways, setWays] = useState<Ways | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const attempt = useRef<AbortController | null>(null);
  const open = loginOpen.value;

  const ask = () => {
    setError(null);
    waysToLogIn().then(setWays, setError);
  };
  useEffect(() => {
    if (!open) return dialog.current?.close();
    if (!dialog.current?.open) dialog.current?.showModal();
    ask();
  }, [open]);

  // When the dialog opens, there is no field yet.
  useEffect(() => {
    if (open && ways) dialog.current?.querySelector("input")?.focus();
  }, [open, ways !== null]);

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!ways || busy) return;
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "");
    const of: Filled["of"] = text("of") === "basic" ? "basic" : "passwords";
    const own = new AbortController();
    attempt.current = own;
    setBusy(true);
    setError(null);
    try {
      await ending;
      await logIn({ username: text("username"), password: text("password"), key: text("key"), of }, ways, own.signal);
      // Once it is cancelled, nothing changes any more.
      if (attempt.current !== own) return;
      if (ways.passwords && ways.basic && text("username")) keepChoice(of);
      attempt.current = null;
      await goOn();
      setBusy(false);
    } catch (failed) {
      if (attempt.current === own && !isAborted(failed)) setError(failed);
    } finally {
      if (attempt.current === own) {
        attempt.current = null;
        setBusy(false);
      }
    }
  };
  const close = () => {
    const cancelled = attempt.current;
    attempt.current = null;
    cancelled?.abort();
    setBusy(false);
    loginOpen.value = false;
    // What was asked with the refused key is there for everybody, or not: it is asked again.
    const isAnew = keyRefused.value !== null && ways !== null && !ways.closed;
    keyRefused.value = null;
    setError(null);
    if (cancelled) ending = endCancelled();
    void ending.then(() => isAnew && location.reload());
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="login-title" onClose={() => open && close()}>
      <h2 id="login-title">Log in</h2>
      {ways?.provider && (
        <p>
          <a class="button primary" target="_self" href={providerUrl()}>
            Log in at your provider
          </a>
        </p>
      )}
      <form onSubmit={submit}>
        {ways === null && error === null && <p class="loading">Loading…</p>}
        {ways && <Fields ways={ways} />}
        {keyRefused.value !== null && error === null && <p class="note error">{NO_LONGER_KNOWN[keyRefused.value]}</p>}
        <ErrorNote error={error} onRetry={ways === null ? ask : undefined} />
        <div class="row end">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          {ways && (ways.passwords || ways.basic || ways.keys) && (
            <button type="submit" class="button primary" disabled={busy}>
              Log in
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/**
 * Shows what is there for who has just logged in. Where something is typed and not saved, as by who was logged out
 * meanwhile, the page stays, unless it is another user's.
 */
async function goOn(): Promise<void> {
  if (!hasUnsaved()) return location.reload();
  const [user, told] = [session.peek().identity, caller.peek()];
  const isOther = (before: string | null, now: string | null) => before !== null && now !== null && before !== now;
  await Promise.all([loadSession(), loadCatalog()]);
  if (isOther(user, session.peek().identity) || isOther(told, caller.peek())) return location.reload();
  keyRefused.value = null;
  loginOpen.value = false;
}

/** The fields for what the server takes. */
function Fields({ ways: { provider, passwords, basic, keys } }: { ways: Ways }) {
  const isNamed = passwords || basic;
  if (!isNamed && !keys && provider) return null;
  if (!isNamed && !keys) return <p>Nobody logs in here with a name or a key. Callers may be known by a certificate, or by what stands before the server.</p>;
  return (
    <>
      {isNamed && (
        <>
          <label class="field">
            Name
            <input name="username" autocomplete="username" />
          </label>
          <label class="field">
            Password
            <input name="password" type="password" autocomplete="current-password" />
            {basic && !passwords && <small>Both are kept until this tab is closed.</small>}
          </label>
        </>
      )}
      {passwords && basic && (
        <label class="field">
          A user of
          <select name="of">
            <option value="passwords">the database</option>
            <option value="basic" selected={keptChoice() === "basic"}>
              the server's settings
            </option>
          </select>
          <small>As whoever runs the server has told you.</small>
        </label>
      )}
      {keys && (
        <label class="field">
          {isNamed ? "Or a key or token" : "Key or token"}
          <input name="key" type="password" autocomplete="off" aria-invalid={keyRefused.value === "key"} />
          <small>{!isNamed && "This server knows its callers by a key, as whoever runs it gives out. "}Kept until this tab is closed.</small>
        </label>
      )}
    </>
  );
}

/** Where the log-in at the provider begins, which leads back to what is shown. */
function providerUrl(): string {
  const here = location.pathname + location.search;
  return `${new URL("auth/login", document.baseURI).href}?to=${encodeURIComponent(here)}`;
}

/** Where there are users of both, the way that was right before is the first again. */
function keptChoice(): Filled["of"] {
  try {
    return localStorage.getItem(KEPT) === "basic" ? "basic" : "passwords";
  } catch {
    return "passwords";
  }
}

function keepChoice(of: Filled["of"]): void {
  try {
    localStorage.setItem(KEPT, of);
  } catch {
    // A browser may forbid storage: then it is chosen anew.
  }
}
