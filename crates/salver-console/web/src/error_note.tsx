import { ApiError, isKeyHalted } from "./api";
import { isRightMissing, logInMayHelp } from "./session/log_in_may_help";
import { isKnown, logOut, loginOpen, mayLogIn, requestLogin, session, who } from "./session/session";

/** How many characters of an address are shown. */
const LONGEST = 200;

/** An error where it happened: what went wrong, what to try, and a way to log in where that may help. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null;
  const api = error instanceof ApiError ? error : null;
  const caller = { hasUsers: session.value.hasUsers, isKnown: isKnown.value, mayLogIn: mayLogIn.value };
  const isHalted = api?.word === "key_not_tried" && isKeyHalted.value;
  const isHelped = api !== null && (isHalted || logInMayHelp(api, caller)) && !loginOpen.value;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div class="note error" role="alert">
      <p class="note-title">
        <bdi>{message}</bdi>
      </p>
      {api?.hint && (
        <p>
          <bdi>{api.hint}</bdi>
        </p>
      )}
      {api && isRightMissing(api, caller) && (
        <p>
          You are logged in <Who name={who.value} />, without the right to this.
        </p>
      )}
      {api && (
        <p class="note-fine">
          {api.status > 0 && `${api.status} `}
          <code>{api.word}</code>
          {api.asked !== null && (
            <>
              {" · "}
              <bdi class="note-asked">{api.asked.length > LONGEST ? `${api.asked.slice(0, LONGEST)}…` : api.asked}</bdi>
            </>
          )}
        </p>
      )}
      {(onRetry || isHelped || isHalted) && (
        <p class="row">
          {isHelped && (
            <button type="button" class="button small" onClick={() => requestLogin()}>
              Log in…
            </button>
          )}
          {isHalted && (
            <button type="button" class="button small" onClick={() => void logOut()}>
              Log out
            </button>
          )}
          {onRetry && (
            <button type="button" class="button small" onClick={onRetry}>
              Try again
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** An error in place of a whole screen. */
export function ErrorScreen(props: { error: unknown; onRetry?: () => void }) {
  return (
    <section class="screen">
      <ErrorNote {...props} />
    </section>
  );
}

/** The caller in a sentence: a key is what one logs in with. */
function Who({ name }: { name: string | null }) {
  return name?.startsWith("with ") ? (
    <bdi>{name}</bdi>
  ) : (
    <>
      as <bdi>{name}</bdi>
    </>
  );
}
