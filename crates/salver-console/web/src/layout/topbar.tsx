import { Icon } from "../icon";
import { pageUrl } from "../router";
import { hasWays } from "../session/caller";
import { canLogOut, logOut, loggingOut, mayLogIn, requestLogin, who } from "../session/session";
import { nextTheme, theme } from "./theme";

const THEMES = { system: "system", light: "sun", dark: "moon" } as const;

/** The bar at the top: the name, the theme, and who is logged in. */
export function Topbar({ open, onToggle }: { open: boolean; onToggle: () => void }) {
  return (
    <header class="topbar">
      <button type="button" class="button icon-only menu-button" aria-label="Navigation" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? "close" : "menu"} />
      </button>
      <a class="brand" href={pageUrl()}>
        <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" class="brand-back" />
          <path d="M6 21h20M9 21a7 7 0 0 1 14 0M16 11v3" class="brand-line" />
        </svg>
        Salver
      </a>
      <span class="spring" />
      <button type="button" class="button quiet icon-only" aria-label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`} onClick={nextTheme}>
        <Icon name={THEMES[theme.value]} />
      </button>
      {who.value !== null && <bdi class="who">{who.value}</bdi>}
      {canLogOut.value ? (
        <button type="button" class="button quiet" disabled={loggingOut.value} onClick={() => void logOut()}>
          Log out
        </button>
      ) : (
        // Who is known by the connection may be somebody else by a log-in.
        (mayLogIn.value || hasWays.value) && (
          <button type="button" class="button quiet" onClick={() => requestLogin()}>
            Log in
          </button>
        )
      )}
    </header>
  );
}
