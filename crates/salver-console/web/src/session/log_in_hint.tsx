import { mayLogIn, requestLogin } from "./session";

/** Says where nothing is, or not what was looked for, that a log-in may show more; nothing where it can't. */
export function LogInHint() {
  if (!mayLogIn.value) return null;
  return (
    <p class="row">
      <span>You have not logged in. A log-in may show more.</span>
      <button type="button" class="button small" onClick={() => requestLogin()}>
        Log in…
      </button>
    </p>
  );
}
