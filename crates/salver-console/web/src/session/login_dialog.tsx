import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { type Ways, keyRefused, logInWithPassword, loginOpen, useApiKey, waysToLogIn } from "./session";

/** The dialog for logging in: at the provider, with a name and a password, or with a key. */
export function LoginDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [ways, setWays] = useState<Ways | null>(null);
  const [error, setError] = useState<unknown>(null);
  const open = loginOpen.value;

  useEffect(() => {
    if (!open) return dialog.current?.close();
    if (!dialog.current?.open) dialog.current?.showModal();
    void waysToLogIn().then(setWays);
  }, [open]);

  const takesPasswords = ways !== null && (ways.passwords || ways.basic);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "");
    try {
      if (text("key")) useApiKey(text("key"));
      else if (!ways || !takesPasswords) setError(new Error("Give a key or a token: nobody logs in with a name here."));
      else await logInWithPassword(text("username"), text("password"), ways);
    } catch (failed) {
      setError(failed);
    }
  };
  const here = location.pathname + location.search;
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="login-title" onClose={() => (loginOpen.value = false)}>
      <h2 id="login-title">Log in</h2>
      {ways?.provider && (
        <p>
          <a class="button primary" target="_self" href={`${new URL("auth/login", document.baseURI).href}?to=${encodeURIComponent(here)}`}>
            Log in at your provider
          </a>
        </p>
      )}
      <form onSubmit={submit}>
        {takesPasswords && (
          <>
            <label class="field">
              Name
              <input name="username" autocomplete="username" />
            </label>
            <label class="field">
              Password
              <input name="password" type="password" autocomplete="current-password" />
            </label>
          </>
        )}
        <label class="field">
          {takesPasswords ? "Or a key or token" : "Key or token"}
          <input name="key" type="password" autocomplete="off" aria-invalid={keyRefused.value} />
          <small>{ways !== null && !takesPasswords && "This server knows its callers by a key, as whoever runs it gives out. "}Kept until this tab is closed{ways?.basic && !ways.passwords && ", as are the name and the password"}.</small>
        </label>
        {keyRefused.value && <p class="note error">The server does not know the key that was given.</p>}
        <ErrorNote error={error} />
        <div class="row end">
          <button type="button" class="button" onClick={() => (loginOpen.value = false)}>
            Cancel
          </button>
          <button type="submit" class="button primary">
            Log in
          </button>
        </div>
      </form>
    </dialog>
  );
}
