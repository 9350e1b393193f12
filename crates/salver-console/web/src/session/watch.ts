import { effect } from "@preact/signals";
import { loseUnsaved } from "../unsaved";
import { askSession, session, sessionKnown } from "./session";

/**
 * Watches for a log-in or log-out in another tab, after which this one still shows what the user before may see: it
 * drops that, and loads anew. Other tabs tell who they have found; one that slept meanwhile asks when it is seen again.
 */
export function watchSession(): void {
  const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(`salver.session ${document.baseURI}`);
  effect(() => {
    if (sessionKnown.value && session.value.hasUsers) channel?.postMessage(session.value.identity);
  });
  // A message says only that there is something to ask: it may be older than what is known here.
  channel?.addEventListener("message", ({ data }) => data !== session.peek().identity && void check());
  document.addEventListener("visibilitychange", () => !document.hidden && void check());
  window.addEventListener("pageshow", ({ persisted }) => persisted && void check());
}

async function check(): Promise<void> {
  if (!sessionKnown.peek() || !session.peek().hasUsers) return;
  const now = await askSession();
  const before = session.peek().identity;
  if (now === null || now.identity === before) return;
  loseUnsaved();
  // What the user before asked may stand in the address; who logs in goes on where they are.
  if (before !== null && location.search) location.replace(location.pathname);
  else location.reload();
}
